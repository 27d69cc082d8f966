// An app as it is saved. What follows from the rest (`target`), what is configured (`policy`) and who waits for it
// (`waiters`) is left out.

extension App {
    /// What is kept of it; of one that does not run, what its next launch needs.
    func saved(deadlines: Deadlines) -> SavedRecord {
        var record = SavedRecord()
        record.add("id", self.id.name)
        record.add("state", self.state.rawValue)
        record.add("reason", self.reason.rawValue)
        record.add("since", self.since)
        record.add("wish", self.wish.word)
        record.add("wish-reason", self.wishReason.rawValue)
        record.add("exit", self.lastExit?.text)
        self.reclaimed?.save(in: &record)
        if self.failures > 0 { record.add("failures", String(self.failures)) }
        record.add("given-up", if: self.isGivenUp)
        self.scenes.save(in: &record)
        guard isRunning else {
            deadlines.save(self.id, in: &record)
            return record
        }
        record.add("linked", if: self.isLinked)
        record.add("scenes", if: self.runsWithScenes)
        record.add("awake", if: self.keepsAwake)
        record.add("suspended-at-once", if: self.isSuspendedAtOnce)
        record.add("woken", if: self.isWoken)
        record.add("use", self.use?.rawValue)
        record.add("last-in-use", self.lastInUse)
        record.add("stopped-by-other", if: self.isStoppedByOther)
        record.add("been-in-front", if: self.hasBeenInFront)
        record.add("last-in-front", self.lastInFront)
        record.add("launched", self.launched)
        record.add("launch-reason", self.launchReason.rawValue)
        record.add("has-launched", if: self.hasLaunched)
        record.add("sequence", String(self.lastSequence))
        for notice in self.owed { record.add("owed", notice.text) }
        record.add("may-have-heard", if: self.mayHaveHeard)
        for hold in self.holds { record.add("hold", hold.text) }
        record.add("task-deadline", self.taskDeadline)
        record.add("ending", self.ending?.text)
        for event in self.events { record.add("event", event.text) }
        self.task?.saveTask(in: &record)
        record.add("last-event", String(self.lastEvent))
        record.add("launch-url", self.launchURL)
        record.add("launch-event", self.launchEvent.map { String($0) })
        record.add("declined", if: self.hasDeclined)
        self.awaiting?.save(in: &record)
        for resignation in self.resignations { record.add("resignation", resignation.text) }
        deadlines.save(self.id, in: &record)
        return record
    }

    /// The app of a record; nil when the record names none.
    init?(saved record: SavedRecord, policy: (AppID) -> Policy, now: Instant) {
        guard let name = record["id"], !name.isEmpty else { return nil }
        self.init(id: AppID(name), policy: policy(AppID(name)), since: record.instant("since") ?? now)
        self.state = record.word("state") ?? .notRunning
        self.reason = record["reason"].map { Reason(saved: $0) } ?? .none
        self.wish = record["wish"].flatMap { Wish(word: $0) } ?? (self.state.isAlive ? .run : .rest)
        self.wishReason = record["wish-reason"].map { Reason(saved: $0) } ?? .none
        self.lastExit = record["exit"].flatMap { ExitRecord(text: $0) }
        self.reclaimed = Reclaimed(saved: record)
        self.failures = record.number("failures").map { Int(clamping: min($0, 1000)) } ?? 0
        self.isGivenUp = record.has("given-up")
        // There are always some left to count on.
        self.lastSequence = record.number("sequence").flatMap { $0 < 1 << 62 ? $0 : nil } ?? 0
        self.launchReason = record.word("launch-reason") ?? .launch
        self.events = record.all("event").compactMap { QueuedEvent(text: $0) }
        self.lastEvent = record.number("last-event") ?? 0
        self.launchURL = record["launch-url"]
        self.launchEvent = record.number("launch-event")
        self.hasDeclined = record.has("declined")
        self.awaiting = awaited(in: record)
        self.scenes = Scenes(saved: record, of: self.state, now: now)
        guard isRunning else {
            self.awaiting = nil
            return
        }
        self.runsWithScenes = record.has("scenes")
        self.isLinked = record.has("linked")
        self.isAway = self.isLinked
        self.keepsAwake = record.has("awake")
        self.isSuspendedAtOnce = record.has("suspended-at-once")
        self.isWoken = record.has("woken")
        // Those who say so are gone. It is used no more as soon as it is looked at, and has some time until they are back.
        self.use = record.word("use")
        self.lastInUse = record.instant("last-in-use")
        self.isStoppedByOther = record.has("stopped-by-other")
        self.hasBeenInFront = record.has("been-in-front")
        self.lastInFront = record.instant("last-in-front")
        self.launched = record.instant("launched")
        self.hasLaunched = record.has("has-launched")
        self.owed = record.all("owed").compactMap { Notice(text: $0) }
        self.mayHaveHeard = record.has("may-have-heard") && !self.owed.isEmpty
        self.holds = record.all("hold").compactMap { Hold(text: $0) }
        self.taskDeadline = record.instant("task-deadline")
        self.ending = record["ending"].flatMap { Ending(text: $0) }
        // Work is done by a process that has been told of it, and ends with that.
        self.task = self.state.isAlive && self.isLinked ? savedTask(in: record) : nil
        // Whoever is on its way out is waited for, and nobody answers who does not listen, whatever the record says.
        if self.state == .terminating { self.awaiting = .end }
        if awaitedCallback != nil, !self.isLinked { self.awaiting = nil }
        if case .answer(let before, _, _) = self.awaiting {
            self.resignations = record.all("resignation").compactMap { Resignation(text: $0) }
                .filter { $0.delivery.sequence > before.sequence && $0.delivery.sequence <= self.lastSequence }
        }
    }

