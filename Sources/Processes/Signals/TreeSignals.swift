import CLinux
import Glibc

extension ProcessTree {
    /// As many pidfds as are open at a time.
    private static let pidfdsAtATime = 128
    /// As many descriptors as a look at a process and a signal to it need.
    private static let descriptorsOfLook = 2

    // Where the processes cannot be listed, the main process stands for all that may have missed the signal.

    /// Sends a signal to every process. A process that is born meanwhile may be missed.
    ///
    /// - Parameter members: Those of a look that was just taken, where there was one.
    @discardableResult
    func signalAll(_ signal: Signal, of members: [ProcessStatus]? = nil) -> [SignalFailure] {
        if let isReached = containment.signalTogether(signal) {
            return self.signal(signal, of: members) { !isReached($0) }
        }
        // Of so few, one more look at each takes less than the list of all.
        if let members, members.count <= 2 { return self.signal(signal, only: members.identities) }
        return signalListed(signal, of: members) { _ in true }
    }

    /// Sends a signal to every process but these.
    func signalAll(_ signal: Signal, except others: Set<ProcessIdentity>) -> [SignalFailure] {
        let excepted = Set(others.map { $0.pid })
        return signalListed(signal) { !excepted.contains($0) }
    }

    private func signalListed(
        _ signal: Signal, of members: [ProcessStatus]? = nil, if isWanted: (ProcessID) -> Bool
    ) -> [SignalFailure] {
        do throws(Errno) {
            if let numbers = try containment.memberIDs() {
                return self.signal(signal, toMembers: numbers.filter(isWanted))
            }
        } catch {
            // That does not keep the signal from the main process.
            if exitStatus == nil, isWanted(main.pid) { _ = send(signal, to: main) }
            return [SignalFailure(process: main, error: error)]
        }
        return self.signal(signal, of: members) { isWanted($0.pid) }
    }

    /// Sends a signal to some of the members, of a look that was just taken or is taken now.
    func signal(
        _ signal: Signal, of members: [ProcessStatus]?, if isWanted: (ProcessStatus) -> Bool
    ) -> [SignalFailure] {
        var look = Look()
        if members == nil { look = containment.look() }
        let failures = self.signal(signal, only: (members ?? look.members).filter(isWanted).identities)
        return failures + (look.failure.map { [SignalFailure(process: main, error: $0)] } ?? [])
    }

    /// Sends a signal to these processes and to no others.
    @discardableResult
    func signal(_ signal: Signal, only processes: [ProcessIdentity]) -> [SignalFailure] {
        processes.compactMap { send(signal, to: $0) }
    }

    /// Sends a signal to one process.
    ///
    /// - Returns: The failure; nil if the process got the signal, or is gone.
    func send(_ signal: Signal, to process: ProcessIdentity) -> SignalFailure? {
        let error =
            if process == main, let mainDescriptor {
                sendToMain(signal, through: mainDescriptor)
            } else {
                SignalDelivery.send(signal, to: process, if: containment.maySignal)
            }
        return error.map { SignalFailure(process: process, error: $0) }
    }

    func sendToMain(_ signal: Signal, through descriptor: Int32) -> Errno? {
        do throws(Errno) {
            return try containment.maySignal(main.pid) ? SignalDelivery.send(signal, through: descriptor) : nil
        } catch {
            return error
        }
    }

    /// Sends a signal to processes that were members a moment ago, and are still.
    private func signal(_ signal: Signal, toMembers numbers: [ProcessID]) -> [SignalFailure] {
        var failures: [SignalFailure] = []
        var rest = numbers[...]
        if let mainDescriptor, let index = numbers.firstIndex(of: main.pid), exitStatus == nil {
            rest.remove(at: index)
            sendToMain(signal, through: mainDescriptor).map {
                failures.append(SignalFailure(process: main, error: $0))
            }
        }
        while !rest.isEmpty {
            failures += signalSome(signal, &rest)
        }
        return failures
    }

    /// Signals the next processes, as many as pidfds can be open at a time. A pidfd stands for whichever process had the number: one
    /// that is a member's once the pidfd is open means that process, or it has ended. One list costs less than a look at each.
    ///
    /// - Parameter rest: The processes to be signalled; less those that were.
    private func signalSome(_ signal: Signal, _ rest: inout ArraySlice<ProcessID>) -> [SignalFailure] {
        let opened = openSome(of: &rest)
        defer { for each in opened where each.descriptor >= 0 { _ = Descriptor(owning: each.descriptor) } }
        let list: [ProcessID]
        do throws(Errno) { list = try containment.memberIDs() ?? [] } catch {
            return [SignalFailure(process: main, error: error)]
        }
        let present = list.count <= 1 ? nil : Set(list)
        return opened.filter { present?.contains($0.number) ?? (list.first == $0.number) }.compactMap {
            number, descriptor in
            guard descriptor < 0 else { return failure(SignalDelivery.send(signal, through: descriptor), of: number) }
            // For want of a descriptor, or of a kernel that has pidfds.
            do throws(Errno) {
                return try ProcessStatus(of: number).flatMap { send(signal, to: $0.identity) }
            } catch {
                return SignalFailure(process: main, error: error)
            }
        }
    }

