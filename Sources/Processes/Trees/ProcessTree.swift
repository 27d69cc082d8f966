/// The processes of one launch: the main process and all its descendants.
///
/// Nothing here waits: an operation sends signals, and a check or an event tells later what came of it.
public final class ProcessTree {
    /// What this program last wanted of the tree.
    public enum DesiredState: Hashable, Sendable {
        case running, stopped, ended
    }

    /// The mark of the launch, and the key in the table.
    public let token: LaunchToken
    /// The main process, also after it ended.
    public let main: ProcessIdentity
    /// What was asked for; `checkStopped()` and `checkResumed()` tell whether it is so.
    public private(set) var desiredState = DesiredState.running
    /// How the main process ended, once it has been reaped.
    public private(set) var exitStatus: ExitStatus?

    /// How it is to be stopped, where its containment can do more than signals.
    public let suspendMethod: SuspendMethod

    let containment: Containment
    /// Whether this process hears of the main one from the kernel as of any child of its own. It does not hear so of
    /// one that it has adopted: `ProcessTable.checkMain(of:)` has to be called when `mainDescriptor` becomes readable,
    /// and that somebody else stops or continues it is not told.
    public let isChild: Bool

    /// Whether the main process ran before it was put into a tree.
    public let isAdopted: Bool
    /// The cgroup that it was in before, where it was moved.
    let origin: String?

    /// The user that controls the tree; nil for a tree that this program has launched, all of whose processes are its own.
    public let owner: TreeOwner?

    private var pidfd: Descriptor?
    private var gate: LaunchGate?
    private var execPipe: ExecStatusPipe?
    private var finalExecStatus = ExecStatus.pending
    /// The members at the latest look, if all of them were stopped then.
    private var stoppedMembers: Set<ProcessIdentity>?
    /// Those of them that have children among them, in levels, parents before their children.
    private var stoppedParents: [[ProcessIdentity]] = []
    /// Those of the latest stop that may stop themselves once more because their children had been stopped.
    var mirrors: Set<ProcessIdentity> = []
    /// When the stop that is wanted was begun.
    private var stopBegan = BootTime.now
    /// Processes that somebody had stopped before the tree was; a job of a shell, for example.
    public private(set) var heldBefore: Set<ProcessIdentity> = []
    /// Whether an earlier process may have begun to stop the tree without keeping that: then those who are found
    /// stopped are not left to somebody else.
    private var mayBeStoppedByPredecessor = false
    /// The processes that did not take the signals of the latest stop.
    var refused: [SignalFailure] = []
    /// Whether the latest stop has looked for members where they are not expected.
    private var hasLookedOutside = false
    /// Whether the stop that is wanted is done by freezing, alone or with signals.
    public private(set) var isFreezing = false

    /// A process that forks as fast as it can must not keep the caller from its other work.
    private static let roundsOfOneCall = 8

    init(
        _ process: consuming SpawnedProcess, token: LaunchToken, containment: Containment,
        suspendMethod: SuspendMethod
    ) {
        self.token = token
        self.containment = containment
        self.suspendMethod = suspendMethod
        main = process.identity
        isChild = true
        isAdopted = false
        origin = nil
        owner = nil
        pidfd = consume process.descriptor
        gate = consume process.gate
        execPipe = consume process.execStatus
    }

    /// A tree of an earlier process.
    ///
    /// - Parameter pidfd: The main process's, as long as that has not ended and there was room for one.
    /// - Parameter isNew: Whether no earlier process has done anything to it.
    init(
        restoring saved: SavedTree, isChild: Bool, pidfd: consuming Descriptor?, exitStatus: ExitStatus?,
        containment: Containment, isNew: Bool = false
    ) {
        token = saved.token
        main = saved.main
        desiredState = saved.desiredState
        suspendMethod = saved.suspendMethod
        heldBefore = Set(saved.heldBefore)
        mayBeStoppedByPredecessor = saved.desiredState == .running && !isNew
        finalExecStatus = .running
        isFreezing = containment.isAskedToFreeze
        self.isChild = isChild
        isAdopted = saved.isAdopted
        origin = saved.origin
        owner = saved.owner
        self.pidfd = pidfd
        self.exitStatus = exitStatus
        self.containment = saved.owner.map { containment.limited(to: $0, origin: saved.origin) } ?? containment
    }

    /// How its processes are held together.
    public var containmentKind: ContainmentKind { containment.kind }

