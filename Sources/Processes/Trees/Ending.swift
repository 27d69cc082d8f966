/// The order in which the processes of a tree are asked to end.
public enum EndOrder: Hashable, Sendable {
    /// The main process, or the program that it wraps, and the others when that has ended: it may need them to save.
    case mainFirst
    case together
}

/// A request to end, and who has got it.
enum EndRequest: Hashable {
    case none
    /// These have got the signal. The others get it when these have ended.
    case first([ProcessIdentity], Signal)
    case all(Signal)
}

extension ProcessTree {
    /// Asks the processes to end, and then sends SIGCONT to all: a stopped process acts on nothing but SIGKILL.
    ///
    /// - Parameters:
    ///   - signal: The request to end, which processes may handle.
    ///   - order: With ``EndOrder/mainFirst``, the table asks the others when it notices the end of the first. Call
    ///     `ProcessTable.checkMain(of:)` at the end of each process of ``processesAskedFirst``.
    /// - Returns: The processes that did not get the signal.
    @discardableResult
    public func terminate(with signal: Signal = .terminate, _ order: EndOrder = .mainFirst) -> [SignalFailure] {
        let parents = desiredState == .stopped ? parentsToContinue() : []
        desiredState = .ended
        // Helpers that have left are continued first.
        let members = findAll()
        stoppedMembers = nil
        stoppedByOthers = []
        signalsForLater = []
        let first = order == .mainFirst ? askedFirst(among: members ?? [], by: signal) : []
        endRequest = first.isEmpty ? .all(signal) : .first(first, signal)
        let failures = first.isEmpty ? signalAll(signal, of: members) : self.signal(signal, only: first)
        resumeBottomUp(parents, of: members)
        endFreezing()
        // Programs of another user, such as sudo: nobody need wait for what was never asked.
        let mayReachAny = first.contains { (try? containment.maySignal($0.pid)) ?? true }
        if failures.count == first.count || !mayReachAny { askOthers() }
        return failures
    }

    /// Returns none if the main process has ended.
    private func askedFirst(among members: [ProcessStatus], by signal: Signal) -> [ProcessIdentity] {
        if exitStatus != nil { return [] }
        // Most apps are a main process alone.
        return members.count == 1 && members[0].identity == main
            ? [main] : Wrappers(members, askedBy: signal).askedFirst(main: main)
    }

    /// The processes that have been asked to end, and whose ends the others wait for; the kernel tells only that of the main process.
    public var processesAskedFirst: [ProcessIdentity] {
        if case .first(let first, _) = endRequest { first } else { [] }
    }

    /// Asks the others to end if each process that was asked first has ended.
    func askOthersIfDue() {
        let haveEnded = processesAskedFirst.allSatisfy { $0 == main ? exitStatus != nil : (try? $0.hasEnded()) == true }
        if haveEnded { askOthers() }
    }

    /// Asks the processes to end that wait for the ends of those that were asked first. Call it if these ends cannot be noticed.
    public func askOthers() {
        guard case .first(let first, let signal) = endRequest else { return }
        endRequest = .all(signal)
        var asked = Set(first)
        // A shell may have started its next command after a look, and before it got the signal.
        for _ in 0..<Self.roundsOfOneCall {
            let others = (findAll() ?? containment.members()).filter { !asked.contains($0.identity) }
            if others.isEmpty { break }
            self.signal(signal, only: others.identities)
            // One may have stopped itself meanwhile.
            self.signal(.resume, only: others.filter { $0.state == .stopped }.identities)
            asked.formUnion(others.identities)
        }
    }

    /// Sends a signal to every process, and changes nothing else: a stopped process acts on it when it is continued.
    ///
    /// - Returns: The processes that did not get the signal.
    public func send(_ signal: Signal) -> [SignalFailure] {
        if desiredState == .stopped, isFreezing {
            // The kernel ends a frozen process at once if the signal ends it by default, and leaves a stopped one alone.
            if !signalsForLater.contains(signal) { signalsForLater.append(signal) }
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
        endRequest = .all(.kill)
        findAll()
        stoppedMembers = nil
        stoppedByOthers = []
        signalsForLater = []
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

    /// A Boolean value that indicates whether the main process has been reaped and every other process has ended.
    public var isEmpty: Bool {
        // Nothing is born in a tree without processes.
        if wasSeenEmpty { return true }
        guard exitStatus != nil || containment.endsWhenEmpty else { return false }
        let look = containment.look()
        guard let left = try? releaseHelpers(look).all(), left.isEmpty, (try? containment.isPopulated()) == false
        else { return false }
        wasSeenEmpty = !containment.endsWhenEmpty && look.members.isEmpty
        return true
    }
}
