// An app as it is saved. What follows from the rest (`target`), what is configured (`policy`) and which requests wait for it
// (`waiters`) is left out. The record of an app that does not run has the values that its next launch needs.

extension AppMachine {
    /// True if nothing is known of the app but its definition.
    var isFresh: Bool {
        !isRunning && desired == .rest && lastExit == nil && reason == .none && scenes.all.isEmpty
    }

    /// Writes the record of the app and its deadlines, or reads them.
    mutating func code(_ deadlines: inout [SavedDeadline], with coder: inout SavedCoder) {
        coder.list("deadline", &deadlines)
        code(with: &coder)
    }

    /// Writes or reads the values: the table of a saved app.
    mutating func code(with coder: inout SavedCoder) {
        let awaitsAnswer = phase.code(with: &coder)
        coder.reason("reason", &reason)
        coder.instant("since", &since)
        desired = coder.word("wish", desired) ?? (state.isAlive ? .run : .rest)
        // An app without a process has none to end first.
        if desired == .restart, !isRunning { desired = .run }
        coder.reason("wish-reason", &desiredReason)
        let exit = coder.item("exit", lastExit)
        let account = ReclaimRecord.code(reclaimed, with: &coder)
        if coder.isReading { (lastExit, reclaimed) = (exit, account) }
        codeRestart(with: &coder)
        coder.list("scene", &scenes.all)
        coder.list("scene-front", &scenes.foreground)
        if coder.isReading { scenes = Scenes(saved: scenes, in: state) }
        if isRunning { codeRun(awaitsAnswer, with: &coder) }
        let failure = coder.word("restore-failure", lastExit?.restoreFailure)
        if coder.isReading { lastExit?.restoreFailure = failure }
    }

    /// Writes or reads the values of an app that runs.
    private mutating func codeRun(_ awaitsAnswer: Bool, with coder: inout SavedCoder) {
        let isConnected = coder.flag("linked", isConnected)
        if coder.isReading { channel = isConnected ? .reconnecting(mayHaveReceivedNext: false) : .none }
        coder.flag("scenes", &launch.hasScenes)
        let isKeptRunning = coder.flag("awake", assertions.userOverride == .keepRunning)
        let isSuspended = coder.flag("suspended-at-once", assertions.userOverride == .suspend)
        if coder.isReading { assertions.userOverride = isSuspended ? .suspend : isKeptRunning ? .keepRunning : .none }
        coder.flag("woken", &assertions.isWoken)
        // The reports of uses are gone. The use ends at the first look, and the app has some time until they are back.
        coder.word("use", &assertions.use)
        coder.instant("last-in-use", &assertions.lastUse)
        coder.flag("stopped-by-other", &isStoppedByOther)
        coder.flag("been-in-front", &wasInForeground)
        coder.instant("last-in-front", &lastInForeground)
        coder.instant("launched", &launch.instant)
        launch.reason = coder.word("launch-reason", launch.reason) ?? .launch
        coder.flag("has-launched", &launch.isComplete)
        coder.text("launch-url", &launch.url)
        coder.number("launch-event", &launch.event)
        coder.flag("declined", &launch.hasDeclined)
        coder.counter("sequence", &outbox.lastSequence)
        coder.list("owed", &outbox.callbacks)
        let mayHaveReceivedNext = coder.flag("may-have-heard", channel == .reconnecting(mayHaveReceivedNext: true))
        if coder.isReading, mayHaveReceivedNext, isConnected, !outbox.callbacks.isEmpty {
            channel = .reconnecting(mayHaveReceivedNext: true)
        }
        coder.list("hold", &assertions.held)
        coder.instant("task-deadline", &assertions.expiration)
        coder.list("event", &outbox.events)
        coder.counter("last-event", &outbox.lastEvent)
        codeTask(with: &coder)
        if awaitsAnswer { codeSentCallback(with: &coder) }
        coder.list("resignation", &outbox.resignations)
        if coder.isReading { dropStrayResignations() }
        coder.instant("scenes-end-began", &sceneDisconnectionStart)
        coder.instant("in-background-since", &assertions.background)
    }

    private mutating func codeRestart(with coder: inout SavedCoder) {
        let failures = coder.number("failures", restart.failures > 0 ? UInt64(restart.failures) : nil)
        let isLimitReached = coder.flag("given-up", restart.isLimitReached)
        guard coder.isReading else { return }
        let times = Int(clamping: min(failures ?? 0, 1000))
        restart = isLimitReached ? .limitReached(times: times) : times > 0 ? .failed(times: times) : .steady
    }

    // MARK: The callback without an answer

