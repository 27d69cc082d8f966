import Configuration
import LifecycleCore
import Processes
import Systemd

/// One launch of an app, and the operation on its processes.
final class RunningApp {
    enum Operation {
        case none
        case stop(since: UInt64, isReported: Bool)
        case kill
        /// Waiting for the last process of an adopted tree of which no event tells.
        case awaitEnd
    }

    private enum Knowledge {
        /// The restoration waits until something needs the processes, or the loop has time.
        case seen(SeenApp)
        case complete(ProcessTree)
    }

    let index: AppIndex
    private var knowledge: Knowledge
    let exitPolicy: Manifest.ExitPolicy
    let launched: Instant?
    var operation = Operation.none
    var execWatch: IOSource?
    /// Set while the others wait for the ends of processes that were asked to end before them.
    var askedWatches: [EndWatch] = []
    /// Set while the app is suspended and the kernel does not report that another program continues it.
    private(set) var processorWatch: ProcessorWatch?
    private var switchWatches: [IOSource] = []
    /// A Boolean value that indicates whether the core knows that the main process has ended.
    var hasReportedExit = false
    var isAskedToEnd = false
    /// A Boolean value that indicates whether the kernel does not report changes of the control groups, for want of a watch.
    var lacksChanges = false
    /// A Boolean value that indicates whether the kernel does not report the end of a main process that is no child.
    var lacksMainEnd = false

    /// The signals for which the app was continued. What it blocks may wait further, and is nothing new.
    private var knownSignals: PendingSignals = []

    private let loop: EventLoop
    private unowned let processes: AppProcesses
    private var timer: TimerSource?
    private var delay: UInt64 = 0
    private var selfStopTimer: TimerSource?
    private var selfStopDeadline: UInt64 = 0
    /// The number of checks of a resumed tree so far.
    private var selfStopChecks: UInt8 = 0
    private var selfStopAttempts: UInt8 = 0

    /// The pauses between checks of a resumed tree, in microseconds. A program takes milliseconds to stop itself because its
    /// child was stopped.
    private static let selfStopDelays: [UInt64] = [10_000, 50_000, 200_000, 700_000]
    /// The same for a program without children, in less time than a user takes to stop it by hand.
    private static let selfStopDelaysWithoutChildren: [UInt64] = [10_000, 20_000, 30_000, 30_000]
    private static let selfStopLimit: UInt8 = 4
    private static let checkDelays: ClosedRange<UInt64> = 500...1_000_000

    /// - Parameter processes: Checks the operation again.
    init(
        _ index: AppIndex, _ tree: ProcessTree, exitPolicy: Manifest.ExitPolicy, launched: Instant?, loop: EventLoop,
        processes: AppProcesses
    ) {
        self.index = index
        knowledge = .complete(tree)
        self.exitPolicy = exitPolicy
        self.launched = launched
        self.loop = loop
        self.processes = processes
    }

    /// Creates an app of the previous daemon that has been seen.
    ///
    /// - Parameter processes: Restores the processes, when they are first needed, and checks the operation again.
    init(_ index: AppIndex, _ seen: SeenApp, loop: EventLoop, processes: AppProcesses) {
        self.index = index
        knowledge = .seen(seen)
        exitPolicy = seen.launch.exitPolicy
        launched = seen.launch.launched
        isAskedToEnd = seen.launch.isAskedToEnd
        hasReportedExit = seen.launch.hasReportedExit
        self.loop = loop
        self.processes = processes
    }

    /// Returns the processes. Those of the previous daemon are restored at the first use: their descriptors are opened and watched.
    func restoredTree() -> ProcessTree {
        switch knowledge {
        case .complete(let tree): return tree
        case .seen(let seen):
            let tree = processes.restore(seen, of: self)
            knowledge = .complete(tree)
            return tree
        }
    }

    /// The app as the previous daemon has left it; nil once the processes are restored.
    var seen: SeenApp? { if case .seen(let seen) = knowledge { seen } else { nil } }

