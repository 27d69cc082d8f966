// An app as it is saved. What follows from the rest (`target`), what is configured (`policy`) and which requests wait for it
// (`waiters`) is left out. The record of an app that does not run has the values that its next launch needs.

extension AppMachine {
    /// A Boolean value that indicates whether nothing is known of the app but its definition.
    @inline(__always) var isFresh: Bool {
        !isRunning && desired == .rest && lastExit == nil && reason == .none && scenes.all.isEmpty
    }

    /// Writes the record of the app and its deadlines, or reads them. The id is known before it is read.
    mutating func code(_ deadlines: inout [SavedDeadline], with coder: inout some SavedCoder & ~Copyable) {
        var name: String? = id.name
        coder.text("id", &name)
        coder.list("deadline", &deadlines)
        code(with: &coder)
    }

    /// Writes or reads the values: the table of a saved app.
    mutating func code(with coder: inout some SavedCoder & ~Copyable) {
        let awaitsAnswer = phase.code(with: &coder)
        coder.reason("reason", &reason)
        coder.instant("since", &since)
        codeDesired(with: &coder)
        coder.reason("wish-reason", &desiredReason)
        var exit = lastExit
        coder.item("exit", &exit)
        if coder.isReading { lastExit = exit }
        codeReclaimed(with: &coder)
        codeRestart(with: &coder)
        coder.list("scene", &scenes.all)
        coder.list("scene-front", &scenes.foreground)
        if coder.isReading { scenes = Scenes(saved: scenes, in: state) }
        if isRunning { codeRun(awaitsAnswer, with: &coder) }
    }

    /// Writes or reads the values of an app that runs.
    private mutating func codeRun(_ awaitsAnswer: Bool, with coder: inout some SavedCoder & ~Copyable) {
        var isConnected = isConnected
        coder.flag("linked", &isConnected)
        if coder.isReading { channel = isConnected ? .reconnecting(mayHaveReceivedNext: false) : .none }
        coder.flag("scenes", &launch.hasScenes)
        coder.flag("awake", &assertions.isKeptRunning)
        coder.flag("suspended-at-once", &assertions.isOverridden)
        coder.flag("woken", &assertions.isWoken)
        // The reports of uses are gone. The use ends at the first look, and the app has some time until they are back.
        coder.word("use", &assertions.use)
        coder.instant("last-in-use", &assertions.lastUse)
        coder.flag("stopped-by-other", &isStoppedByOther)
        coder.flag("been-in-front", &wasInForeground)
        coder.instant("last-in-front", &lastInForeground)
        codeLaunch(with: &coder)
        coder.number("sequence", &outbox.lastSequence)
        // There are always some numbers left to count on.
        if coder.isReading, outbox.lastSequence >= 1 << 62 { outbox.lastSequence = 0 }
        coder.list("owed", &outbox.callbacks)
        var mayHaveReceivedNext = channel == .reconnecting(mayHaveReceivedNext: true)
        coder.flag("may-have-heard", &mayHaveReceivedNext)
        if coder.isReading, mayHaveReceivedNext, isConnected, !outbox.callbacks.isEmpty {
            channel = .reconnecting(mayHaveReceivedNext: true)
        }
        coder.list("hold", &assertions.held)
        coder.instant("task-deadline", &assertions.expiration)
        coder.list("event", &outbox.events)
        coder.number("last-event", &outbox.lastEvent)
        codeTask(with: &coder)
        if awaitsAnswer { codeAwaited(with: &coder) }
        coder.list("resignation", &outbox.resignations)
        if coder.isReading { dropStrayResignations() }
    }

    @inline(__always) private mutating func codeDesired(with coder: inout some SavedCoder & ~Copyable) {
        var word: String? = desired.word
        coder.text("wish", &word)
        guard coder.isReading else { return }
        desired = word.flatMap { Desired(word: $0) } ?? (state.isAlive ? .run : .rest)
    }

