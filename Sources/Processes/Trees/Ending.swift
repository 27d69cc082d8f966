extension ProcessTree {
    /// Sends a signal to every process, and then SIGCONT: a stopped process acts on nothing but SIGKILL.
    ///
    /// - Parameter signal: The request to end, which processes may handle.
    /// - Returns: The processes that did not get the signal.
    @discardableResult
    public func terminate(with signal: Signal = .terminate) -> [SignalFailure] {
        let parents = desiredState == .stopped ? parentsToContinue() : []
        desiredState = .ended
        endSignal = signal
        // Helpers that have left are continued first.
        let members = findAll()
        stoppedMembers = nil
        heldBefore = []
        heldSignals = []
        let failures = signalAll(signal, of: members)
        resumeBottomUp(parents, of: members)
        endFreezing()
        return failures
    }

    /// Sends a signal to every process, and changes nothing else: a stopped process acts on it when it is continued.
    ///
    /// - Returns: The processes that did not get the signal.
    public func send(_ signal: Signal) -> [SignalFailure] {
        if desiredState == .stopped, isFreezing {
            // The kernel ends a frozen process at once if the signal ends it by default, and leaves a stopped one alone.
            if !heldSignals.contains(signal) { heldSignals.append(signal) }
            return []
        }
        findAll()
        return signalAll(signal)
    }

    /// Sends SIGKILL to every process and to what they left behind meanwhile.
    ///
    /// Call it again until `isEmpty`: a process outside the main one's group can fork faster than it is found.
    ///
    /// - Returns: The processes that did not get the last signal.
    @discardableResult
    public func kill() -> [SignalFailure] {
        desiredState = .ended
        endSignal = .kill
        findAll()
        stoppedMembers = nil
        heldBefore = []
        heldSignals = []
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

    /// Sends the signal that asked the tree to end to the members that were not known then.
    func passOnEndSignal(except known: Set<ProcessIdentity>) {
        guard let endSignal else { return }
        signal(endSignal, only: containment.members().identities.filter { !known.contains($0) })
    }

    /// A Boolean value that indicates whether the main process has been reaped and every other process has ended.
    public var isEmpty: Bool {
        // Nothing is born in a tree without processes.
        if wasSeenEmpty { return true }
        guard exitStatus != nil || containment.endsWhenEmpty, !containment.mayHaveLeftOthers, let members = allMembers()
        else { return false }
        wasSeenEmpty = !containment.endsWhenEmpty && members.isEmpty
        return releaseHelpers(members).isEmpty
    }
}
