import CLinux

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
    public internal(set) var desiredState = DesiredState.running
    /// The end of the main process; nil until it has been reaped.
    public private(set) var exitStatus: ExitStatus?

    /// The way to stop the tree, if its containment can do more than signals.
    public let suspendMethod: SuspendMethod

    let containment: Containment
    /// A Boolean value that indicates whether the main process is a child of this one. Otherwise call
    /// `ProcessTable.checkMain(of:)` when `mainDescriptor` becomes readable; the kernel does not tell when another
    /// program stops or continues the process.
    public let isChild: Bool

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

    private var pidfd: Descriptor?
    /// Set until the main process has become the program.
    var start: ProgramStart?
    var finalExecStatus = ExecStatus.pending
    /// A Boolean value that indicates whether no process was found after the main process had been reaped.
    var wasSeenEmpty = false
    /// The members at the latest look, in the order of their numbers, if all of them were stopped then.
    var stoppedMembers: [ProcessIdentity]?
    /// Those of them that have children among them, in levels, parents before their children.
    private var stoppedParents: [[ProcessIdentity]] = []
    /// The processes that may stop themselves once more after the latest resume: parents, because their children had been
    /// stopped, and the main process.
    var mirrors: Set<ProcessIdentity> = []
    /// A Boolean value that indicates whether a process of the latest resume had children.
    public private(set) var hasParents = false
    /// When the stop that is wanted was begun.
    private var stopBegan = BootTime.now
    /// Processes that another program had stopped before the tree was; a job of a shell, for example.
    public internal(set) var heldBefore: Set<ProcessIdentity> = []
    /// A Boolean value that indicates whether an earlier daemon may have begun to stop the tree without a record: then
    /// stopped processes are not taken for those of another program.
    private var mayBeStoppedByPredecessor = false
    /// The processes that did not take the signals of the latest stop.
    var refused: [SignalFailure] = []
    /// A Boolean value that indicates whether the latest stop has looked for members where they are not expected.
    private var hasLookedOutside = false
    /// A Boolean value that indicates whether the stop that is wanted is done by freezing, alone or with signals.
    public private(set) var isFreezing = false

    /// A process that forks as fast as it can must not keep the caller from its other work.
    static let roundsOfOneCall = 8

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
        start = ProgramStart(gate: process.gate, execPipe: process.execStatus)
    }

    /// A tree of an earlier process.
    ///
    /// - Parameters:
    ///   - pidfd: The main process's, as long as that has not ended and there was room for one.
    ///   - isNew: Whether no earlier process has done anything to it.
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

    /// The way in which its processes are held together.
    public var containmentKind: ContainmentKind { containment.kind }

    /// The pidfd of the main process, owned by the tree: becomes readable when the process ends. Nil for an adopted
    /// tree whose main process had ended before, or that there was no room for another descriptor for.
    public var mainDescriptor: Int32? { pidfd?.rawValue }

    /// Poll as exceptional (POLLPRI) when `ProcessTable.acknowledgeChange(of:)` should be called; empty if the kernel
    /// does not tell. Owned by the tree.
    public var changeDescriptors: [Int32] { containment.changeDescriptors }
}

// MARK: - Stopping and continuing

extension ProcessTree {
    /// Stops every process, with SIGSTOP unless the method is another. Doing it again renews the stop.
    ///
    /// - Returns: The processes that may still run, if any; ``checkStopped()`` looks again.
    public func stop() -> StopCheck {
        // An earlier process has stopped it: mostly there is nothing to do but to see that.
        if desiredState == .stopped, suspendMethod == .signal {
            let check = checkStopped()
            if check == .stopped || isFreezing { return check }
        }
        // An earlier process has ended in the middle of a stop.
        if suspendMethod == .signal { endFreezing() }
        stopBegan = .now
        refused = []
        hasLookedOutside = false
        if stopMainAlone() { return .pending([main]) }
        let members = containment.releaseHelpers(containment.members())
        if desiredState != .stopped {
            desiredState = .stopped
            let held =
                members.contains { $0.state == .stopped }
                ? Set(members.filter { $0.state == .stopped }.identities) : []
            heldBefore = mayBeStoppedByPredecessor ? heldBefore.intersection(held) : held
            if !heldBefore.isEmpty { heldBefore.remove(main) }
            mayBeStoppedByPredecessor = false
        }
        stoppedMembers = nil
        if suspendMethod != .freezer { stopTopDown(members, since: stopBegan) { signalAll(.stop, of: members) } }
        isFreezing = suspendMethod != .signal && containment.freeze()
        if suspendMethod == .freezer && !isFreezing {
            stopTopDown(members, since: stopBegan) { signalAll(.stop, of: members) }
        }
        // The daemon of a user may freeze processes that it may not signal, for example sudo(8).
        if suspendMethod == .signal && !refused.isEmpty { isFreezing = containment.freeze() }
        return checkStopped(after: members.count == 1 ? members.identities : [])
    }

