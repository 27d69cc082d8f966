import OrderedCollections

// What keeps an app running in the background: tasks for a limited time, activities for as long as they last, and uses.

extension AppMachine {
    // MARK: Tasks and activities

    mutating func begin(_ kind: Assertion.Kind, _ number: UInt64, _ name: String, _ shared: inout Shared) {
        // An app that has reconnected asks again for what it holds.
        let isHeld = assertions.held.contains { $0.kind == kind && $0.number == number && $0.name == name }
        let refusal = isHeld ? nil : refusal(of: kind, number, name, shared)
        if refusal == nil, !isHeld {
            assertions.held.append(Assertion(kind: kind, number: number, name: name, since: shared.now))
            if kind == .task, state == .background { startTaskTime(&shared) }
            turnBackStop(&shared)
        }
        shared.ready.messages.append(.answerAssertion(index, number, refusal))
    }

    /// Continues an app whose stop is under way, or was seen before the line of the assertion was read: a suspended app sends none.
    private mutating func turnBackStop(_ shared: inout Shared) {
        guard target == .suspended, assertions.userOverride != .suspend else { return }
        switch phase {
        case .stopping: phase = .resuming(isSuspended: false)
        // A request that was answered with the suspension stands.
        case .suspended where desiredReason != .suspend: phase = .resuming(isSuspended: true)
        case .notRunning, .spawning, .running, .suspended, .resuming, .terminating: return
        }
        shared.ready.operations.append(.resume(index))
    }

    private func refusal(
        of kind: Assertion.Kind, _ number: UInt64, _ name: String, _ shared: borrowing Shared
    ) -> AssertionRefusal? {
        if assertions.held.contains(where: { $0.number == number }) { return .duplicate }
        if assertions.held.count >= policy.assertionLimit { return .tooMany }
        switch kind {
        case .task:
            let isTimeUp = !state.isForeground && !isKeptRunning && shared.now >= endOfTaskTime
            return isTimeUp ? .timeIsUp : nil
        case .activity: return policy.backgroundModes.contains(name) ? nil : .undeclared
        }
    }

    mutating func endAssertion(_ number: UInt64, _ shared: inout Shared) {
        let hadActivity = assertions.activity != nil
        assertions.held.removeAll { $0.number == number }
        if hadActivity, assertions.activity == nil { assertions.lastUse = shared.now }
        if !assertions.hasTasks { endTaskExpiration(&shared) }
    }

    mutating func dropAssertions(_ shared: inout Shared) {
        assertions.held = []
        shared.deadlines.clear(.tasks, index)
        endTaskExpiration(&shared)
    }

    /// Ends the background time and the time of the tasks: they run in the background only.
    mutating func leaveBackground(_ shared: inout Shared) {
        shared.deadlines.clear(.background, index)
        shared.deadlines.clear(.tasks, index)
        endTaskExpiration(&shared)
    }

    private mutating func endTaskExpiration(_ shared: inout Shared) {
        shared.deadlines.clear(.taskExpiration, index)
        assertions.expiration = nil
    }

    // MARK: The time of tasks

    /// A Boolean value that indicates whether something without a time limit keeps the app running in the background: the time of
    /// its tasks rests.
    private var isKeptRunning: Bool {
        assertions.use != nil || assertions.userOverride == .keepRunning || policy.suspend == .never
            || assertions.activity != nil
    }

    /// Lets the time of the tasks rest while the app is kept running without a limit, and begins it anew after that.
    mutating func updateTaskTime(_ shared: inout Shared) {
        guard state == .background, assertions.hasTasks else { return }
        if isKeptRunning {
            shared.deadlines.clear(.tasks, index)
            endTaskExpiration(&shared)
        } else if shared.deadlines[.tasks, index] == nil, shared.deadlines[.taskExpiration, index] == nil {
            assertions.lastUse = shared.now
            startTaskTime(&shared)
        }
    }

    /// The end of the time that all tasks share: from the entry into the background, or from the end of what kept the app running.
    private var endOfTaskTime: Instant {
        // An app that is to be suspended by request has none.
        if desiredReason == .suspend, assertions.userOverride != .suspend { return since }
        let start = assertions.background ?? since
        return max(start, assertions.lastUse ?? start) + policy.timeouts.task
    }

    mutating func startTaskTime(_ shared: inout Shared) {
        guard !isKeptRunning, shared.deadlines[.tasks, index] == nil else { return }
        shared.deadlines.set(.tasks, index, at: endOfTaskTime)
    }

    /// Ends the time of the tasks now, if it runs.
    mutating func endTaskTime(_ shared: inout Shared) {
        guard shared.deadlines[.tasks, index] != nil else { return }
        shared.deadlines.set(.tasks, index, at: shared.now)
    }

    /// Tells the app that its tasks have expired; it has a few seconds to end them. An app that may reconnect is told then.
    mutating func expireTasks(_ shared: inout Shared) {
        guard state == .background, assertions.hasTasks else { return }
        let deadline = shared.now + policy.timeouts.taskExpiration
        let reconnection = shared.deadlines[.reconnection, index] ?? deadline
        shared.deadlines.set(.taskExpiration, index, at: max(deadline, reconnection))
        guard !isReconnecting else { return }
        assertions.expiration = deadline
        reportExpiration(deadline, &shared)
    }

