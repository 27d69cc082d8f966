// The parts of a saved app, each as one word, or as words between separators.

extension Desired {
    var word: String {
        switch self {
        case .rest: "rest"
        case .run: "run"
        case .end(atOnce: false): "end"
        case .end(atOnce: true): "end-at-once"
        }
    }

    init?(word: String) {
        switch word {
        case "rest": self = .rest
        case "run": self = .run
        case "end": self = .end(atOnce: false)
        case "end-at-once": self = .end(atOnce: true)
        default: return nil
        }
    }
}

extension Termination {
    var text: String { "\(state.rawValue):\(status.word):\(reason)" }

    init?(text: String) {
        let parts = text.words(maxSplits: 2)
        guard parts.count == 3, let state = AppState(rawValue: parts[0]) else { return nil }
        self.init(state: state, reason: Reason(saved: parts[2]), status: ExitStatus(word: parts[1]))
    }
}

extension Assertion {
    var text: String { "\(kind.rawValue):\(number):\(since.microseconds):\(name)" }

    init?(text: String) {
        let parts = text.words(maxSplits: 3)
        guard parts.count == 4, let kind = Kind(rawValue: parts[0]), let number = UInt64(parts[1]),
            let since = UInt64(parts[2])
        else { return nil }
        self.init(kind: kind, number: number, name: parts[3], since: Instant(microseconds: since))
    }
}

extension PendingCallback {
    /// The callback, and its scene if it has one.
    var text: String { callback.rawValue + (scene.map { ":\($0)" } ?? "") }

    init?(text: String) {
        let parts = text.words(maxSplits: 1)
        guard let callback = Callback(rawValue: parts[0]) else { return nil }
        let scene = parts.count == 2 ? SceneID(parts[1]) : nil
        guard (scene != nil) == callback.isAboutScene, !callback.needsEvent else { return nil }
        self.init(callback, scene)
    }
}

extension SentCallback {
    /// A resignation: number, deadline, instant of sending, state that it names, state that follows, and callback.
    var resignationText: String {
        let next: String =
            switch self.next {
            case .app(let state): state.rawValue
            case .scene(let state): state.rawValue
            case nil: ""
            }
        let numbers = "\(delivery.sequence):\(delivery.deadline.microseconds):\(sent.microseconds)"
        return "\(numbers):\(delivery.state.rawValue):\(next):\(delivery.pending.text)"
    }

    init?(resignationText text: String) {
        let parts = text.words(maxSplits: 5)
        guard parts.count == 6, let sequence = UInt64(parts[0]), let deadline = UInt64(parts[1]),
            let sent = UInt64(parts[2]), let state = AppState(rawValue: parts[3]),
            let callback = PendingCallback(text: parts[5]), callback.isResignation
        else { return nil }
        var delivery = Delivery(
            sequence: sequence, callback: callback.callback, deadline: Instant(microseconds: deadline), state: state)
        if let scene = callback.scene { delivery.subject = .scene(SceneNews(scene: scene, reason: nil)) }
        let next: NextState = callback.scene == nil ? .app(.inactive) : .scene(.foregroundInactive)
        self.init(delivery: delivery, sent: Instant(microseconds: sent), next: parts[4].isEmpty ? nil : next)
    }
}

extension QueuedEvent {
    var text: String {
        let parts: [String] =
            switch event {
            case .openURL(let url, let type, let source): [type ?? "", source ?? "", url]
            case .continueActivity(let type, let info): [type, info]
            case .performTask(let kind, let payload): [kind, payload]
            case .notice: []
            }
        return ([String(number), event.callback.rawValue] + parts.map { SavedText.escaped($0) })
            .joined(separator: String(SavedText.separator))
    }

    init?(text: String) {
        let parts = text.words(separator: SavedText.separator, maxSplits: 4)
        guard parts.count >= 2, let number = UInt64(parts[0]), let callback = Callback(rawValue: parts[1]),
            let event = AppEvent(callback, parts.dropFirst(2).map { SavedText.unescaped($0) })
        else { return nil }
        self.init(number: number, event: event)
    }
}

extension AppEvent {
    fileprivate init?(_ callback: Callback, _ parts: [String]) {
        let text = { (part: String) in part.isEmpty ? nil : part }
        switch (callback, parts.count) {
        case (.openURL, 3): self = .openURL(parts[2], type: text(parts[0]), source: text(parts[1]))
        case (.continueActivity, 2): self = .continueActivity(type: parts[0], info: parts[1])
        case (.performTask, 2): self = .performTask(kind: parts[0], payload: parts[1])
        case (let callback, 0) where callback.role == .notice: self = .notice(callback)
        default: return nil
        }
    }
}

// MARK: Scenes

extension Scenes {
    func write(to record: inout SavedRecord) {
        for scene in all { record.add("scene", scene.text) }
        for id in foreground { record.add("scene-front", id.name) }
    }