    /// Stops a main process without descendants. It is not looked at: it has no children to stop after it, the kernel tells when
    /// a child stops, and a check finds that it had been stopped before.
    ///
    /// - Returns: False if there are other processes, or the signal cannot be sent.
    private func stopMainAlone() -> Bool {
        guard isChild, suspendMethod == .signal, exitStatus == nil, let mainDescriptor,
            containment.memberIDs() == [main.pid], sendToMain(.stop, through: mainDescriptor) == nil
        else { return false }
        if desiredState != .stopped { heldBefore = [] }
        desiredState = .stopped
        mayBeStoppedByPredecessor = false
        stoppedMembers = nil
        return true
    }

    /// Thaws a tree that does not get frozen, and stops it with signals instead: half frozen is worse than either.
    ///
    /// - Returns: The processes that may still run, if any.
    public func stopWithoutFreezing() -> StopCheck {
        guard desiredState == .stopped, isFreezing else { return checkStopped() }
        isFreezing = false
        let members = containment.members()
        stopTopDown(members, since: .now) { signalAll(.stop, of: members) }
        containment.thaw()
        return checkSignalled()
    }

    /// Returns whether everything is stopped, and stops the processes that run and should not.
    ///
    /// Ask when a child changed, and at intervals while something is pending: the kernel does not tell when the child
    /// of a child stops.
    ///
    /// - Returns: The processes that may still run, if any.
    public func checkStopped() -> StopCheck { checkStopped(after: []) }

    /// - Parameter signalled: The processes that have just got SIGSTOP.
    private func checkStopped(after signalled: [ProcessIdentity]) -> StopCheck {
        if isFreezing { return checkFrozen() }
        let check = checkSignalled(after: signalled)
        guard check == .stopped, desiredState == .stopped, suspendMethod == .signal, !isChild else { return check }
        // The kernel does not tell when another program continues a process that is no child: if it is frozen besides,
        // it does not run.
        isFreezing = containment.freeze()
        return isFreezing && !containment.isFrozen ? .pending([main]) : check
    }

    /// The stopped processes that another program could continue without notice from the kernel.
    public var unnoticedMembers: Set<ProcessIdentity> {
        isChild || isFreezing || desiredState != .stopped ? [] : Set(stoppedMembers ?? [])
    }

    /// A Boolean value that indicates whether one of them runs.
    public var hasUnnoticedContinuation: Bool {
        let members = unnoticedMembers.compactMap { $0.livingStatus }
        return !members.allSatisfy { $0.isHeld(among: members) }
    }

    /// A Boolean value that indicates whether a process of the stopped tree runs. It reads the kernel's list of them.
    public var hasRunningMember: Bool {
        if isFreezing && containment.isFrozen { return false }
        let members = containment.members()
        return !members.allSatisfy { $0.isHeld(among: members) }
    }

    private func checkFrozen() -> StopCheck {
        let isFrozen = containment.isFrozen
        let members = containment.members()
        guard isFrozen else {
            // A process that is frozen shows as sleeping, so the others are those at fault.
            let awake = members.filter { !$0.state.isHeld && $0.state != .sleeping }
            return .pending((awake.isEmpty ? members : awake).identities)
        }
        // A process that was born before the freeze but after the signals gets them now, and acts on them when thawed.
        if suspendMethod != .freezer {
            signal(.stop, only: members.filter { !$0.state.isHeld }.identities)
        }
        let outside = (hasFoundOutside(members) ? containment.members() : members).filter { !containment.freezes($0) }
        let running = outside.filter { !$0.isHeld(among: outside) }
        guard !running.isEmpty else { return .stopped }
        signal(.stop, only: running.identities)
        return .pending(running.identities)
    }