    /// Opens pidfds of the next processes. Where the daemon runs out of descriptors, it leaves two for the looks that follow.
    private func openSome(of rest: inout ArraySlice<ProcessID>) -> [(number: ProcessID, descriptor: Int32)] {
        var opened: [(number: ProcessID, descriptor: Int32)] = []
        while opened.count < Self.pidfdsAtATime, let number = rest.popFirst() {
            let descriptor = linux_pidfd_open(number)
            opened.append((number, descriptor))
            guard descriptor == -EMFILE || descriptor == -ENFILE else { continue }
            for index in opened.indices.suffix(1 + Self.descriptorsOfLook) where opened[index].descriptor >= 0 {
                _ = Descriptor(owning: opened[index].descriptor)
                opened[index].descriptor = descriptor
            }
            break
        }
        return opened
    }

    private func failure(_ error: Errno?, of number: ProcessID) -> SignalFailure? {
        guard let error else { return nil }
        do throws(Errno) {
            return try ProcessStatus(of: number).map { SignalFailure(process: $0.identity, error: error) }
        } catch {
            return SignalFailure(process: main, error: error)
        }
    }
}

/// Signals in the order of descent. A parent that runs while its child is stopped may take it for a job that was stopped by
/// hand: a shell then takes the terminal from it. So parents are stopped before their children, and continued after them.
extension ProcessTree {
    /// Returns the time that one call waits for parents to stop: a process that sleeps takes some ten microseconds.
    private static func patienceOfOneCall(levels: Int) -> Duration { .microseconds(min(300 + 40 * levels, 10_000)) }
    /// The number of levels from which on to freeze a tree takes less time than to wait for each level.
    private static let levelsOfDeepTree = 8
    /// For how long children run on because a parent of theirs has not stopped.
    private static let patience = Duration.milliseconds(100)

    /// Stops parents level by level, and then whatever else is to be stopped. Where a parent takes its time, the rest has to
    /// wait for the next check.
    ///
    /// - Parameters:
    ///   - processes: The processes that may run.
    ///   - began: The start of the stop.
    ///   - stopAll: Sends SIGSTOP to all of them at once.
    func stopTopDown(
        _ processes: [ProcessStatus], since began: BootTime, _ stopAll: () -> [SignalFailure]
    ) {
        let levels = DescentOrder(processes).levelsOfParents
        let deadline = min(BootTime.now + Self.patienceOfOneCall(levels: levels.count), began + Self.patience)
        if levels.count >= Self.levelsOfDeepTree, stopFrozen(processes, deadline) { return }
        for level in levels {
            let failures = signal(.stop, only: level)
            refused += failures
            let haveStopped = waitUntilStopped(
                level.filter { each in !failures.contains { $0.process == each } }, deadline)
            if !haveStopped && BootTime.now < began + Self.patience { return }
        }
        refused += stopAll()
    }

    /// Stops a tree at once, also one that is deep or has processes that replace themselves. A frozen process has returned from
    /// waitpid(2), and when it is thawed it acts on SIGSTOP before it runs.
    ///
    /// - Parameter members: Those of a look that was just taken.
    /// - Returns: False if the tree does not freeze in time or cannot.
    func stopFrozen(_ members: [ProcessStatus], _ deadline: BootTime) -> Bool {
        guard members.allSatisfy(containment.freezes), !containment.isAskedToFreeze, !isFrozenByOther,
            containment.freeze()
        else { return false }
        defer { containment.thaw() }
        while (try? containment.isFrozen()) != true {
            guard BootTime.now < deadline else { return false }
            sched_yield()
        }
        refused += signalAll(.stop)
        return true
    }

    private func waitUntilStopped(_ processes: [ProcessIdentity], _ deadline: BootTime) -> Bool {
        var running = processes[...]
        while true {
            running = running.drop { process in (try? process.readStatus()?.mayWaitForChildren() ?? false) == false }
            if running.isEmpty { return true }
            guard BootTime.now < deadline else { return false }
            sched_yield()
        }
    }

    /// Continues every process: first those that have no children in the tree, and then their parents.
    ///
    /// - Parameter members: Those of a look that was just taken, where there was one.
    @discardableResult
    func resumeBottomUp(_ parents: [[ProcessIdentity]], of members: [ProcessStatus]? = nil) -> [SignalFailure] {
        guard !parents.isEmpty else { return signalAll(.resume, of: members) }
        let failures = signalAll(.resume, except: Set(parents.joined()))
        return failures + parents.reversed().flatMap { signal(.resume, only: $0) }
    }

    /// A Boolean value that indicates whether a process may stop itself without notice from the kernel, because its child had
    /// been stopped, as script(1) and sudo(8) do.
    public var mayStopItselfUnnoticed: Bool {
        desiredState == .running && selfStoppers.contains { !isReported || $0 != main }
    }

    /// Continues processes once more that have stopped themselves since the tree was continued.
    ///
    /// - Returns: Whether there were any.
    public func resumeSelfStopped() -> Bool {
        guard desiredState == .running else { return false }
        let statuses = selfStoppers.compactMap { try? $0.readStatus() }
        selfStoppers = Set(statuses.identities)
        let stopped = DescentOrder(statuses.filter { $0.state == .stopped }).bottomUp
        signal(.resume, only: stopped.identities)
        return !stopped.isEmpty
    }
}
