// An app as it is saved. What follows from the rest (`target`), what is configured (`policy`) and which requests wait for it
// (`waiters`) is left out; the deadlines are added by the router.

extension AppMachine {
    /// Returns the saved values; of an app that does not run, those that its next launch needs.
    var record: SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        Self.savedFields.write(self, to: &record)
        if isRunning { Self.savedFieldsOfRun.write(self, to: &record) }
        return record
    }

    /// A Boolean value that indicates whether nothing is known of the app but its definition.
    var isFresh: Bool {
        !isRunning && desired == .rest && lastExit == nil && reason == .none && scenes.all.isEmpty
    }

    /// Applies the values of a record to an app that has none yet.
    mutating func restore(from record: SavedRecord) {
        Self.savedFields.read(&self, from: record)
        guard isRunning else { return }
        Self.savedFieldsOfRun.read(&self, from: record)
    }

    /// The values of any app.
    private static let savedFields: [SavedField<AppMachine>] = [
        SavedField(write: { $0.phase.write(to: &$1) }, read: { $0.phase = Phase(saved: $1) }),
        .text("reason", { $0.reason.rawValue }, { $0.reason = Reason(saved: $1) }),
        .instant("since", { $0.since }, { $0.since = $1 }),
        SavedField {
            $1.add("wish", $0.desired.word)
        } read: {
            $0.desired = $1["wish"].flatMap { Desired(word: $0) } ?? ($0.state.isAlive ? .run : .rest)
        },
        .text("wish-reason", { $0.desiredReason.rawValue }, { $0.desiredReason = Reason(saved: $1) }),
        .text("exit", { $0.lastExit?.text }, { $0.lastExit = ExitRecord(text: $1) }),
        SavedField {
            $0.reclaimed?.write(to: &$1)
        } read: {
            $0.reclaimed = ReclaimRecord(saved: $1)
        },
        SavedField {
            if $0.restart.failures > 0 { $1.add("failures", UInt64($0.restart.failures)) }
            if $0.restart.isLimitReached { $1.add("given-up", "1") }
        } read: {
            let failures = Int(clamping: min($1.number("failures") ?? 0, 1000))
            $0.restart =
                $1.has("given-up") ? .limitReached(times: failures) : failures > 0 ? .failed(times: failures) : .steady
        },
        SavedField {
            $0.scenes.write(to: &$1)
        } read: {
            $0.scenes = Scenes(saved: $1, of: $0.state, since: $0.since)
        },
    ]

    /// The values of an app that runs.
    private static let savedFieldsOfRun: [SavedField<AppMachine>] = [
        .flag("linked", { $0.isConnected }, { $0.channel = $1 ? .reconnecting(mayHaveReceivedNext: false) : .none }),
        .flag("scenes", { $0.launch.hasScenes }, { $0.launch.hasScenes = $1 }),
        .flag("awake", { $0.assertions.isKeptRunning }, { $0.assertions.isKeptRunning = $1 }),
        .flag("suspended-at-once", { $0.assertions.isOverridden }, { $0.assertions.isOverridden = $1 }),
        .flag("woken", { $0.assertions.isWoken }, { $0.assertions.isWoken = $1 }),
        // The reports of uses are gone. The use ends at the first look, and the app has some time until they are back.
        .text("use", { $0.assertions.use?.rawValue }, { $0.assertions.use = Use(rawValue: $1) }),
        .instant("last-in-use", { $0.assertions.lastUse }, { $0.assertions.lastUse = $1 }),
        .flag("stopped-by-other", { $0.isStoppedByOther }, { $0.isStoppedByOther = $1 }),
        .flag("been-in-front", { $0.wasInForeground }, { $0.wasInForeground = $1 }),
        .instant("last-in-front", { $0.lastInForeground }, { $0.lastInForeground = $1 }),
        .instant("launched", { $0.launch.instant }, { $0.launch.instant = $1 }),
        .text("launch-reason", { $0.launch.reason.rawValue }, { $0.launch.reason = Reason(rawValue: $1) ?? .launch }),
        .flag("has-launched", { $0.launch.isComplete }, { $0.launch.isComplete = $1 }),
        // There are always some numbers left to count on.
        .number("sequence", { $0.outbox.lastSequence }, { $0.outbox.lastSequence = $1 < 1 << 62 ? $1 : 0 }),
        .list(
            "owed", { $0.outbox.callbacks.map { $0.text } },
            { $0.outbox.callbacks = $1.compactMap { PendingCallback(text: $0) } }),
        .flag("may-have-heard", { $0.channel == .reconnecting(mayHaveReceivedNext: true) }) {
            if $1, $0.isConnected, !$0.outbox.callbacks.isEmpty {
                $0.channel = .reconnecting(mayHaveReceivedNext: true)
            }
        },
        .list(
            "hold", { $0.assertions.held.map { $0.text } },
            { $0.assertions.held = $1.compactMap { Assertion(text: $0) } }),
        .instant("task-deadline", { $0.assertions.expiration }, { $0.assertions.expiration = $1 }),
        .list(
            "event", { $0.outbox.events.map { $0.text } },
            { $0.outbox.events = $1.compactMap { QueuedEvent(text: $0) } }),
        SavedField(write: { $0.writeTask(to: &$1) }, read: { $0.readTask(from: $1) }),
        .number("last-event", { $0.outbox.lastEvent }, { $0.outbox.lastEvent = $1 }),
        .text("launch-url", { $0.launch.url }, { $0.launch.url = $1 }),
        .number("launch-event", { $0.launch.event }, { $0.launch.event = $1 }),
        .flag("declined", { $0.launch.hasDeclined }, { $0.launch.hasDeclined = $1 }),
        SavedField(write: { $0.writeAwaited(to: &$1) }, read: { $0.readAwaited(from: $1) }),
        .list("resignation", { $0.outbox.resignations.map { $0.resignationText } }) { $0.readResignations($1) },
    ]

    // MARK: The callback that is awaited

    private func writeAwaited(to record: inout SavedRecord) {
        guard let awaited = phase.awaitedCallback else { return }
        let delivery = awaited.delivery
        record.add("callback", delivery.callback.rawValue)
        record.add("told-sequence", delivery.sequence)
        record.add("told-event", delivery.event?.text)
        record.add("told-scene", delivery.scene?.scene.name)
        record.add("told-scene-reason", delivery.scene?.reason)
        record.add("answer-by", delivery.deadline)
        record.add("told-state", delivery.state.rawValue)
        record.add("sent", awaited.sent)
        switch awaited.next {
        case .app(let state): record.add("next", state.rawValue)
        case .scene(let state): record.add("next-scene", state.rawValue)
        case nil: break
        }
    }

    private mutating func readAwaited(from record: SavedRecord) {
        // An app that is not connected answers nothing, whatever the record says.
        guard record["awaiting"] == "answer", isConnected, case .running(let state, _) = phase,
            let delivery = savedDelivery(in: record)
        else { return }
        let next = record.word("next", as: AppState.self).map { NextState.app($0) }
        let nextOfScene = record.word("next-scene", as: SceneState.self).map { NextState.scene($0) }
        let sent = record.instant("sent") ?? since
        phase = .running(
            state, awaiting: Box(SentCallback(delivery: delivery, sent: sent, next: next ?? nextOfScene)))
    }

    /// Returns the callback that the app has not answered; nil if it would have no meaning when it is sent again.
    private func savedDelivery(in record: SavedRecord) -> Delivery? {
        guard let callback = record.word("callback", as: Callback.self), let deadline = record.instant("answer-by"),
            let told = record.word("told-state", as: AppState.self)
        else { return nil }
        let scene = record["told-scene"].flatMap { SceneID($0) }
        let event = record["told-event"].flatMap { QueuedEvent(text: $0) }
        guard (scene != nil) == callback.isAboutScene,
            event.map({ $0.event.callback == callback }) ?? !callback.needsEvent
        else { return nil }
        let sequence = record.number("told-sequence") ?? outbox.lastSequence
        var delivery = delivery(
            of: PendingCallback(callback), sequence: sequence, deadline: deadline, state: told)
        if let scene { delivery.subject = .scene(SceneNews(scene: scene, reason: record["told-scene-reason"])) }
        if let event { delivery.subject = .event(event) }
        return delivery
    }

    private mutating func readResignations(_ texts: [String]) {
        guard let before = phase.awaitedCallback?.delivery.sequence else { return }
        outbox.resignations = texts.compactMap { SentCallback(resignationText: $0) }
            .filter { $0.delivery.sequence > before && $0.delivery.sequence <= outbox.lastSequence }
    }

    // MARK: The task under way

    private func writeTask(to record: inout SavedRecord) {
        guard let task = outbox.task else { return }
        record.add("task", task.event?.text)
        record.add("task-sequence", task.sequence)
        record.add("task-until", task.deadline)
        record.add("task-state", task.state.rawValue)
    }

    /// Work is done by a process that was told of it, and ends with that.
    private mutating func readTask(from record: SavedRecord) {
        guard state.isAlive, isConnected, let event = record["task"].flatMap({ QueuedEvent(text: $0) }),
            event.event.isTask, let sequence = record.number("task-sequence"),
            let deadline = record.instant("task-until"), let told = record.word("task-state", as: AppState.self)
        else { return }
        var delivery = delivery(
            of: PendingCallback(.performTask), sequence: sequence, deadline: deadline, state: told)
        delivery.subject = .event(event)
        outbox.task = delivery
    }
}