    private func checkSignalled(after signalled: [ProcessIdentity] = []) -> StopCheck {
        var known = signalled
        var running: [ProcessStatus] = []
        for _ in 0..<Self.roundsOfOneCall {
            // A process that could not be seen may run.
            guard let members = allMembers() else {
                stoppedMembers = nil
                return .pending([main])
            }
            let present = members.identities.sorted { $0.pid < $1.pid }
            running = members.filter { !$0.isHeld(among: members) }
            if running.isEmpty && (present == stoppedMembers || areStillAll(members)) {
                if hasFoundOutside(members) { continue }
                recordStopped(members, present)
                return .stopped
            }
            if desiredState == .stopped, !running.allSatisfy({ signalled.contains($0.identity) }) {
                stopTopDown(running, since: stopBegan) { signal(.stop, only: running.identities) }
            }

            // Something that was running during the look may have left a child behind that was not found:
            // only another look at the same processes, which were stopped before it, is sure.
            stoppedMembers = running.isEmpty ? present : nil
            let hasNewMembers = !Set(present).isSubset(of: known)
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

    private func recordStopped(_ members: [ProcessStatus], _ identities: [ProcessIdentity]) {
        stoppedMembers = identities
        stoppedParents = DescentOrder(members).levelsOfParents
    }

    /// Returns the processes that are continued after their children.
    func parentsToContinue() -> [[ProcessIdentity]] {
        stoppedMembers == nil ? DescentOrder(containment.members()).levelsOfParents : stoppedParents
    }

    /// Continues every process that was not stopped already when the tree was.
    ///
    /// - Returns: The processes that did not get the signal.
    @discardableResult
    public func resume() -> [SignalFailure] {
        desiredState = .running
        mayBeStoppedByPredecessor = false
        defer { endFreezing() }
        let (failures, hasSeenAll) = ProcFile.checkCompleteness(resumeMembers)
        // A process that could not be seen may still be stopped.
        return hasSeenAll ? failures : resumeMembers()
    }

    private func resumeMembers() -> [SignalFailure] {
        let parents = parentsToContinue()
        if !parents.isEmpty || !heldBefore.isEmpty || !mirrors.isOnly(main) {
            mirrors = Set(parents.joined()).union([main]).subtracting(heldBefore)
        }
        hasParents = !parents.isEmpty
        // A stopped process has no new children.
        let isMainAlone = isChild && !isFreezing && heldBefore.isEmpty && stoppedMembers == [main]
        stoppedMembers = nil
        if isMainAlone { return signal(.resume, only: [main]) }
        if isFreezing && suspendMethod == .freezer {
            // A process that was not stopped must not notice that time has passed.
            let stopped = containment.members().filter { $0.state == .stopped }
            return signal(.resume, only: stopped.identities.filter(shouldRun))
        }
        guard !heldBefore.isEmpty else { return resumeBottomUp(parents) }
        // Nothing can fork before it is continued, so one look finds all.
        return signal(.resume, only: DescentOrder(containment.members()).bottomUp.identities.filter(shouldRun))
    }

    func endFreezing() {
        isFreezing = false
        containment.thaw()
    }

    /// A Boolean value that indicates whether another program thawed it.
    var wasThawed: Bool { desiredState == .stopped && isFreezing && !containment.isFrozen }

    /// Returns whether a process runs when the tree does.
    func shouldRun(_ process: ProcessIdentity) -> Bool {
        !heldBefore.contains(process)
    }
}

extension Set<ProcessIdentity> {
    fileprivate func isOnly(_ process: ProcessIdentity) -> Bool { count == 1 && first == process }
}

// MARK: - Looking

extension ProcessTree {
    /// Releases the helpers, and looks for members where they are not expected.
    ///
    /// - Returns: The members; nil if some may have been missed, for want of a descriptor for example.
    @discardableResult
    func findAll() -> [ProcessStatus]? {
        let (members, isComplete) = ProcFile.checkCompleteness {
            let members = containment.releaseHelpers(containment.members())
            return containment.lookOutside(members) ? containment.members() : members
        }
        return isComplete ? members : nil
    }

    /// Returns the end of a main process that is no child, if it has ended and this was not told yet.
    func endOfForeignMain() -> ExitStatus? {
        guard !isChild, exitStatus == nil else { return nil }
        let hasEnded =
            if let mainDescriptor {
                ProcessDescriptor.hasEnded(mainDescriptor)
            } else {
                main.livingStatus == nil
            }
        return hasEnded ? .ofProcess(main, descriptor: mainDescriptor) : nil
    }

    func mainWasReaped(_ status: ExitStatus) {
        exitStatus = status
        containment.leaderWasReaped()
    }

    /// Returns the processes at this moment, parents before their children.
    public func processes() -> [ProcessInfo] {
        findAll()
        return containment.members().map { ProcessInfo($0) }
    }

    /// The numbers of the processes that the containment names at this moment.
    public var processIDs: [ProcessID] { containment.memberIDs() ?? containment.members().pids }

    /// Returns whether the number of a process still means this process.
    func isCurrent(_ process: ProcessIdentity) -> Bool {
        guard process == main, let mainDescriptor else { return process.isCurrent }
        // A process that may not be signalled is there, too.
        return linux_pidfd_send_signal(mainDescriptor, 0) != -ESRCH
    }

    /// A Boolean value that indicates whether the main process is stopped.
    public var isMainStopped: Bool {
        exitStatus == nil && main.status?.state == .stopped
    }

    /// Returns the members, or nil when some may have been missed, for want of a descriptor for example.
    func allMembers() -> [ProcessStatus]? {
        let (members, isComplete) = ProcFile.checkCompleteness { containment.members() }
        return isComplete ? members : nil
    }

    /// Returns whether the members are still all there are. It may return false for the same members, if the answer
    /// would cost as much as another look.
    private func areStillAll(_ members: [ProcessStatus]) -> Bool {
        let (numbers, isComplete) = ProcFile.checkCompleteness { containment.memberIDs() }
        guard isComplete, let numbers else { return false }
        return members.count == 1 ? numbers == [members[0].pid] : Set(numbers) == Set(members.pids)
    }

    /// Returns whether it is all right that a process of the tree was continued.
    ///
    /// The notice of our own SIGCONT can arrive after the next stop; then the process is stopped again already.
    func allowsContinuing(_ pid: ProcessID) -> Bool {
        desiredState != .stopped || ProcessStatus(of: pid)?.state.isHeld ?? true
    }
}