    /// The pidfd of the main process, owned by the tree: becomes readable when the process ends. Nil for an adopted
    /// tree whose main process had ended before, or that there was no room for another descriptor for.
    public var mainDescriptor: Int32? { pidfd?.rawValue }

    /// Polls as exceptional (POLLPRI) when `ProcessTable.acknowledgeChange(of:)` should be called; nil where nothing
    /// tells. Owned by the tree.
    public var changeDescriptor: Int32? { containment.changeDescriptor }
}

// MARK: - Starting

extension ProcessTree {
    /// Lets the main process execute the program, which it never does before. Once is enough.
    ///
    /// When this process ends earlier, or lets go of the tree, the main process ends too, with status 127.
    ///
    /// - Returns: Why the main process could not be told. It ends, too, without having executed anything.
    @discardableResult
    public func begin() -> SpawnError? {
        guard let gate = gate.take() else { return nil }
        return gate.open()
    }

    /// Becomes readable when `execStatus()` is no longer pending; nil, and closed, after that was seen.
    public var execStatusDescriptor: Int32? {
        execPipe?.descriptor.rawValue
    }

    /// Whether the main process has become the program.
    public func execStatus() -> ExecStatus {
        if let pipe = execPipe.take() {
            finalExecStatus = pipe.read()
            if finalExecStatus == .pending { execPipe = consume pipe }
        }
        return finalExecStatus
    }
}

// MARK: - Stopping and continuing

extension ProcessTree {
    /// Stops every process, with SIGSTOP unless the method is another. Doing it again renews the stop.
    public func stop() -> StopCheck {
        // An earlier process has stopped it: mostly there is nothing to do but to see that.
        if desiredState == .stopped, suspendMethod == .signal {
            let check = checkStopped()
            if check == .stopped || isFreezing { return check }
        }
        let members = containment.releaseHelpers(containment.members())
        stopBegan = .now
        refused = []
        hasLookedOutside = false
        if desiredState != .stopped {
            desiredState = .stopped
            let held = Set(members.filter { $0.state == .stopped }.identities)
            heldBefore = mayBeStoppedByPredecessor ? heldBefore.intersection(held) : held
            heldBefore.remove(main)
            mayBeStoppedByPredecessor = false
        }
        stoppedMembers = nil
        if suspendMethod != .freezer { stopTopDown(members, since: stopBegan) { signalAll(.stop, of: members) } }
        isFreezing = suspendMethod != .signal && containment.freeze()
        if suspendMethod == .freezer && !isFreezing {
            stopTopDown(members, since: stopBegan) { signalAll(.stop, of: members) }
        }
        // The daemon of a user may freeze what it may not signal, for example sudo(8).
        if suspendMethod == .signal && !refused.isEmpty { isFreezing = containment.freeze() }
        return checkStopped()
    }

    /// Thaws a tree that does not get frozen, and stops it with signals instead: half frozen is worse than either.
    public func stopWithoutFreezing() -> StopCheck {
        guard desiredState == .stopped, isFreezing else { return checkStopped() }
        isFreezing = false
        let members = containment.members()
        stopTopDown(members, since: .now) { signalAll(.stop, of: members) }
        containment.thaw()
        return checkSignalled()
    }

    /// Whether everything is stopped; what is found running, and should not be, is stopped.
    ///
    /// Ask when a child changed, and now and then while something is pending: the kernel does not tell when the
    /// child of a child stops.
    public func checkStopped() -> StopCheck {
        if isFreezing { return checkFrozen() }
        let check = checkSignalled()
        guard check == .stopped, desiredState == .stopped, suspendMethod == .signal, !isChild else { return check }
        // Nothing tells that another program continues what is no child: frozen besides, it does not run.
        isFreezing = containment.freeze()
        return isFreezing && !containment.isFrozen ? .pending([main]) : check
    }

    private func checkFrozen() -> StopCheck {
        let isFrozen = containment.isFrozen
        let members = containment.members()
        guard isFrozen else {
            // A process that is frozen shows as sleeping, so the others are those at fault.
            let awake = members.filter { !$0.state.isHeld && $0.state != .sleeping }
            return .pending((awake.isEmpty ? members : awake).identities)
        }
        // Whoever was born before the freeze but after the signals gets them now, and acts on them when thawed.
        if suspendMethod != .freezer {
            signal(.stop, only: members.filter { !$0.state.isHeld }.identities)
        }
        let outside = (hasFoundOutside(members) ? containment.members() : members).filter { !containment.freezes($0) }
        let running = outside.filter { !$0.isHeld(among: outside) }
        guard !running.isEmpty else { return .stopped }
        signal(.stop, only: running.identities)
        return .pending(running.identities)
    }

