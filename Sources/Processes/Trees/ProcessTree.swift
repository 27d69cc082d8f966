import CLinux
import Glibc

/// The processes of one launch: the main process and all its descendants.
///
/// Nothing here waits: an operation sends signals, and a check or an event tells its result later.
public final class ProcessTree {
    /// A state that the daemon wants a tree to have.
    public enum DesiredState: Hashable, Sendable {
        case running, stopped, ended
    }

    /// The mark of the launch, and the key in the table.
    public let token: LaunchToken
    /// The main process, also after it ended.
    public let main: ProcessIdentity
    /// The state that was asked for last; `checkStopped()` tells whether the tree has it.
    var desiredState = DesiredState.running
    /// The latest request to end.
    var endRequest = EndRequest.none
    /// The end of the main process; nil until it has been reaped.
    public private(set) var exitStatus: WaitStatus?

    /// The way to stop the tree, if its containment can do more than signals.
    public let suspendMethod: SuspendMethod

    let containment: Containment
    /// The programs whose processes leave the tree; nil until it is in a table.
    var helpers: HelperPrograms?
    /// A Boolean value that indicates whether the main process is a child of this one. Otherwise call
    /// `ProcessTable.checkMain(of:)` when `mainDescriptor` becomes readable; the kernel does not tell when another
    /// program stops or continues the process.
    public let isChild: Bool

    /// True if the end of the main process, its stops and its continuations are told: to its parent, which is this process or a keeper.
    public var isReported: Bool { isChild || containment.keeper?.isConnected == true }

    /// A Boolean value that indicates whether the main process ran before it was put into a tree.
    public let isAdopted: Bool
    /// The cgroup that it was in before, where it was moved.
    let origin: String?

    /// The changes that a ``ResourceControl`` has made to the processes; nil for none.
    public internal(set) var resources: ResourceRecord?

    /// A number of the caller's for the app that the tree belongs to.
    public var owningApp: UInt64?

    /// The user that controls the tree; nil for a tree that this program has launched, all of whose processes are its own.
    public let owner: TreeOwner?

    /// Closed with the tree.
    private let pidfd: Descriptor?
    /// Becomes readable when `ProcessTable.checkMain(of:)` should be called; nil for a child, and where there is no room for one.
    /// Another one when that call has noticed the end of a keeper. Owned by the tree.
    public var newsDescriptor: Int32? {
        if let keeper = containment.keeper, keeper.isConnected { return keeper.descriptor }
        return isChild ? nil : mainDescriptor
    }

    /// Lets the keeper forget what it has told so far. Call it when that is on record.
    public func confirmNews() { containment.keeper?.confirm() }

    /// The pidfd of the main process, owned by the tree: becomes readable when the process ends. Nil for an adopted
    /// tree whose main process had ended before, or that there was no room for another descriptor for.
    public let mainDescriptor: Int32?
    /// Set until the main process has become the program.
    private var gate: LaunchGate?
    private var execPipe: ExecStatusPipe?
    var finalExecStatus = ExecStatus.pending
    /// A Boolean value that indicates whether no process was found after the main process had been reaped.
    var wasSeenEmpty = false
    /// The members at the latest look, in the order of their numbers, if all of them were stopped then.
    var stoppedMembers: [ProcessIdentity]?
    /// What the latest look has found to be gone.
    var goneAtLook: Set<ProcessID> = []
    /// Those of them that have children among them, in levels, parents before their children.
    var stoppedParents: [[ProcessIdentity]] = []
    /// The processes that may stop themselves once more after the latest resume: parents, because their children had been
    /// stopped, and the main process.
    var selfStoppers: Set<ProcessIdentity> = []
    /// True if a process of the latest resume had children.
    public internal(set) var hasResumedParents = false
    /// When the stop that is wanted was begun.
    var stopBegan = BootTime.now
    /// Processes that another program had stopped before the tree was; a job of a shell, for example.
    public internal(set) var stoppedByOthers: Set<ProcessIdentity> = []
    /// True if the previous daemon may have begun to stop the tree without a record: then
    /// stopped processes are not taken for those of another program.
    var mayBeStoppedByPreviousDaemon = false
    /// The processes that did not take the signals of the latest stop.
    var refused: [SignalFailure] = []
    /// A Boolean value that indicates whether the latest stop has looked for members where they are not expected.
    var hasLookedOutside = false
    /// A Boolean value that indicates whether the stop that is wanted is done by freezing, alone or with signals.
    var isFreezing = false
    /// The signals that the processes get when they are thawed, each once. Set while the tree is frozen.
    public internal(set) var signalsForLater: [Signal] = []

    /// A process that forks as fast as it can must not keep the caller from its other work.
    static let roundsOfOneCall = 8

    init(
        _ process: consuming SpawnedProcess, token: LaunchToken, containment: Containment, suspendMethod: SuspendMethod
    ) {
        self.token = token
        self.containment = containment
        self.suspendMethod = suspendMethod
        main = process.identity
        isChild = process.keeper == nil
        isAdopted = false
        origin = nil
        owner = nil
        mainDescriptor = process.descriptor.rawValue
        pidfd = consume process.descriptor
        gate = consume process.gate
        execPipe = consume process.execStatus
    }

