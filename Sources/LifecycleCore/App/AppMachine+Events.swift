// The events of an app: which wait, when they are delivered, and their outcomes. An event for a suspended app waits until the app
// runs for another reason; a task is a reason. Events with an outcome keep their order, and of the others one of a kind is enough.

extension AppMachine {
    /// Queues the event. An app that does not run is not told of events without an outcome; for others the caller sees to it
    /// that the app runs or is launched.
    ///
    /// - Returns: The number of an event with an outcome; nil if too many wait already.
    @discardableResult
    mutating func queue(_ event: AppEvent, _ shared: inout Shared) -> UInt64? {
        guard event.hasOutcome else {
            if isConnected, state.isAlive { coalesce(event, &shared) }
            return nil
        }
        guard outbox.events.count(where: { $0.event.hasOutcome }) < Outbox.eventLimit else { return nil }
        assertions.endSuspension()
        shared.reconciles.appendOnce(index)
        return outbox.append(event)
    }

    /// Queues an event unless the same one waits. If its opposite waits, neither is delivered.
    private mutating func coalesce(_ event: AppEvent, _ shared: inout Shared) {
        guard !outbox.events.contains(where: { $0.event == event }) else { return }
        if let opposite = event.opposite, outbox.events.contains(where: { $0.event == opposite }) {
            outbox.events.removeAll { $0.event == opposite }
        } else {
            _ = outbox.append(event)
            shared.reconciles.appendOnce(index)
        }
    }

    // MARK: Delivery

    /// Delivers the first event that has its place now; returns whether there is one.
    mutating func deliverEvent(_ shared: inout Shared) -> Bool {
        guard !outbox.events.isEmpty, canReceive else { return false }
        // An app that has just connected may be active already without having been told so.
        guard outbox.callbacks.first?.isActivation ?? true else { return false }
        guard let position = outbox.events.firstIndex(where: { canDeliver($0.event) }),
            let callback = PendingCallback(outbox.events[position].event.callback)
        else { return false }
        send(callback, next: nil, event: outbox.events.remove(at: position), &shared)
        return true
    }

    /// Gives an app without other steps its next task. The app works on it while it gets other callbacks.
    mutating func deliverTask(_ shared: inout Shared) {
        guard canReceive, outbox.task == nil, outbox.callbacks.isEmpty,
            let position = outbox.events.firstIndex(where: { $0.event.isTask })
        else { return }
        let deadline = shared.now + policy.timeouts.task
        outbox.lastSequence += 1
        var delivery = delivery(
            of: .task, sequence: outbox.lastSequence, deadline: deadline, state: state)
        delivery.subject = .event(outbox.events.remove(at: position))
        outbox.task = delivery
        shared.deadlines.set(.performTask, index, at: deadline)
        shared.ready.messages.append(.deliver(index, delivery))
    }

    /// A Boolean value that indicates whether work, or the time for it, keeps the app from being suspended.
    var hasWork: Bool { assertions.isWoken || outbox.hasTask }

    /// A Boolean value that indicates whether the app can be sent a callback right now.
    private var canReceive: Bool {
        guard channel == .connected, target.isAlive, case .running(_, sentCallback: nil) = phase else { return false }
        return true
    }

    /// A Boolean value that indicates whether the app is at its destination, or about to be suspended there.
    private var isAtDestination: Bool {
        state == destination || (state == .background && destination == .suspended)
    }

    /// Returns whether the event has its place between the callbacks now.
    private func canDeliver(_ event: AppEvent) -> Bool {
        guard outbox.callbacks.isEmpty || event.isForForeground else { return false }
        switch event {
        // In an app with scenes, one of them shows it.
        case .openURL, .continueActivity:
            return state.isForeground && target.isForeground && (!hasScenes || scenes.appState != .background)
        case .performTask: return false
        // The data is put away before the app leaves the foreground.
        case .notice(.protectedDataWillBecomeUnavailable): return true
        // An app that becomes active after an unlock has its data by then.
        case .notice(.protectedDataDidBecomeAvailable):
            return isAtDestination || (state == .inactive && target == .active)
        // These delay no step of the app.
        case .notice: return isAtDestination
        }
    }

    // MARK: Connection

    /// Lets the events of an app that was launched just now wait for its connection.
    mutating func awaitConnection(_ shared: inout Shared) {
        guard !isConnected, state.isAlive, !outbox.events.isEmpty || waiters.contains(where: { $0.goal == .answered })
        else { return }
        guard canBeTold else { return dropEvents(.notListening, &shared) }
        guard shared.deadlines[.hello, index] == nil else { return }
        let end = (launch.instant ?? shared.now) + policy.timeouts.launch
        if end <= shared.now {
            dropEvents(.notListening, &shared)
        } else {
            shared.deadlines.set(.hello, index, at: end)
        }
    }

    mutating func connectionOverdue(_ shared: inout Shared) {
        guard !isConnected else { return }
        let hadWork = hasWork
        dropEvents(.notListening, &shared)
        // What it was launched for, and could not be told, it may do all the same.
        if hadWork, desired == .run { grantWorkTime(since: launch.instant, &shared) }
    }

