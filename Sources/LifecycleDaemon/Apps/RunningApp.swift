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

    let index: AppIndex
    let tree: ProcessTree
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

    private let events: Events
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

    init(
        _ index: AppIndex, _ tree: ProcessTree, exitPolicy: Manifest.ExitPolicy, launched: Instant?, _ events: Events
    ) {
        self.index = index
        self.tree = tree
        self.exitPolicy = exitPolicy
        self.launched = launched
        self.events = events
        tree.owningApp = index.number
    }

    /// Creates an app of the previous daemon.
    convenience init(_ index: AppIndex, _ tree: ProcessTree, _ record: LaunchRecord, _ events: Events) {
        self.init(index, tree, exitPolicy: record.exitPolicy, launched: record.launched, events)
        isAskedToEnd = record.isAskedToEnd
        hasReportedExit = record.hasReportedExit
    }

    /// The main process; nil when it was seen to end.
    var runningMain: ProcessID? { tree.exitStatus == nil ? tree.main.pid : nil }

    /// Returns the record for the next daemon.
    func record() -> LaunchRecord {
        LaunchRecord(
            tree: tree.saved, exitPolicy: exitPolicy, launched: launched, isAskedToEnd: isAskedToEnd,
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
        if timer == nil { timer = try? events.timer(.checkDue(index)) }
        timer?.arm(afterMicroseconds: delay)
    }

    /// Returns why processes have not stopped.
    func stopFailure(of pids: [ProcessIdentity]) -> StopFailure {
        let processes = tree.processes().filter { info in pids.contains { $0.pid == info.pid } }
        let foreign = processes.filter { tree.isForeign($0.pid) }
        return foreign.isEmpty ? .pending(processes) : .forbidden(foreign, ofOtherUser: tree.owner != nil)
    }

    /// Returns the cause why processes have not ended, and the remedy; nil if none is left.
    func describeFailedEnd() -> String? {
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
    func watchProcessor(with reports: SwitchReports?) {
        endProcessorWatch()
        let members = tree.unnoticedMembers
        guard !members.isEmpty else { return }
        let watch = ProcessorWatch(of: members, reports: reports)
        processorWatch = watch
        let index = index
        switchWatches = watch.descriptors.compactMap { try? events.watch($0, for: .readable) { _ in .appRan(index) } }
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
        if !knownSignals.isEmpty { knownSignals.formIntersection(tree.pendingSignals) }
    }

    // MARK: Programs that stop themselves

    private func selfStopDelays() -> [UInt64] {
        tree.hasResumedParents ? Self.selfStopDelays : Self.selfStopDelaysWithoutChildren
    }

    /// Begins to resume again processes that stop themselves because the app or a child had been stopped.
    func watchSelfStops() {
        selfStopDeadline = events.loop.freshNow + selfStopDelays().reduce(10_000, +)
        (selfStopChecks, selfStopAttempts) = (0, 0)
        scheduleSelfStopCheck()
    }

    /// Resumes processes that have just stopped themselves, while they are watched.
    ///
    /// - Returns: Whether there were any.
    func resumeSelfStopped() -> Bool {
        guard events.loop.freshNow < selfStopDeadline, selfStopAttempts < Self.selfStopLimit, tree.resumeSelfStopped()
        else { return false }
        selfStopAttempts += 1
        return true
    }

    /// Schedules a look at a main process that is no child: the kernel reports only that a child has stopped itself.
    private func scheduleSelfStopCheck() {
        guard tree.mayStopItselfUnnoticed, selfStopChecks < selfStopDelays().count else { return }
        let delay = selfStopDelays()[Int(selfStopChecks)]
        selfStopChecks += 1
        if selfStopTimer == nil { selfStopTimer = try? events.timer(.selfStopCheckDue(index)) }
        selfStopTimer?.arm(afterMicroseconds: delay)
    }

    func checkSelfStops() {
        _ = resumeSelfStopped()
        scheduleSelfStopCheck()
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

    init(_ pidfd: consuming Descriptor, of app: AppIndex, _ events: Events) throws(SystemdError) {
        source = try events.watch(pidfd.rawValue, for: [.readable, .edgeTriggered]) { _ in .askedProcessEnded(app) }
        self.pidfd = pidfd
    }

    isolated deinit { source.cancel() }
}