    /// Creates the scenes of a record, as far as they are legal in the state of their app.
    init(saved record: SavedRecord, of app: AppState, since: Instant) {
        self.init()
        for text in record.all("scene") {
            guard all.count < Self.limit, var scene = Scene(text: text, since: since), self[scene.id] == nil else {
                continue
            }
            scene.state = scene.state.nearest(in: app)
            all.append(scene)
        }
        for name in record.all("scene-front") {
            guard let id = SceneID(name), !foreground.contains(id), let scene = self[id], !scene.isClosing else {
                continue
            }
            foreground.append(id)
        }
    }
}

extension Scene {
    var text: String {
        var flags = ""
        if wasConnected { flags += "c" }
        if isWanted { flags += "w" }
        if isClosing { flags += "x" }
        if info != nil { flags += "i" }
        let parts = [
            id.name, role, origin.rawValue, state.rawValue, reason.rawValue, String(since.microseconds),
            lastInForeground.map { String($0.microseconds) } ?? "", desiredReason?.rawValue ?? "", flags, info ?? "",
        ]
        // The text of the app comes last: it may contain separators.
        return parts.joined(separator: String(SavedText.separator))
    }

    init?(text: String, since now: Instant) {
        let parts = text.words(separator: SavedText.separator, maxSplits: 9)
        guard parts.count == 10, let id = SceneID(parts[0]), SceneID.isWord(parts[1]),
            let origin = Origin(rawValue: parts[2]), let state = SceneState(rawValue: parts[3])
        else { return nil }
        let flags = parts[8].utf8
        let hasFlag = { (flag: Unicode.Scalar) in flags.contains(UInt8(ascii: flag)) }
        let info = hasFlag("i") && parts[9].utf8.count <= Self.infoLimit ? parts[9] : nil
        let since = UInt64(parts[5]).map { Instant(microseconds: $0) } ?? now
        self.init(id: id, role: parts[1], info: info, origin: origin, since: since)
        self.state = state
        reason = Reason(saved: parts[4])
        lastInForeground = UInt64(parts[6]).map { Instant(microseconds: $0) }
        desiredReason = parts[7].isEmpty ? nil : Reason(saved: parts[7])
        wasConnected = hasFlag("c")
        isWanted = hasFlag("w")
        isClosing = hasFlag("x")
    }
}

extension SceneState {
    /// Returns the state, or the nearest one that is legal in an app of this state.
    fileprivate func nearest(in app: AppState) -> SceneState {
        switch (app, self) {
        case (.notRunning, _), (.terminating, _), (_, .unattached): .unattached
        case (.suspended, _): .suspended
        case (_, .suspended), (.background, _): .background
        case (.inactive, .foregroundActive): .foregroundInactive
        case (.inactive, _), (.active, _): self
        }
    }
}

// MARK: Reclaims

extension ReclaimRecord {
    /// Creates the account that ``write(to:)`` has written; nil if there is none.
    public init?(saved record: SavedRecord) {
        guard let cause = record["reclaim-cause"].flatMap({ Cause(text: $0) }) else { return nil }
        let order = record.all("reclaim-order").prefix(Self.orderLimit).map { AppID($0) }
        self.init(
            cause: cause, order: order,
            candidates: record.number("reclaim-candidates").map { Int(clamping: $0) } ?? order.count,
            freed: record.number("reclaim-freed"))
    }

    /// Adds the account to a saved record.
    public func write(to record: inout SavedRecord) {
        record.add("reclaim-cause", cause.text)
        for id in order { record.add("reclaim-order", id.name) }
        record.add("reclaim-candidates", UInt64(candidates))
        record.add("reclaim-freed", freed)
    }
}

extension ReclaimRecord.Cause {
    fileprivate var text: String {
        switch self {
        case .pressure(let words): "pressure:\(words)"
        case .simulation: "simulation:"
        case .suspendedLimit(let limit): "suspended-limit:\(limit)"
        }
    }

    fileprivate init?(text: String) {
        let parts = text.words(maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch (parts[0], Int(parts[1])) {
        case ("pressure", _): self = .pressure(parts[1])
        case ("simulation", _): self = .simulation
        case ("suspended-limit", let limit?): self = .suspendedLimit(limit)
        default: return nil
        }
    }
}

extension ReclaimRound {
    init?(saved record: SavedRecord) {
        guard let victim = record["reclaim-victim"], let account = ReclaimRecord(saved: record) else { return nil }
        self.init(victim: AppID(victim), account: account)
        phase = record.word("reclaim-phase") ?? .looking
        isForAll = record.has("reclaim-all")
        isAboutScenes = record.has("reclaim-scenes")
    }

    func write(to record: inout SavedRecord) {
        record.add("reclaim-victim", victim.name)
        record.add("reclaim-phase", phase.rawValue)
        if isForAll { record.add("reclaim-all", "1") }
        if isAboutScenes { record.add("reclaim-scenes", "1") }
        account.write(to: &record)
    }
}
