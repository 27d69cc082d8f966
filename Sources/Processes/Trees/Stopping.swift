import CLinux
import Glibc

/// A way to keep the processes of a tree from running.
public enum SuspendMethod: String, CaseIterable, Hashable, Sendable {
    /// SIGSTOP to each. Parents, shells and debuggers see it, and any process that may send SIGCONT can undo it.
    case signal
    /// The cgroup freezer (Linux 5.2), which no process notices. Without a cgroup the same as `signal`.
    case freezer
    /// Both: neither SIGCONT nor thawing alone makes anything run.
    case both
}

/// The result of a request to stop a tree.
public enum StopCheck: Hashable, Sendable {
    /// Every process of the tree was seen stopped, and no other was found afterwards. An empty tree counts as stopped.
    case stopped
    /// These may still run.
    case pending([ProcessIdentity])
}

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
        let members = releaseHelpers(containment.look()).members
        if desiredState != .stopped {
            desiredState = .stopped
            var held =
                members.contains { $0.state == .stopped }
                ? Set(members.filter { $0.state == .stopped }.identities) : []
            if mayBeStoppedByPreviousDaemon { held.formIntersection(stoppedByOthers) }
            if !held.isEmpty { held.remove(main) }
            stoppedByOthers = held
            mayBeStoppedByPreviousDaemon = false
        }
        stoppedMembers = nil
        if suspendMethod != .freezer { stopTopDown(members, since: stopBegan) { signalAll(.stop, of: members) } }
        isFreezing = suspendMethod != .signal && containment.freeze()
        if suspendMethod == .freezer && !isFreezing {
            stopTopDown(members, since: stopBegan) { signalAll(.stop, of: members) }
        }
        // The daemon of a user may freeze processes that it may not signal, for example sudo(8).
        if suspendMethod == .signal && !refused.isEmpty {
            isFreezing = containment.mayStayFrozen && containment.freeze()
        }
        return checkStopped(after: members.count == 1 ? members.identities : [])
    }

    /// Stops a main process without descendants. It is not looked at: it has no children to stop after it, the kernel tells when
    /// a child stops, and a check finds that it had been stopped before.
    ///
    /// - Returns: False if there are other processes, or the signal cannot be sent.
    private func stopMainAlone() -> Bool {
        guard isReported, suspendMethod == .signal, exitStatus == nil, let mainDescriptor,
            containment.isAlone(main.pid), sendToMain(.stop, through: mainDescriptor) == nil
        else { return false }
        if desiredState != .stopped { stoppedByOthers = [] }
        desiredState = .stopped
        mayBeStoppedByPreviousDaemon = false
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
        guard check == .stopped, desiredState == .stopped, suspendMethod == .signal, !isReported else { return check }
        // The kernel does not tell when another program continues a process that is no child: if it is frozen besides,
        // it does not run.
        isFreezing = containment.mayStayFrozen && containment.freeze()
        return isFreezing && (try? containment.isFrozen()) != true ? .pending([main]) : check
    }

    /// The stopped processes that another program could continue without notice from the kernel.
    public var unnoticedMembers: Set<ProcessIdentity> {
        isReported || isFreezing || desiredState != .stopped ? [] : Set(stoppedMembers ?? [])
    }

    /// A Boolean value that indicates whether one of them runs.
    public var hasUnnoticedContinuation: Bool {
        var look = Look()
        for member in unnoticedMembers { look.add(member.pid) { $0.identity == member } }
        return running(look)?.isEmpty != true
    }

    /// A Boolean value that indicates whether a process of the stopped tree runs, or may run unseen. It reads the kernel's list of
    /// them.
    public var hasRunningMember: Bool {
        if isFreezing, (try? containment.isFrozen()) == true { return false }
        return running(containment.look())?.isEmpty != true
    }

    /// Returns the members that may run; nil if some of them or of their threads could not be seen.
    private func running(_ look: Look) -> [ProcessStatus]? {
        try? look.all().filter { try $0.isStopped(among: look.members) == false }
    }

    private func checkFrozen() -> StopCheck {
        let isFrozen = (try? containment.isFrozen()) == true
        guard let members = try? containment.look().all() else { return .pending([main]) }
        guard isFrozen else {
            // A process that is frozen shows as sleeping, so the others are those at fault.
            let awake = members.filter { !$0.state.isStoppedOrTraced && $0.state != .sleeping }
            return .pending((awake.isEmpty ? members : awake).identities)
        }
        // A process that was born before the freeze but after the signals gets them now, and acts on them when thawed.
        if suspendMethod != .freezer {
            signal(.stop, only: members.filter { !$0.state.isStoppedOrTraced }.identities)
        }
        guard let hasFound = hasFoundOutside(members) else { return .pending([main]) }
        var outside = hasFound ? containment.look() : Look()
        if !hasFound { outside.members = members }
        outside.members.removeAll(where: containment.freezes)
        guard let running = running(outside) else { return .pending([main]) }
        guard !running.isEmpty else { return .stopped }
        signal(.stop, only: running.identities)
        return .pending(running.identities)
    }

    private func checkSignalled(after signalled: [ProcessIdentity] = []) -> StopCheck {
        var known = signalled
        var running: [ProcessStatus] = []
        for _ in 0..<Self.roundsOfOneCall {
            let look = containment.look()
            // A process or a thread that could not be seen may run.
            guard let found = self.running(look) else {
                stoppedMembers = nil
                return .pending([main])
            }
            let members = look.members
            running = found
            // One that ended meanwhile may have left a child that no list had.
            let isEnding = look.gone != goneAtLook
            goneAtLook = look.gone
            let present = members.identities.sorted { $0.pid < $1.pid }
            if areSeveralStopped, stoppedMembers != present { continueHelpers(leaving: present) }
            if running.isEmpty && (present == stoppedMembers && !isEnding || areStillAll(members)) {
                guard let hasFound = hasFoundOutside(members) else { return .pending([main]) }
                if hasFound { continue }
                recordStopped(members, present)
                return .stopped
            }
            if desiredState == .stopped, isEnding || !running.allSatisfy({ signalled.contains($0.identity) }) {
                // Processes that replace themselves are faster than signals to their numbers.
                let isStopped = isEnding && stopFrozen(members, .now + .milliseconds(10))
                if !isStopped { stopTopDown(running, since: stopBegan) { signal(.stop, only: running.identities) } }
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

    /// Looks once in each stop for members where they are not expected; nil if that cannot be seen.
    private func hasFoundOutside(_ members: [ProcessStatus]) -> Bool? {
        guard desiredState == .stopped, !hasLookedOutside else { return false }
        let hasFound = try? containment.lookOutside(members)
        hasLookedOutside = hasFound != nil
        return hasFound
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
        // Without a group of its own, the signals below do not reach a helper that has left since.
        if containment.groupName == nil, areSeveralStopped { releaseHelpers() }
        desiredState = .running
        mayBeStoppedByPreviousDaemon = false
        defer {
            endFreezing()
            sendSignalsForLater()
        }
        let failures = resumeMembers()
        // A process that could not be seen may still be stopped.
        return failures.contains { $0.error.rawValue != EPERM } ? resumeMembers() : failures
    }

    private func resumeMembers() -> [SignalFailure] {
        let parents = parentsToContinue()
        if !parents.isEmpty || !stoppedByOthers.isEmpty || !selfStoppers.isOnly(main) {
            selfStoppers = Set(parents.joined()).union([main]).subtracting(stoppedByOthers)
        }
        hasResumedParents = !parents.isEmpty
        // A stopped process has no new children.
        let isMainAlone = isReported && !isFreezing && stoppedByOthers.isEmpty && isMainStoppedAlone
        stoppedMembers = nil
        if isMainAlone { return send(.resume, to: main).map { [$0] } ?? [] }
        if isFreezing && suspendMethod == .freezer {
            // A process that was not stopped must not notice that time has passed.
            return signal(.resume, of: nil) { $0.state == .stopped && shouldRun($0.identity) }
        }
        guard !stoppedByOthers.isEmpty else { return resumeBottomUp(parents) }
        // Nothing can fork before it is continued, so one look finds all.
        let look = containment.look()
        return signal(.resume, only: DescentOrder(look.members).bottomUp.identities.filter(shouldRun))
            + (look.failure.map { [SignalFailure(process: main, error: $0)] } ?? [])
    }

    private func sendSignalsForLater() {
        let signals = signalsForLater
        signalsForLater = []
        for signal in signals { signalAll(signal) }
    }

    func endFreezing() {
        isFreezing = false
        containment.thaw()
    }

    /// A Boolean value that indicates whether another program thawed it.
    var wasThawed: Bool { desiredState == .stopped && isFreezing && (try? containment.isFrozen()) == false }

    /// Returns whether a process runs when the tree does.
    func shouldRun(_ process: ProcessIdentity) -> Bool {
        !stoppedByOthers.contains(process)
    }

    /// Returns whether the members are still all there are. It may return false for the same members, if the answer
    /// would cost as much as another look.
    private func areStillAll(_ members: [ProcessStatus]) -> Bool {
        guard let numbers = try? containment.memberIDs() else { return false }
        return members.count == 1 ? numbers == [members[0].pid] : Set(numbers) == Set(members.pids)
    }
}

extension Collection where Element: Equatable {
    /// Returns whether the collection has this element and no other. No other collection is made to find out.
    func isOnly(_ element: Element) -> Bool { count == 1 && first == element }
}

extension ProcessTree {
    /// A reason why the control group of a tree is frozen.
    public enum FreezeReason: Hashable, Sendable {
        /// Its ``SuspendMethod`` wants it.
        case method
        /// Its processes are no children of this one, so the kernel does not tell of a SIGCONT from another program.
        case notChild
        /// This process may not signal these.
        case refused([ProcessIdentity])
        /// Another program wants it.
        case other
    }

    /// The reason why the control group is frozen; nil if it is not.
    public var freezeReason: FreezeReason? {
        if isFrozenByOther { return .other }
        guard desiredState == .stopped, isFreezing else { return nil }
        if suspendMethod != .signal { return .method }
        return refused.isEmpty ? .notChild : .refused(refused.map { $0.process })
    }

    /// True while another program keeps the control group of the tree, or one above it, frozen.
    public var isFrozenByOther: Bool {
        guard exitStatus == nil, !isFreezing, !containment.isAskedToFreeze else { return false }
        let group = try? containment.cgroup ?? Cgroup(ofProcess: main.pid)
        return (try? group?.readEvents())?.isFrozen ?? false
    }
}

extension ProcessStatus {
    /// Returns whether no thread of the process can run until it, or a child that it waits for, is continued.
    func isStopped(among members: [ProcessStatus]) throws(Errno) -> Bool {
        let threads = try threads().filter { !$0.state.isGone && !$0.state.isStoppedOrTraced }
        guard threads.allSatisfy({ $0.state == .uninterruptible }) else { return false }
        return threads.isEmpty || threads.count <= heldVforkChildren(of: threads, among: members)
            || members.contains { $0.pid != pid && $0.state.isStoppedOrTraced && $0.servesFiles }
    }

    /// True for the server of a FUSE file system. While it is stopped, a process that uses a file of it waits
    /// uninterruptibly, and cannot stop: the one that waits for another file acts on its pending SIGSTOP afterwards.
    private var servesFiles: Bool { OpenFile.all(of: pid).contains { $0.target.hasSuffix("/dev/fuse") } }

    /// Returns whether a thread of the process may learn of a change of its children. A thread in an uninterruptible wait is in no
    /// waitpid(2), and acts on a pending SIGSTOP before it gets to one.
    func mayWaitForChildren() throws(Errno) -> Bool {
        if isZombie { return false }
        return try !threads().allSatisfy {
            $0.state.isGone || $0.state.isStoppedOrTraced || $0.state == .uninterruptible
        }
    }

    private func threads() throws(Errno) -> [ProcessStatus] {
        guard threadCount > 1 else { return [self] }
        var found: [ProcessStatus] = []
        for thread in try ProcFile.processIDs(in: "/proc/\(pid)/task") {
            if let status = try ProcessStatus(ofThread: thread, of: pid) { found.append(status) }
        }
        return found
    }

    /// Returns the number of stopped processes that some of its threads may wait for.
    ///
    /// A thread in vfork(2), which posix_spawn(3) uses, waits uninterruptibly for its child to execute a program.
    /// When the child is stopped before that, the parent can neither run nor show as stopped.
    private func heldVforkChildren(of threads: [ProcessStatus], among members: [ProcessStatus]) -> Int {
        let children = members.filter { $0.parent == pid && $0.state.isStoppedOrTraced }
        let sharers = children.count { linux_share_memory(pid, $0.pid) == 1 }
        guard sharers < threads.count, threads.allSatisfy({ ProcFile.waitsForChild($0.pid, of: pid) }) else {
            return sharers
        }
        // With clone(2) it may have memory of its own, and may be its maker's sibling.
        return members.count { $0.state.isStoppedOrTraced && [pid, parent].contains($0.parent) && $0.pid != pid }
    }
}

extension ProcFile {
    /// Returns whether a thread is in a system call that lasts until its child has executed a program; false if the
    /// kernel does not tell.
    fileprivate static func waitsForChild(_ thread: ProcessID, of process: ProcessID) -> Bool {
        // A number and, in hexadecimal, its arguments: "56 0x4011 …".
        let text = try? read("/proc/\(process)/task/\(thread)/syscall", limit: 256)
        let words = text.map { $0.split(separator: UInt8(ascii: " "), maxSplits: 2) } ?? []
        guard words.count > 1, let number = Int(ascii: words[0]),
            let argument = UInt(String(decoding: words[1].dropFirst(2), as: UTF8.self), radix: 16)
        else { return false }
        return linux_waits_for_child(number, argument)
    }
}