    // MARK: Launch for an event

    /// Notes the URL that the app is launched to open. An app that takes it as an argument has it then, unless it is sure to connect.
    mutating func prepareLaunchURL() {
        let waiting = outbox.events.first { $0.event.url != nil }
        launch.url = waiting?.event.url
        launch.event = waiting?.number
        launch.hasDeclined = false
        if let waiting, policy.takesURLs, policy.callbacks != .required { outbox.removeEvent(waiting.number) }
    }

    /// Finishes the URL that the program took as an argument, now that it runs.
    mutating func finishLaunchURL(_ shared: inout Shared) {
        guard let number = launch.event, let url = argumentURL else { return }
        launch.event = nil
        finish(QueuedEvent(number: number, event: .openURL(url)), .handled, &shared)
    }

    /// Notes the answer to a launch callback. Both decide whether the app gets the event that it was launched for.
    mutating func noteLaunchAnswer(_ callback: Callback, _ answer: AppAnswer, _ shared: inout Shared) {
        if callback == .willFinishLaunching {
            launch.hasDeclined = answer == .handled(false)
        } else if callback == .didFinishLaunching, launch.hasDeclined, answer == .handled(false),
            let event = outbox.events.first(where: { $0.number == launch.event })
        {
            outbox.removeEvent(event.number)
            finish(event, .declined, &shared)
        }
    }

    // MARK: Outcomes

    mutating func taskOverdue(_ shared: inout Shared) {
        guard outbox.task?.event != nil else { return }
        shared.announce(.answerOverdue(id, .performTask), of: index)
        endTask(&shared) { _ in .unanswered }
    }

    /// Ends the task that the app works on.
    mutating func endTask(
        _ shared: inout Shared, begun: Termination? = nil, _ outcome: (AppEvent) -> EventOutcome
    ) {
        guard let event = outbox.task?.event else { return }
        outbox.task = nil
        shared.deadlines.clear(.performTask, index)
        finish(event, outcome(event.event), begun: begun, &shared)
    }

    /// Finishes the event that the app was sent, if any, without its answer.
    mutating func abandonEvent(_ outcome: EventOutcome, begun: Termination? = nil, _ shared: inout Shared) {
        guard let event = sentCallback?.delivery.event else { return }
        finish(event, outcome, begun: begun, &shared)
    }

    /// Finishes all events of an app that cannot be told of them any more, because its end has begun, or for another reason.
    mutating func dropEvents(_ outcome: EventOutcome, begun: Termination? = nil, _ shared: inout Shared) {
        // The event that the app was sent is unanswered; only the others were not received.
        let outcomeOfSent = outcome == .notListening ? .unanswered : outcome
        abandonEvent(outcomeOfSent, begun: begun, &shared)
        let events = outbox.events
        outbox.events = []
        endTask(&shared, begun: begun) { _ in outcomeOfSent }
        for event in events { finish(event, outcome, begun: begun, &shared) }
        shared.deadlines.clear(.hello, index)
    }

    /// Finishes the background work of an app that is suspended before it has done it.
    mutating func dropWork(_ shared: inout Shared) {
        let dropped = outbox.events.filter { $0.event.isTask }
        outbox.events.removeAll { $0.event.isTask }
        endTask(&shared) { _ in .lost }
        for event in dropped { finish(event, .lost, &shared) }
    }

    /// Reports the outcome of an event, and answers the requests that wait for it. The only end of every event.
    mutating func finish(
        _ event: QueuedEvent, _ outcome: EventOutcome, begun: Termination? = nil, _ shared: inout Shared
    ) {
        guard event.event.hasOutcome else { return }
        shared.announce(.eventEnded(id, event.event, outcome), of: index)
        let waiting = removeWaiters { if case .event(event.number, _) = $0 { true } else { false } }
        for waiter in waiting {
            // An app that ended did not answer, and its exit says more than that.
            let reply: Reply =
                outcome == .lost ? .refused(lossRefusal(begun: begun, shared.now)) : .ended(outcome, self)
            shared.ready.answer(waiter.request, reply)
        }
    }

    // MARK: Work

    /// Returns whether the app cannot be told what it is woken for, now or soon.
    func cannotBeTold(_ now: Instant) -> Bool {
        if !canBeTold { return true }
        guard state.isAlive, !isConnected else { return false }
        return now >= (launch.instant ?? now) + policy.timeouts.launch
    }

    /// Gives the app time, from now or from `start` on, for work that it cannot be told of. The router runs the app.
    mutating func grantWorkTime(since start: Instant? = nil, _ shared: inout Shared) {
        assertions.isWoken = true
        // A record may say that the app was launched in the future.
        shared.deadlines.set(.woken, index, at: min(start ?? shared.now, shared.now) + policy.timeouts.task)
        shared.reconciles.appendOnce(index)
    }

    /// Ends the time for work that the app cannot be told of.
    mutating func endWorkTime(_ shared: inout Shared) {
        guard assertions.isWoken else { return }
        assertions.isWoken = false
        shared.deadlines.clear(.woken, index)
    }
}