    /// The main process, running or not.
    var main: ProcessIdentity {
        switch knowledge {
        case .seen(let seen): seen.launch.tree.main
        case .complete(let tree): tree.main
        }
    }
    var token: LaunchToken {
        switch knowledge {
        case .seen(let seen): seen.launch.tree.token
        case .complete(let tree): tree.token
        }
    }
    /// True until the main process is seen to end.
    var isMainRunning: Bool {
        switch knowledge {
        case .seen: true
        case .complete(let tree): tree.exitStatus == nil
        }
    }
    /// The changes that were made to the resources of the processes; nil for none.
    var resources: ResourceRecord? {
        switch knowledge {
        case .seen(let seen): seen.resources
        case .complete(let tree): tree.resources
        }
    }

    /// Restores the record of the changes that the previous daemon has made to the resources of the processes.
    func restoreResources(_ record: ResourceRecord) {
        switch knowledge {
        case .seen(let seen): seen.resources = record
        case .complete(let tree): tree.restore(record)
        }
    }

    /// Returns the record for the next daemon, of all that is known once the processes are restored.
    func record() -> LaunchRecord {
        LaunchRecord(
            tree: restoredTree().saved, exitPolicy: exitPolicy, launched: launched, isAskedToEnd: isAskedToEnd,
            hasReportedExit: hasReportedExit)
    }

    // MARK: Operations

    /// True while no operation on the processes is pending.
    var isAtRest: Bool { if case .none = operation { true } else { false } }

    func begin(_ operation: Operation) {
        self.operation = operation
        endProcessorWatch()
        selfStopTimer?.disarm()
        selfStopDeadline = 0
        timer = nil
        delay = 0
    }

    func endOperation() {
        begin(.none)
        // No event tells of the last process of an adopted tree without a control group whose main process has ended.
        let tree = restoredTree()
        guard !tree.isReported, lacksChanges || lacksMainEnd || !tree.tellsWhenEmptied,
            lacksMainEnd || tree.mainDescriptor == nil || tree.exitStatus != nil
        else { return }
        begin(.awaitEnd)
        scheduleCheck()
    }

    /// Schedules a check of the operation, with growing pauses: the kernel does not report that a grandchild has stopped
    /// or ended.
    func scheduleCheck() {
        delay = min(max(Self.checkDelays.lowerBound, delay * 2), Self.checkDelays.upperBound)
        if timer == nil {
            timer = try? loop.timer { [weak self] in if let self { processes.continueOperation(of: self) } }
        }
        timer?.arm(atMicroseconds: loop.freshNow + delay)
    }

    /// Returns why processes have not stopped.
    func stopFailure(of pids: [ProcessIdentity]) -> StopFailure {
        let tree = restoredTree()
        let processes = tree.processes().filter { info in pids.contains { $0.pid == info.pid } }
        let foreign = processes.filter { tree.isForeign($0.pid) }
        return foreign.isEmpty ? .pending(processes) : .forbidden(foreign, ofOtherUser: tree.owner != nil)
    }

    /// Returns the cause why processes have not ended, and the remedy; nil if none is left.
    func describeFailedEnd() -> String? {
        let tree = restoredTree()
        let processes = tree.processes()
        let foreign = processes.filter { tree.isForeign($0.pid) }
        if !foreign.isEmpty { return "this daemon may not end \(foreign.names); end it as that user or as root" }
        guard !processes.isEmpty else { return nil }
        return "SIGKILL has not ended \(processes.names); a process in state D waits for a device or a server"
    }

    // MARK: Continued by others

    /// Watches the processes of a suspended app whose continuation the kernel does not report.
    ///
    /// A report has a source of its own: poll(2) takes it from its descriptor, so that an epoll instance within another loses it.
    ///
    /// - Parameter noticeRunning: Called once, when one of them has run. Timers send ``ProcessorWatch/signal`` instead.
    func watchProcessor(with reports: SwitchReports?, noticeRunning: @escaping (RunningApp) -> Void) {
        endProcessorWatch()
        let members = restoredTree().unnoticedMembers
        guard !members.isEmpty else { return }
        let watch = ProcessorWatch(of: members, reports: reports)
        processorWatch = watch
        switchWatches = watch.descriptors.compactMap { descriptor in
            try? loop.watch(descriptor: descriptor, events: .readable) { [weak self] _ in
                guard let self else { return }
                endProcessorWatch()
                noticeRunning(self)
            }
        }
    }