    private func awaited(in record: SavedRecord) -> Awaiting? {
        switch record["awaiting"] {
        // Only what does not run is started, and only to where a step leads from there.
        case "spawn":
            let next = record.word("next", as: AppState.self)
            return next.flatMap { Route.edge(from: self.state, to: $0)?.process == .spawn ? .spawn(to: $0) : nil }
        case "stop": return .stop
        case "resume": return .resume
        case "end": return .end
        case "answer":
            return toldDelivery(in: record).map {
                .answer($0, sent: record.instant("sent") ?? self.since, to: Arrival(saved: record))
            }
        default: return nil
        }
    }

    /// What the app was told and has not answered; nil where it would say nothing when it is told again.
    private func toldDelivery(in record: SavedRecord) -> Delivery? {
        guard let callback = record.word("callback", as: Callback.self), let deadline = record.instant("answer-by"),
            let told = record.word("told-state", as: AppState.self)
        else { return nil }
        let scene = record["told-scene"].flatMap { SceneID($0) }
        let event = record["told-event"].flatMap { QueuedEvent(text: $0) }
        guard (scene != nil) == callback.isAboutScene,
            event.map({ $0.event.callback == callback }) ?? !callback.needsEvent
        else { return nil }
        let sequence = record.number("told-sequence") ?? self.lastSequence
        var delivery = delivery(of: Notice(callback), sequence: sequence, deadline: deadline, state: told)
        delivery.scene = scene.map { SceneNews(scene: $0, reason: record["told-scene-reason"]) }
        delivery.event = event
        return delivery
    }
}

extension Awaiting {
    fileprivate func save(in record: inout SavedRecord) {
        switch self {
        case .spawn(let next):
            record.add("awaiting", "spawn")
            record.add("next", next.rawValue)
        case .answer(let delivery, let sent, let next):
            record.add("awaiting", "answer")
            record.add("callback", delivery.callback.rawValue)
            record.add("told-sequence", String(delivery.sequence))
            record.add("told-event", delivery.event?.text)
            record.add("told-scene", delivery.scene?.scene.name)
            record.add("told-scene-reason", delivery.scene?.reason)
            record.add("answer-by", delivery.deadline)
            record.add("told-state", delivery.state.rawValue)
            record.add("sent", sent)
            next?.save(in: &record)
        case .stop: record.add("awaiting", "stop")
        case .resume: record.add("awaiting", "resume")
        case .end: record.add("awaiting", "end")
        }
    }
}

extension Deadlines {
    fileprivate func save(_ id: AppID, in record: inout SavedRecord) {
        for kind in DeadlineKind.allCases {
            if let instant = instant(kind, id) { record.add("deadline", "\(kind.rawValue):\(instant.microseconds)") }
        }
    }

    /// Takes over the deadlines of a record.
    mutating func restore(_ id: AppID, from record: SavedRecord) {
        for text in record.all("deadline") {
            let parts = text.split(separator: ":")
            guard parts.count == 2, let kind = DeadlineKind(rawValue: String(parts[0])), let time = UInt64(parts[1])
            else { continue }
            set(kind, id, at: Instant(microseconds: time))
        }
    }
}