    private func checkSignalled() -> StopCheck {
        var known: Set<ProcessIdentity> = []
        var running: [ProcessStatus] = []
        for _ in 0..<Self.roundsOfOneCall {
            // Who could not be seen may run.
            guard let members = allMembers() else {
                stoppedMembers = nil
                return .pending([main])
            }
            let present = Set(members.identities)
            running = members.filter { !$0.isHeld(among: members) }
            if running.isEmpty && (present == stoppedMembers || areStillAll(members)) {
                if hasFoundOutside(members) { continue }
                recordStopped(members, present)
                return .stopped
            }
            if desiredState == .stopped {
                stopTopDown(running, since: stopBegan) { signal(.stop, only: running.identities) }
            }

            // Something that was running during the look may have left a child behind that was not found:
            // only another look at the same processes, which were stopped before it, is sure.
            stoppedMembers = running.isEmpty ? present : nil
            let hasNewMembers = !present.isSubset(of: known)
            known = present
            if !running.isEmpty && !hasNewMembers { break }
        }
        return .pending(running.identities)
    }

    /// Looks once in each stop for members where they are not expected.
    private func hasFoundOutside(_ members: [ProcessStatus]) -> Bool {
        guard desiredState == .stopped, !hasLookedOutside else { return false }
        hasLookedOutside = true
        return containment.lookOutside(members)
    }

    private func recordStopped(_ members: [ProcessStatus], _ identities: Set<ProcessIdentity>) {
        stoppedMembers = identities
        stoppedParents = DescentOrder(members).levelsOfParents
    }

    /// Those that are continued after their children.
    private func parentsToContinue() -> [[ProcessIdentity]] {
        stoppedMembers == nil ? DescentOrder(containment.members()).levelsOfParents : stoppedParents
    }

    /// Continues every process that was not stopped already when the tree was.
    @discardableResult
    public func resume() -> [SignalFailure] {
        desiredState = .running
        mayBeStoppedByPredecessor = false
        defer { endFreezing() }
        let (failures, hasSeenAll) = ProcFile.checkCompleteness(resumeMembers)
        // Who could not be seen may still be stopped.
        return hasSeenAll ? failures : resumeMembers()
    }

    private func resumeMembers() -> [SignalFailure] {
        let parents = parentsToContinue()
        mirrors = Set(parents.joined()).subtracting(heldBefore)
        stoppedMembers = nil
        if isFreezing && suspendMethod == .freezer {
            // Who was not stopped is not to notice that time has passed.
            let stopped = containment.members().filter { $0.state == .stopped }
            return signal(.resume, only: stopped.identities.filter(shouldRun))
        }
        guard !heldBefore.isEmpty else { return resumeBottomUp(parents) }
        // Nothing can fork before it is continued, so one look finds all.
        return signal(.resume, only: DescentOrder(containment.members()).bottomUp.identities.filter(shouldRun))
    }

    private func endFreezing() {
        isFreezing = false
        containment.thaw()
    }

    /// Whether somebody else thawed it.
    var wasThawed: Bool { desiredState == .stopped && isFreezing && !containment.isFrozen }

    /// Whether everything that should has been continued.
    public func checkResumed() -> ResumeCheck {
        let stopped = containment.members().filter { $0.state == .stopped }.identities.filter(shouldRun)
        return stopped.isEmpty ? .resumed : .pending(stopped)
    }

    private func shouldRun(_ process: ProcessIdentity) -> Bool {
        !heldBefore.contains(process)
    }
}

// MARK: - Frozen

extension ProcessTree {
    /// Why the control group of a tree is frozen.
    public enum FreezeReason: Hashable, Sendable {
        /// Its ``SuspendMethod`` wants it.
        case method
        /// Its processes are no children of this one, which would not hear of a SIGCONT from elsewhere.
        case notChild
        /// This process may not signal these.
        case refused([ProcessIdentity])
    }

