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
        case drain
    }

    let id: AppID
    let tree: ProcessTree
    let exitPolicy: Manifest.ExitPolicy
    let launched: Instant?
    var operation = Operation.none
    var execWatch: IOSource?
    var changeWatch: IOSource?
    var mainWatch: IOSource?
    /// Set while the app is suspended and the kernel does not report that another program continues it.
    private(set) var processorWatch: ProcessorWatch?
    /// A Boolean value that indicates whether the core knows that the main process has ended.
    var hasReportedExit = false
    var isAskedToEnd = false

    private let loop: EventLoop
    private let proceed: (RunningApp) -> Void
    private var timer: TimerSource?
    private var delay: UInt64 = 0
    private var mirrorTimer: TimerSource?
    private var mirrorDelays: ArraySlice<UInt64> = []
    private var mirrorDeadline: UInt64 = 0
    private var mirrorAttempts = 0

    /// The pauses between checks of a resumed tree, in microseconds. A program takes milliseconds to stop itself because its
    /// child was stopped.
    private static let mirrorDelays: [UInt64] = [10_000, 50_000, 200_000, 700_000]
    /// The same for a program without children, in less time than a user takes to stop it by hand.
    private static let mirrorDelaysWithoutChildren: [UInt64] = [10_000, 20_000, 30_000, 30_000]
    private static let mirrorLimit = 4
    private static let checkDelays: ClosedRange<UInt64> = 500...1_000_000

    /// - Parameter proceed: Called when the operation is to be checked again.
    init(
        _ id: AppID, _ tree: ProcessTree, exitPolicy: Manifest.ExitPolicy, launched: Instant?, loop: EventLoop,
        proceed: @escaping (RunningApp) -> Void
    ) {
        self.id = id
        self.tree = tree
        self.exitPolicy = exitPolicy
        self.launched = launched
        self.loop = loop
        self.proceed = proceed
    }

    var record: LaunchRecord {
        LaunchRecord(
            tree: tree.saved, exitPolicy: exitPolicy, launched: launched, isAskedToEnd: isAskedToEnd,
            hasReportedExit: hasReportedExit)
    }

    func cancelWatches() {
        for watch in [execWatch, changeWatch, mainWatch] { watch?.cancel() }
        (execWatch, changeWatch, mainWatch) = (nil, nil, nil)
    }

    // MARK: Operations

    func begin(_ operation: Operation) {
        self.operation = operation
        processorWatch = nil
        mirrorTimer = nil
        mirrorDeadline = 0
        timer = nil
        delay = 0
    }

    func endOperation() {
        begin(.none)
        // No event tells of the last process of an adopted tree without a control group whose main process has ended.
        guard !tree.isChild, !tree.tellsWhenEmptied, tree.mainDescriptor == nil || tree.exitStatus != nil else {
            return
        }
        begin(.drain)
        scheduleCheck()
    }

    /// Schedules a check of the operation, with growing pauses: the kernel does not report that a grandchild has stopped
    /// or ended.
    func scheduleCheck() {
        delay = min(max(Self.checkDelays.lowerBound, delay * 2), Self.checkDelays.upperBound)
        if timer == nil { timer = try? loop.timer { [weak self] in if let self { self.proceed(self) } } }
        timer?.arm(atMicroseconds: loop.freshNow + delay)
    }

    func describe(_ pids: [ProcessIdentity]) -> String {
        let processes = tree.processes().filter { info in pids.contains { $0.pid == info.pid } }
        let foreign = Dictionary(tree.foreignProcesses().map { ($0.info.pid, $0.userName) }) { first, _ in first }
        let words = processes.prefix(8).map { info in
            let user = foreign[info.pid].map { " of user \($0), which this daemon's user may not stop" } ?? ""
            return "\(info.pid) (\(info.name), \(info.state.letter))\(user)"
        }
        return words.isEmpty ? "processes that keep changing or cannot be listed" : words.joined(separator: ", ")
    }

    // MARK: Continued by others

    /// Watches the processes of a suspended app whose continuation the kernel does not report.
    func watchProcessor() {
        let members = tree.unnoticedMembers
        processorWatch = members.isEmpty ? nil : ProcessorWatch(of: members)
    }

    // MARK: Mirrors

    /// Begins to resume again processes that stop themselves because the app or a child had been stopped.
    func watchMirrors() {
        mirrorDelays = (tree.hasParents ? Self.mirrorDelays : Self.mirrorDelaysWithoutChildren)[...]
        mirrorDeadline = loop.freshNow + mirrorDelays.reduce(10_000, +)
        mirrorAttempts = 0
        scheduleMirrorCheck()
    }

    /// Resumes processes that have just stopped themselves, while they are watched.
    ///
    /// - Returns: A Boolean value that indicates whether there were any.
    func resumeMirrors() -> Bool {
        guard loop.freshNow < mirrorDeadline, mirrorAttempts < Self.mirrorLimit, tree.resumeMirrors() else {
            return false
        }
        mirrorAttempts += 1
        return true
    }

    /// The kernel reports only that a child has stopped itself.
    private func scheduleMirrorCheck() {
        guard tree.mayMirrorUnnoticed, let delay = mirrorDelays.popFirst() else {
            mirrorTimer = nil
            return
        }
        let check = { [weak self] in
            guard let self else { return }
            _ = resumeMirrors()
            scheduleMirrorCheck()
        }
        if mirrorTimer == nil { mirrorTimer = try? loop.timer(handler: check) }
        mirrorTimer?.arm(atMicroseconds: loop.freshNow + delay)
    }
}