extension Phase {
    /// Writes the phase without the callback that it awaits.
    fileprivate func write(to record: inout SavedRecord) {
        record.add("state", state.rawValue)
        record.add("ending", termination?.text)
        switch self {
        case .notRunning, .running(_, awaiting: nil), .suspended(isConfirmed: true): break
        case .spawning(let next, _):
            record.add("awaiting", "spawn")
            record.add("next", next.rawValue)
        case .running: record.add("awaiting", "answer")
        case .stopping, .suspended: record.add("awaiting", "stop")
        case .resuming: record.add("awaiting", "resume")
        case .terminating: record.add("awaiting", "end")
        }
    }

    /// Creates the phase without the callback that it awaits. An operation that the state does not allow is left out.
    fileprivate init(saved record: SavedRecord) {
        let state = record.word("state", as: AppState.self) ?? .notRunning
        let operation = record["awaiting"]
        let termination = record["ending"].flatMap { Termination(text: $0) }
        switch (state, operation) {
        case (.notRunning, "spawn"):
            let next = record.word("next", as: AppState.self)
            let edge = next.flatMap { state.edge(to: $0) }
            self = edge.map { .spawning(to: $0.to, termination) } ?? .notRunning
        case (.notRunning, _): self = .notRunning
        case (.background, "stop"): self = .stopping
        case (.background, "resume"): self = .resuming(isSuspended: false)
        case (.suspended, "stop"): self = .suspended(isConfirmed: false)
        case (.suspended, "resume"): self = .resuming(isSuspended: true)
        case (.suspended, _): self = .suspended(isConfirmed: true)
        case (.terminating, _): self = .terminating(termination ?? Termination(state: .terminating, reason: .crash))
        case (.inactive, _): self = .running(.inactive, awaiting: nil)
        case (.active, _): self = .running(.active, awaiting: nil)
        case (.background, _): self = .running(.background, awaiting: nil)
        }
    }
}