    /// Why the control group is frozen now; nil where it is not.
    public var freezeReason: FreezeReason? {
        guard desiredState == .stopped, isFreezing else { return nil }
        if suspendMethod != .signal { return .method }
        return refused.isEmpty ? .notChild : .refused(refused.map { $0.process })
    }
}

// MARK: - Ending

extension ProcessTree {
    /// Sends a signal to every process, and then SIGCONT: a stopped process acts on nothing but SIGKILL.
    @discardableResult
    public func terminate(with signal: Signal = .terminate) -> [SignalFailure] {
        let parents = desiredState == .stopped ? parentsToContinue() : []
        desiredState = .ended
        stoppedMembers = nil
        heldBefore = []
        findAll()
        let failures = signalAll(signal)
        resumeBottomUp(parents)
        endFreezing()
        return failures
    }

    /// Sends SIGKILL to every process and to what they left behind meanwhile.
    ///
    /// Call it again until `isEmpty`: a process outside the main one's group can fork faster than it is found.
    @discardableResult
    public func kill() -> [SignalFailure] {
        desiredState = .ended
        stoppedMembers = nil
        heldBefore = []
        findAll()
        var known: Set<ProcessIdentity> = []
        var failures: [SignalFailure] = []
        for _ in 0..<Self.roundsOfOneCall {
            failures = signalAll(.kill)
            let present = Set(containment.members().identities)
            if present.isSubset(of: known) { break }
            known = present
        }
        endFreezing()
        return failures
    }

    /// Whether the main process has been reaped and every other process has ended.
    public var isEmpty: Bool {
        guard exitStatus != nil, !containment.mayHaveLeftOthers, let members = allMembers() else { return false }
        return members.isEmpty || containment.releaseHelpers(members).isEmpty
    }

    /// Releases the helpers, and looks for members where they are not expected.
    private func findAll() {
        _ = containment.lookOutside(containment.releaseHelpers(containment.members()))
    }

    /// How the main process ended, if it has, is no child, and nobody has noticed yet.
    func endOfForeignMain() -> ExitStatus? {
        guard !isChild, exitStatus == nil else { return nil }
        let hasEnded =
            if let mainDescriptor {
                ProcessDescriptor.hasEnded(mainDescriptor)
            } else {
                ProcessStatus(of: main.pid).map { $0.identity != main || $0.isZombie } ?? true
            }
        return hasEnded ? .ofProcess(main, descriptor: mainDescriptor) : nil
    }

    func mainWasReaped(_ status: ExitStatus) {
        exitStatus = status
        containment.leaderWasReaped()
    }
}

// MARK: - Looking

extension ProcessTree {
    /// Its processes of this moment, parents before their children.
    public func processes() -> [ProcessInfo] {
        findAll()
        return containment.members().map { ProcessInfo($0) }
    }

    /// Whether the main process is stopped.
    public var isMainStopped: Bool {
        guard exitStatus == nil, let status = ProcessStatus(of: main.pid), status.identity == main else { return false }
        return status.state == .stopped
    }

    /// The members, or nil when some may have been missed, for want of a descriptor for example.
    private func allMembers() -> [ProcessStatus]? {
        let (members, isComplete) = ProcFile.checkCompleteness { containment.members() }
        return isComplete ? members : nil
    }

    /// Whether those who were seen are still all there are. Of the same ones it may say false, where it would cost as much as
    /// looking at them again.
    private func areStillAll(_ members: [ProcessStatus]) -> Bool {
        let (numbers, isComplete) = ProcFile.checkCompleteness { containment.memberIDs() }
        guard isComplete, let numbers else { return false }
        return members.count == 1 ? numbers == [members[0].pid] : Set(numbers) == Set(members.pids)
    }

    /// Whether it is all right that a process of the tree was continued.
    ///
    /// The notice of our own SIGCONT can arrive after the next stop; then the process is stopped again already.
    func allowsContinuing(_ pid: ProcessID) -> Bool {
        desiredState != .stopped || ProcessStatus(of: pid)?.state.isHeld ?? true
    }
}

/// How the processes of a tree are kept from running.
public enum SuspendMethod: Hashable, Sendable {
    /// SIGSTOP to each. Parents, shells and debuggers see it, and anybody who may send SIGCONT can undo it.
    case signal
    /// The cgroup freezer (Linux 5.2), which no process notices. Without a cgroup the same as `signal`.
    case freezer
    /// Both: neither SIGCONT nor thawing alone makes anything run.
    case both
}