    @inline(__always) private mutating func codeReclaimed(with coder: inout some SavedCoder & ~Copyable) {
        var account = reclaimed
        ReclaimRecord.code(&account, with: &coder)
        if coder.isReading { reclaimed = account }
    }

    @inline(__always) private mutating func codeRestart(with coder: inout some SavedCoder & ~Copyable) {
        var failures = restart.failures > 0 ? UInt64(restart.failures) : nil
        var isLimitReached = restart.isLimitReached
        coder.number("failures", &failures)
        coder.flag("given-up", &isLimitReached)
        guard coder.isReading else { return }
        let times = Int(clamping: min(failures ?? 0, 1000))
        restart = isLimitReached ? .limitReached(times: times) : times > 0 ? .failed(times: times) : .steady
    }

    @inline(__always) private mutating func codeLaunch(with coder: inout some SavedCoder & ~Copyable) {
        coder.instant("launched", &launch.instant)
        var reason: Reason? = launch.reason
        coder.word("launch-reason", &reason)
        if coder.isReading { launch.reason = reason ?? .launch }
        coder.flag("has-launched", &launch.isComplete)
        coder.text("launch-url", &launch.url)
        coder.number("launch-event", &launch.event)
        coder.flag("declined", &launch.hasDeclined)
    }

    // MARK: The callback that is awaited

    private mutating func codeAwaited(with coder: inout some SavedCoder & ~Copyable) {
        let awaited = phase.awaitedCallback
        var saved = SavedDelivery(awaited?.delivery)
        saved.code(with: &coder)
        var sent = awaited?.sent
        coder.instant("sent", &sent)
        var (next, nextOfScene): (AppState?, SceneState?) = (nil, nil)
        switch awaited?.next {
        case .app(let state)?: next = state
        case .scene(let state)?: nextOfScene = state
        case nil: break
        }
        coder.word("next", &next)
        coder.word("next-scene", &nextOfScene)
        // An app that is not connected answers nothing, whatever the record says.
        guard coder.isReading, isConnected, case .running(let state, _) = phase, let delivery = delivery(saved)
        else { return }
        let followed = next.map { NextState.app($0) } ?? nextOfScene.map { NextState.scene($0) }
        phase = .running(
            state, awaiting: Box(SentCallback(delivery: delivery, sent: sent ?? since, next: followed)))
    }

    /// Returns the callback that the app has not answered; nil if it would have no meaning when it is sent again.
    private func delivery(_ saved: SavedDelivery) -> Delivery? {
        guard let callback = saved.callback, let deadline = saved.deadline, let told = saved.state,
            (saved.scene != nil) == callback.isAboutScene,
            saved.event.map({ $0.event.callback == callback }) ?? !callback.needsEvent
        else { return nil }
        var delivery = delivery(
            of: PendingCallback(callback), sequence: saved.sequence ?? outbox.lastSequence, deadline: deadline,
            state: told)
        if let scene = saved.scene {
            delivery.subject = .scene(
                SceneNews(scene: scene, reason: saved.sceneReason.flatMap { SceneReason(saved: $0) }))
        }
        if let event = saved.event { delivery.subject = .event(event) }
        return delivery
    }

    private mutating func dropStrayResignations() {
        let before = phase.awaitedCallback?.delivery.sequence
        let last = outbox.lastSequence
        outbox.resignations.removeAll { resignation in
            before.map { resignation.delivery.sequence <= $0 || resignation.delivery.sequence > last } ?? true
        }
    }

    // MARK: The task under way