    private func endProcessorWatch() {
        for watch in switchWatches { watch.cancel() }
        switchWatches = []
        processorWatch = nil
    }

    // MARK: Signals from outside

    /// Notes the signals that wait for the processes; returns whether there is a new one.
    func noteSignals(_ signals: PendingSignals) -> Bool {
        defer { knownSignals.formUnion(signals) }
        return !signals.isSubset(of: knownSignals)
    }

    /// Forgets the signals that do not wait any more, when the app is stopped again: the next ones of their numbers are new.
    func forgetHandledSignals() {
        if !knownSignals.isEmpty { knownSignals.formIntersection(restoredTree().pendingSignals) }
    }

    // MARK: Programs that stop themselves

    private func selfStopDelays() -> [UInt64] {
        restoredTree().hasResumedParents ? Self.selfStopDelays : Self.selfStopDelaysWithoutChildren
    }

    /// Begins to resume again processes that stop themselves because the app or a child had been stopped.
    func watchSelfStops() {
        selfStopDeadline = loop.freshNow + selfStopDelays().reduce(10_000, +)
        (selfStopChecks, selfStopAttempts) = (0, 0)
        scheduleSelfStopCheck()
    }

    /// Resumes processes that have just stopped themselves, while they are watched.
    ///
    /// - Returns: Whether there were any.
    func resumeSelfStopped() -> Bool {
        guard loop.freshNow < selfStopDeadline, selfStopAttempts < Self.selfStopLimit,
            restoredTree().resumeSelfStopped()
        else {
            return false
        }
        selfStopAttempts += 1
        return true
    }

    /// Schedules a look at a main process that is no child: the kernel reports only that a child has stopped itself.
    private func scheduleSelfStopCheck() {
        guard restoredTree().mayStopItselfUnnoticed, selfStopChecks < selfStopDelays().count else { return }
        let delay = selfStopDelays()[Int(selfStopChecks)]
        selfStopChecks += 1
        let check = { [weak self] in
            guard let self else { return }
            _ = resumeSelfStopped()
            scheduleSelfStopCheck()
        }
        if selfStopTimer == nil { selfStopTimer = try? loop.timer(handler: check) }
        selfStopTimer?.arm(atMicroseconds: loop.freshNow + delay)
    }
}

/// A launch of the previous daemon. Its main process runs; the rest has not been checked yet.
final class SeenApp {
    let launch: LaunchRecord
    /// The changes that the previous daemon has made to the resources of the processes; nil for none.
    var resources: ResourceRecord?
    private var pidfd: Descriptor?

    /// - Parameter pidfd: The pidfd of the main process; nil if none was stored.
    init(_ launch: LaunchRecord, pidfd: consuming Descriptor?) {
        self.launch = launch
        self.pidfd = consume pidfd
    }

    /// The stored pidfd of the main process, for the next daemon.
    var pidfdNumber: Int32? { pidfd?.rawValue }

    /// Restores the tree. If nothing is left of it, it is empty and has an exit status.
    func restore(in table: ProcessTable) -> ProcessTree {
        let tree = table.restoreInAnyCase(launch.tree, pidfd: pidfd.take())
        if let resources { tree.restore(resources) }
        return tree
    }
}

/// Watches the end of a process that is not the main one.
final class EndWatch {
    private let pidfd: Descriptor
    private let source: IOSource

    /// - Parameters:
    ///   - pidfd: A descriptor of the process.
    ///   - handler: Called when the process has ended.
    init(
        _ pidfd: consuming Descriptor, loop: EventLoop, handler: @escaping () -> Void
    ) throws(SystemdError) {
        source = try loop.watch(descriptor: pidfd.rawValue, events: [.readable, .edgeTriggered]) { _ in handler() }
        self.pidfd = pidfd
    }

    isolated deinit { source.cancel() }
}