    /// Tells an app that has reconnected: with the time that is left, or with all of it if it was not told before. What it said
    /// in time is read first.
    mutating func expireTasksAgain(_ shared: inout Shared) {
        guard state == .background, assertions.hasTasks else { return }
        guard let deadline = assertions.expiration else { return expireTasks(&shared) }
        reportExpiration(max(deadline, shared.now), &shared)
    }

    private func reportExpiration(_ deadline: Instant, _ shared: inout Shared) {
        for assertion in assertions.held where assertion.kind == .task {
            shared.ready.messages.append(.expireTask(index, assertion.number, deadline: deadline))
        }
    }

    /// Handles expired tasks that the app did not end in time; returns whether it is killed for that.
    mutating func tasksOverdue(_ shared: inout Shared) -> Bool {
        guard assertions.hasTasks else { return false }
        shared.announce(.tasksOverdue(id, assertions.held.filter { $0.kind == .task }), of: index)
        return true
    }

    /// Returns the instant at which the time of the tasks ends or has ended; nil if it does not run.
    func taskTimeEnd(_ shared: borrowing Shared) -> Instant? {
        guard state == .background, !isKeptRunning else { return nil }
        return shared.deadlines[.taskExpiration, index] == nil ? endOfTaskTime : shared.now
    }

    // MARK: Suspension by request

    /// Returns the refusal of a request to suspend the app; nil if it can be suspended.
    ///
    /// - Parameters:
    ///   - isAtOnce: Whether the app is suspended whatever it holds.
    ///   - staysInForeground: Whether the app is the home app, and no other is in the foreground.
    func refusalOfSuspension(atOnce isAtOnce: Bool, staysInForeground: Bool) -> Refusal? {
        // The reason of its end decides whether it is restored, and it is not suspended any more.
        if desired.isEnd { return .terminating(id) }
        if policy.suspend == .never { return .neverSuspended(id) }
        if staysInForeground { return .homeStaysInForeground(id) }
        if isAtOnce { return nil }
        if let activity = assertions.activity { return .assertionHeld(id, by: activity) }
        return use.map { .inUse(id, $0) }
    }

    /// Sends the app to the background to be suspended: when it has ended its tasks and its work, or at once.
    mutating func suspend(atOnce isAtOnce: Bool, _ shared: inout Shared) {
        assertions.userOverride = isAtOnce ? .suspend : .none
        endWorkTime(&shared)
        shared.deadlines.clear(.background, index)
        leaveForeground(reason: .suspend, &shared)
        if isAtOnce { dropWork(&shared) } else { endTaskTime(&shared) }
    }

    // MARK: Uses

    /// Updates the use that keeps the app running, and applies what follows from a change.
    mutating func updateUse(_ shared: inout Shared) {
        guard !assertions.reportedUses.isEmpty || assertions.use != nil else { return }
        let use = keepingUse(shared)
        let before = assertions.use
        guard use != before else { return }
        assertions.use = use
        if let use {
            if before == nil { beginUse(use, &shared) }
        } else {
            endUse(&shared)
        }
    }

    private func keepingUse(_ shared: borrowing Shared) -> Use? {
        guard isRunning else { return nil }
        return Use.allCases.first { assertions.reportedUses.contains($0) && keeps($0, shared) }
    }

    /// Returns whether a use keeps the app running. No app is visible behind a blocker, and sound resumes none.
    private func keeps(_ use: Use, _ shared: borrowing Shared) -> Bool {
        guard shared.settings.keptUses.keep(use, policy) else { return false }
        switch use {
        case .visible, .pointed: return shared.blockers.isEmpty
        case .playing: return assertions.use == .playing || !isStoppedOrStopping
        case .called, .awaited, .unread, .relaunched, .unfollowed: return true
        }
    }

    /// Begins a use. No request waits for a suspension.
    private mutating func beginUse(_ use: Use, _ shared: inout Shared) {
        assertions.endSuspension()
        refuseWaiters(with: .inUse(id, use), &shared) { $0 == .suspended }
        if desired == .run, isStoppedOrStopping, !shared.foreground.contains(index) {
            desiredReason = use.reason
        }
    }

    /// Gives the app its background time, connected or not: the source of the reports may be restarting, or the window may be
    /// about to come back.
    private mutating func endUse(_ shared: inout Shared) {
        guard state == .background else { return }
        assertions.lastUse = shared.now
        setBackgroundDeadline(&shared)
    }
}

extension Use {
    /// The reason of a resumption that the use causes.
    var reason: Reason {
        switch self {
        case .visible: .visible
        case .pointed: .pointed
        case .playing: .playing
        case .called: .called
        case .awaited: .awaited
        case .unread: .unread
        case .relaunched: .relaunched
        case .unfollowed: .unfollowed
        }
    }
}