    private mutating func codeTask(with coder: inout some SavedCoder & ~Copyable) {
        var event = outbox.task?.event
        coder.item("task", &event)
        guard event != nil else { return }
        var sequence = outbox.task?.sequence
        var deadline = outbox.task?.deadline
        var told = outbox.task?.state
        coder.number("task-sequence", &sequence)
        coder.instant("task-until", &deadline)
        coder.word("task-state", &told)
        // Work is done by a process that was told of it, and ends with that.
        guard coder.isReading, state.isAlive, isConnected, let event, event.event.isTask, let sequence, let deadline,
            let told
        else { return }
        var delivery = delivery(
            of: PendingCallback(.performTask), sequence: sequence, deadline: deadline, state: told)
        delivery.subject = .event(event)
        outbox.task = delivery
    }
}

/// The saved parts of a callback that an app was sent.
private struct SavedDelivery {
    var callback: Callback?
    var sequence: UInt64?
    var event: QueuedEvent?
    var scene: SceneID?
    var sceneReason: String?
    var deadline: Instant?
    var state: AppState?

    init(_ delivery: Delivery?) {
        guard let delivery else { return }
        (callback, sequence, event) = (delivery.callback, delivery.sequence, delivery.event)
        (scene, sceneReason) = (delivery.scene?.scene, delivery.scene?.reason?.rawValue)
        (deadline, state) = (delivery.deadline, delivery.state)
    }

    mutating func code(with coder: inout some SavedCoder & ~Copyable) {
        coder.word("callback", &callback)
        coder.number("told-sequence", &sequence)
        coder.item("told-event", &event)
        coder.item("told-scene", &scene)
        coder.text("told-scene-reason", &sceneReason)
        coder.instant("answer-by", &deadline)
        coder.word("told-state", &state)
    }
}

extension Phase {
    /// The operation that is pending, as it is saved.
    private enum Operation: String {
        case spawn, answer, stop, resume, end
    }

    private var operation: Operation? {
        switch self {
        case .notRunning, .running(_, awaiting: nil), .suspended(isConfirmed: true): nil
        case .spawning: .spawn
        case .running: .answer
        case .stopping, .suspended: .stop
        case .resuming: .resume
        case .terminating: .end
        }
    }

    /// Writes or reads the phase without the callback that it awaits.
    ///
    /// - Returns: Whether a callback is awaited, and follows in the record.
    @inline(__always) fileprivate mutating func code(with coder: inout some SavedCoder & ~Copyable) -> Bool {
        var state: AppState? = self.state
        var termination = self.termination
        var operation = self.operation
        coder.word("state", &state)
        coder.item("ending", &termination)
        coder.word("awaiting", &operation)
        guard operation == .spawn else {
            if coder.isReading { self = Phase(state ?? .notRunning, operation, termination) }
            return operation == .answer
        }
        var next: AppState?
        if case .spawning(let to, _) = self { next = to }
        coder.word("next", &next)
        guard coder.isReading else { return false }
        // An operation that the state does not allow is left out.
        let isSpawning = (state ?? .notRunning) == .notRunning
        let edge = isSpawning ? next.flatMap { AppState.notRunning.edge(to: $0) } : nil
        self = edge.map { .spawning(to: $0.to, termination) } ?? Phase(state ?? .notRunning, nil, termination)
        return false
    }

    /// Creates the phase of a saved state, for an app that is not being spawned. An operation that the state does not allow is
    /// left out.
    private init(_ state: AppState, _ operation: Operation?, _ termination: Termination?) {
        switch (state, operation) {
        case (.notRunning, _): self = .notRunning
        case (.background, .stop): self = .stopping
        case (.background, .resume): self = .resuming(isSuspended: false)
        case (.suspended, .stop): self = .suspended(isConfirmed: false)
        case (.suspended, .resume): self = .resuming(isSuspended: true)
        case (.suspended, _): self = .suspended(isConfirmed: true)
        case (.terminating, _): self = .terminating(termination ?? Termination(state: .terminating, reason: .crash))
        case (.inactive, _): self = .running(.inactive, awaiting: nil)
        case (.active, _): self = .running(.active, awaiting: nil)
        case (.background, _): self = .running(.background, awaiting: nil)
        }
    }
}