    /// A tree of an earlier process.
    ///
    /// - Parameters:
    ///   - pidfd: The main process's, as long as that has not ended and there was room for one.
    ///   - isNew: Whether no earlier process has done anything to it.
    init(
        restoring saved: SavedTree, isChild: Bool, pidfd: consuming Descriptor?, exitStatus: WaitStatus?,
        containment: Containment, isNew: Bool = false
    ) {
        token = saved.token
        main = saved.main
        desiredState = saved.desiredState
        suspendMethod = saved.suspendMethod
        stoppedByOthers = Set(saved.stoppedByOthers)
        signalsForLater = saved.signalsForLater
        endRequest = saved.endRequest
        mayBeStoppedByPreviousDaemon = saved.desiredState == .running && !isNew
        finalExecStatus = .running
        isFreezing = containment.isAskedToFreeze
        self.isChild = isChild
        isAdopted = saved.isAdopted
        origin = saved.origin
        owner = saved.owner
        mainDescriptor = pidfd?.rawValue
        self.pidfd = pidfd
        self.exitStatus = exitStatus
        self.containment = saved.owner.map { containment.limited(to: $0, origin: saved.origin) } ?? containment
    }

    /// How its processes are told from others.
    public var containmentKind: ContainmentKind { containment.kind }

    /// Poll as exceptional (POLLPRI) when `ProcessTable.acknowledgeChange(of:)` should be called; empty if the kernel
    /// does not tell. Owned by the tree.
    public var changeDescriptors: [Int32] { containment.changeDescriptors }
}

extension ProcessTree {
    /// True if the latest look has seen the main process alone, and stopped.
    var isMainStoppedAlone: Bool { stoppedMembers?.isOnly(main) ?? false }

    /// True if it has seen several processes, all of them stopped.
    var areSeveralStopped: Bool { stoppedMembers.map { $0.count > 1 } ?? false }
}

// MARK: - The program

extension ProcessTree {
    /// Lets the main process execute the program, which it never does before. Once is enough.
    ///
    /// If this process ends earlier, or drops the tree, the main process ends too, with status 127.
    ///
    /// - Returns: The reason why the gate could not be opened. The main process ends, too, without having executed
    ///   anything.
    @discardableResult
    public func begin() -> SpawnError? {
        guard let gate = gate.take() else { return nil }
        return gate.open()
    }

    /// Does what can wait until the program runs. Call it when no client waits.
    public func completeSetUp() { containment.completeSetUp() }

    /// Becomes readable when `execStatus()` is no longer pending; nil, and closed, after that was seen.
    public var execStatusDescriptor: Int32? {
        execPipe?.descriptor.rawValue
    }

    /// Returns whether the main process has become the program.
    public func execStatus() -> ExecStatus {
        if let pipe = execPipe.take() {
            finalExecStatus = pipe.read()
            if finalExecStatus == .pending { execPipe = consume pipe }
        }
        return finalExecStatus
    }
}

// MARK: - Looking

extension ProcessTree {
    /// Releases the helpers, and looks for members where they are not expected.
    ///
    /// - Returns: The members; nil if some may have been missed, for want of a descriptor for example.
    @discardableResult
    func findAll() -> [ProcessStatus]? {
        let look = releaseHelpers(containment.look())
        guard let hasFound = try? containment.lookOutside(look.members) else { return nil }
        return try? (hasFound ? containment.look() : look).all()
    }

    /// Returns the end of a main process that is no child, if it has ended and this was not told yet.
    func endOfForeignMain() -> WaitStatus? {
        guard !isReported, exitStatus == nil else { return nil }
        let hasEnded =
            if let mainDescriptor {
                ProcessDescriptor.hasEnded(mainDescriptor)
            } else {
                (try? main.hasEnded()) == true
            }
        return hasEnded ? .ofProcess(main, descriptor: mainDescriptor) : nil
    }

    func mainWasReaped(_ status: WaitStatus) {
        exitStatus = status
        containment.leaderWasReaped()
    }

    /// Returns the processes at this moment, parents before their children.
    public func processes() -> [ProcessInfo] {
        findAll()
        return containment.members().map { ProcessInfo($0) }
    }

    /// The numbers of the processes that the containment names at this moment.
    public var processIDs: [ProcessID] { (try? containment.memberIDs()) ?? containment.members().pids }

    /// Returns whether the number of a process still means this process.
    func isCurrent(_ process: ProcessIdentity) throws(Errno) -> Bool {
        guard process == main, let mainDescriptor else { return try process.exists() }
        // A process that may not be signalled is there, too.
        return linux_pidfd_send_signal(mainDescriptor, 0) != -ESRCH
    }

    /// A Boolean value that indicates whether the main process is stopped.
    public var isMainStopped: Bool {
        exitStatus == nil && (try? main.readStatus())?.state == .stopped
    }

    /// Returns whether it is all right that a process of the tree was continued.
    ///
    /// The notice of our own SIGCONT can arrive after the next stop; then the process is stopped again already.
    func allowsContinuing(_ pid: ProcessID) -> Bool {
        desiredState != .stopped || (try? ProcessStatus(of: pid))?.state.isStoppedOrTraced ?? true
    }
}
