import Configuration
import LifecycleCore
import Processes
import Systemd

/// One launch of an app, and what is being done to its processes.
final class RunningApp {
    enum Operation {
        case none
        case stop(since: UInt64, isReported: Bool)
        case kill
        /// Seeing the last process of an adopted tree go, where nothing tells of it.
        case drain
    }

    let id: AppID
    let tree: ProcessTree
    let exitPolicy: Manifest.ExitPolicy
    /// When the core wanted it.
    let launched: Instant?
    var operation = Operation.none
    var execWatch: IOSource?
    var changeWatch: IOSource?
    /// Tells when the main process ends, where it is no child.
    var mainWatch: IOSource?
    /// Whether the core knows that the main process ended.
    var hasReportedExit = false
    /// Whether SIGTERM has been sent to it.
    var isAskedToEnd = false
    private let loop: EventLoop
    private let proceed: (RunningApp) -> Void
    private var timer: TimerSource?
    private var delay: UInt64 = 0
    private var mirrorTimer: TimerSource?
    private var mirrorDelays: ArraySlice<UInt64> = []

    /// When the parents of a tree that was continued are looked at again, in microseconds from one look to the next: a program
    /// takes milliseconds to stop itself for its child's sake.
    private static let delaysOfMirrors: [UInt64] = [10_000, 50_000, 200_000, 740_000]

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

    /// What a successor of the daemon has to know.
    var record: LaunchRecord {
        LaunchRecord(
            tree: tree.saved, exitPolicy: exitPolicy, launched: launched, isAskedToEnd: isAskedToEnd,
            hasReportedExit: hasReportedExit)
    }

    /// Ends what is being done to the processes.
    func rest() {
        begin(.none)
        // Nothing tells when the last process goes of a tree that is adopted, has no cgroup and lost its main process.
        guard !tree.isChild, !tree.tellsWhenEmptied, tree.mainDescriptor == nil || tree.exitStatus != nil else {
            return
        }
        begin(.drain)
        lookAgain()
    }

    /// Continues again, for a second, what stops itself because its child was stopped.
    func watchMirrors() {
        mirrorDelays = Self.delaysOfMirrors[...]
        waitForMirror()
    }

    /// Continues what has just stopped itself for its child's sake, as often as it is looked for.
    ///
    /// - Returns: Whether there was anything.
    func resumeMirrors() -> Bool {
        guard mirrorTimer != nil, tree.resumeMirrors() else { return false }
        waitForMirror()
        return true
    }

    private func waitForMirror() {
        guard tree.mayMirror, let delay = mirrorDelays.popFirst() else {
            mirrorTimer = nil
            return
        }
        let look = { [weak self] in
            guard let self else { return }
            _ = tree.resumeMirrors()
            waitForMirror()
        }
        if mirrorTimer == nil { mirrorTimer = try? loop.timer(handler: look) }
        mirrorTimer?.arm(atMicroseconds: loop.freshNow + delay)
    }

    func begin(_ operation: Operation) {
        self.operation = operation
        mirrorTimer = nil
        timer = nil
        delay = 0
    }

    /// The kernel does not tell when a child's child has stopped or ended: look again soon, and then less and less
    /// often, for as long as the operation lasts.
    func lookAgain() {
        delay = min(max(500, delay * 2), 1_000_000)
        if timer == nil { timer = try? loop.timer { [weak self] in if let self { self.proceed(self) } } }
        timer?.arm(atMicroseconds: loop.freshNow + delay)
    }
}