    private mutating func codeSentCallback(with coder: inout SavedCoder) {
        let former = sentCallback
        let delivery = codeDelivery(former?.delivery, with: &coder)
        let sent = coder.instant("sent", former?.sent)
        let next = NextState.code(former?.next, with: &coder)
        // An app that is not connected answers nothing, whatever the record says.
        guard coder.isReading, isConnected, case .running(let state, _) = phase, let delivery else { return }
        phase = .running(state, sentCallback: SentCallback(delivery: delivery, sent: sent ?? since, next: next))
    }

    /// Writes the callback that the app has not answered, or reads it; nil if it would have no meaning when it is sent again.
    private func codeDelivery(_ given: Delivery?, with coder: inout SavedCoder) -> Delivery? {
        let callback = coder.word("callback", given?.callback)
        let sequence = coder.number("told-sequence", given?.sequence)
        let event = coder.item("told-event", given?.event)
        let scene = coder.item("told-scene", given?.pending.scene)
        let sceneReason = coder.text("told-scene-reason", given?.sceneReason?.rawValue)
        let deadline = coder.instant("answer-by", given?.deadline)
        let told = coder.word("told-state", given?.state)
        guard coder.isReading, let callback, let pending = PendingCallback(callback, scene), let deadline, let told,
            event.map({ $0.event.callback == callback }) ?? !callback.needsEvent
        else { return nil }
        var delivery = delivery(
            of: pending, sequence: sequence ?? outbox.lastSequence, deadline: deadline, state: told)
        if scene != nil { delivery.subject = sceneReason.flatMap { SceneReason(rawValue: $0) }.map { .scene($0) } }
        if let event { delivery.subject = .event(event) }
        return delivery
    }

    private mutating func dropStrayResignations() {
        let before = sentCallback?.delivery.sequence
        let last = outbox.lastSequence
        outbox.resignations.removeAll { resignation in
            before.map { resignation.delivery.sequence <= $0 || resignation.delivery.sequence > last } ?? true
        }
    }

    // MARK: The task under way

    private mutating func codeTask(with coder: inout SavedCoder) {
        guard let event = coder.item("task", outbox.task?.event) else { return }
        let sequence = coder.number("task-sequence", outbox.task?.sequence)
        let deadline = coder.instant("task-until", outbox.task?.deadline)
        let told = coder.word("task-state", outbox.task?.state)
        // Work is done by a process that was told of it, and ends with that.
        guard coder.isReading, state.isAlive, isConnected, event.event.isTask, let sequence, let deadline, let told
        else { return }
        var delivery = delivery(of: .task, sequence: sequence, deadline: deadline, state: told)
        delivery.subject = .event(event)
        outbox.task = delivery
    }
}

extension Phase {
    /// The operation that is pending, as it is saved.
    private enum Operation: String {
        case spawn, answer, stop, resume, end
    }

    private var operation: Operation? {
        switch self {
        case .notRunning, .running(_, sentCallback: nil), .suspended(isConfirmed: true): nil
        case .spawning: .spawn
        case .running: .answer
        case .stopping, .suspended: .stop
        case .resuming: .resume
        case .terminating: .end
        }
    }

    /// Writes or reads the phase; returns whether a callback without an answer follows in the record.
    fileprivate mutating func code(with coder: inout SavedCoder) -> Bool {
        let state = coder.word("state", self.state) ?? .notRunning
        let termination = coder.item("ending", self.termination)
        let operation = coder.word("awaiting", self.operation)
        guard operation == .spawn else {
            if coder.isReading { self = Phase(state, operation, termination) }
            return operation == .answer
        }
        var next: RunningState?
        if case .spawning(let to, _) = self { next = to }
        coder.word("next", &next)
        guard coder.isReading else { return false }
        // An operation that the state does not allow is left out.
        if state == .notRunning, let next, state.edge(to: next.appState) != nil {
            self = .spawning(to: next, termination)
        } else {
            self = Phase(state, nil, termination)
        }
        return false
    }

    /// Creates the phase of a saved state but `spawning`. An operation that the state does not allow is left out.
    private init(_ state: AppState, _ operation: Operation?, _ termination: Termination?) {
        switch (state, operation) {
        case (.notRunning, _): self = .notRunning
        case (.background, .stop): self = .stopping
        case (.background, .resume): self = .resuming(isSuspended: false)
        case (.suspended, .stop): self = .suspended(isConfirmed: false)
        case (.suspended, .resume): self = .resuming(isSuspended: true)
        case (.suspended, _): self = .suspended(isConfirmed: true)
        case (.terminating, _): self = .terminating(termination ?? Termination(state: .terminating, reason: .crash))
        case (.inactive, _): self = .running(.inactive, sentCallback: nil)
        case (.active, _): self = .running(.active, sentCallback: nil)
        case (.background, _): self = .running(.background, sentCallback: nil)
        }
    }
}
