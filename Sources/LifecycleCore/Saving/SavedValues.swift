// The parts of a saved app: each as a value of a slot, and as text, one word or words between separators.

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

extension String: SavedItem {
    /// The text itself.
    public var text: String { self }
    /// Creates the text itself.
    public init?(text: String) { self = text }
    /// Adds the text.
    public func write(to slot: inout SlotWriter) { slot.text(self) }
    /// Reads a text.
    public init?(from slot: inout SlotReader) {
        guard let text = slot.text() else { return nil }
        self = text
    }
}

extension AppID: SavedItem {
    /// The name.
    public var text: String { name }
    /// Creates the id of a name that is not empty.
    public init?(text: String) {
        guard !text.isEmpty else { return nil }
        self.init(text)
    }
    /// Adds the name.
    public func write(to slot: inout SlotWriter) { slot.text(name) }
    /// Reads a name.
    public init?(from slot: inout SlotReader) {
        guard let name = slot.text() else { return nil }
        self.init(text: name)
    }
}

extension SceneID: SavedItem {
    /// The name.
    public var text: String { name }
    /// Creates the id of a valid name.
    public init?(text: String) { self.init(text) }
    /// Adds the name.
    public func write(to slot: inout SlotWriter) { slot.text(name) }
    /// Reads a name.
    public init?(from slot: inout SlotReader) {
        guard let name = slot.text() else { return nil }
        self.init(name)
    }
}

extension ForegroundBlocker: SavedItem {
    /// The word.
    public var text: String { rawValue }
    /// Creates the blocker of a word.
    public init?(text: String) { self.init(rawValue: text) }
    /// Adds the word.
    public func write(to slot: inout SlotWriter) { slot.text(rawValue) }
    /// Reads a word.
    public init?(from slot: inout SlotReader) {
        guard let blocker: Self = slot.word() else { return nil }
        self = blocker
    }
}

extension ExitStatus {
    fileprivate func write(to slot: inout SlotWriter) {
        switch self {
        case .unknown: slot.byte(0)
        case .code(let code):
            slot.byte(1)
            slot.number(UInt64(bitPattern: Int64(code)))
        case .signal(let number):
            slot.byte(2)
            slot.number(UInt64(bitPattern: Int64(number)))
        }
    }

    fileprivate init(from slot: inout SlotReader) {
        let kind = slot.byte()
        guard kind == 1 || kind == 2, let number = slot.number() else {
            self = .unknown
            return
        }
        let value = Int32(truncatingIfNeeded: number)
        self = kind == 1 ? .code(value) : .signal(value)
    }
}

extension ExitRecord: SavedItem {
    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.number(instant.microseconds)
        slot.text(state.rawValue)
        status.write(to: &slot)
        slot.text(reason.rawValue)
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let time = slot.number(), let state: AppState = slot.word() else { return nil }
        let status = ExitStatus(from: &slot)
        self.init(
            state: state, reason: Reason(saved: slot.text() ?? ""), status: status,
            instant: Instant(microseconds: time))
    }
}

extension Termination: SavedItem {
    /// The parts, between separators.
    public var text: String { "\(state.rawValue):\(status.word):\(reason)" }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(maxSplits: 2)
        guard parts.count == 3, let state = AppState(rawValue: parts[0]) else { return nil }
        self.init(state: state, reason: Reason(saved: parts[2]), status: ExitStatus(word: parts[1]))
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.text(state.rawValue)
        status.write(to: &slot)
        slot.text(reason.rawValue)
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let state: AppState = slot.word() else { return nil }
        let status = ExitStatus(from: &slot)
        self.init(state: state, reason: Reason(saved: slot.text() ?? ""), status: status)
    }
}

/// A deadline of an app.
struct SavedDeadline: SavedItem {
    let kind: DeadlineKind
    let instant: Instant

    var text: String { "\(kind.rawValue):\(instant.microseconds)" }

    init(_ kind: DeadlineKind, _ instant: Instant) {
        self.kind = kind
        self.instant = instant
    }

    init?(text: String) {
        let parts = text.words(maxSplits: 1)
        guard parts.count == 2, let kind = DeadlineKind(rawValue: parts[0]), let time = UInt64(parts[1])
        else { return nil }
        self.init(kind, Instant(microseconds: time))
    }

    func write(to slot: inout SlotWriter) {
        slot.text(kind.rawValue)
        slot.number(instant.microseconds)
    }

    init?(from slot: inout SlotReader) {
        guard let kind: DeadlineKind = slot.word(), let time = slot.number() else { return nil }
        self.init(kind, Instant(microseconds: time))
    }
}

extension Assertion: SavedItem {
    /// The parts, between separators.
    public var text: String { "\(kind.rawValue):\(number):\(since.microseconds):\(name)" }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(maxSplits: 3)
        guard parts.count == 4, let kind = Kind(rawValue: parts[0]), let number = UInt64(parts[1]),
            let since = UInt64(parts[2])
        else { return nil }
        self.init(kind: kind, number: number, name: parts[3], since: Instant(microseconds: since))
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.text(kind.rawValue)
        slot.number(number)
        slot.number(since.microseconds)
        slot.text(name)
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let kind: Kind = slot.word(), let number = slot.number(), let since = slot.number(),
            let name = slot.text()
        else { return nil }
        self.init(kind: kind, number: number, name: name, since: Instant(microseconds: since))
    }
}

extension PendingCallback: SavedItem {
    /// The callback, and its scene if it has one.
    public var text: String { callback.rawValue + (scene.map { ":\($0)" } ?? "") }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(maxSplits: 1)
        guard let callback = Callback(rawValue: parts[0]) else { return nil }
        self.init(saved: callback, parts.count == 2 ? SceneID(parts[1]) : nil)
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.text(callback.rawValue)
        if let scene { slot.text(scene.name) }
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let callback: Callback = slot.word() else { return nil }
        self.init(saved: callback, slot.text().flatMap { SceneID($0) })
    }

    private init?(saved callback: Callback, _ scene: SceneID?) {
        guard (scene != nil) == callback.isAboutScene, !callback.needsEvent else { return nil }
        self.init(callback, scene)
    }
}

/// A resignation behind a callback: number, deadline, instant of sending, state that it names, state that follows, and callback.
extension SentCallback: SavedItem {
    /// The parts, between separators.
    public var text: String {
        let next: String =
            switch self.next {
            case .app(let state): state.rawValue
            case .scene(let state): state.rawValue
            case nil: ""
            }
        let numbers = "\(delivery.sequence):\(delivery.deadline.microseconds):\(sent.microseconds)"
        return "\(numbers):\(delivery.state.rawValue):\(next):\(delivery.pending.text)"
    }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(maxSplits: 5)
        guard parts.count == 6, let sequence = UInt64(parts[0]), let deadline = UInt64(parts[1]),
            let sent = UInt64(parts[2]), let state = AppState(rawValue: parts[3]),
            let callback = PendingCallback(text: parts[5])
        else { return nil }
        self.init(
            resignation: callback, sequence, deadline: deadline, sent: sent, state, hasNext: !parts[4].isEmpty)
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.number(delivery.sequence)
        slot.number(delivery.deadline.microseconds)
        slot.number(sent.microseconds)
        slot.text(delivery.state.rawValue)
        slot.byte(next == nil ? 0 : 1)
        delivery.pending.write(to: &slot)
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let sequence = slot.number(), let deadline = slot.number(), let sent = slot.number(),
            let state: AppState = slot.word(), let hasNext = slot.byte(), let callback = PendingCallback(from: &slot)
        else { return nil }
        self.init(resignation: callback, sequence, deadline: deadline, sent: sent, state, hasNext: hasNext == 1)
    }

    private init?(
        resignation callback: PendingCallback, _ sequence: UInt64, deadline: UInt64, sent: UInt64, _ state: AppState,
        hasNext: Bool
    ) {
        guard callback.isResignation else { return nil }
        var delivery = Delivery(
            sequence: sequence, callback: callback.callback, deadline: Instant(microseconds: deadline), state: state)
        if let scene = callback.scene { delivery.subject = .scene(SceneNews(scene: scene, reason: nil)) }
        let next: NextState = callback.scene == nil ? .app(.inactive) : .scene(.foregroundInactive)
        self.init(delivery: delivery, sent: Instant(microseconds: sent), next: hasNext ? next : nil)
    }
}

extension QueuedEvent: SavedItem {
    /// The parts, between separators.
    public var text: String {
        ([String(number), event.callback.rawValue] + event.parts.map { SavedText.escaped($0) })
            .joined(separator: String(SavedText.separator))
    }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(separator: SavedText.separator, maxSplits: 4)
        guard parts.count >= 2, let number = UInt64(parts[0]), let callback = Callback(rawValue: parts[1]),
            let event = AppEvent(callback, parts.dropFirst(2).map { SavedText.unescaped($0) })
        else { return nil }
        self.init(number: number, event: event)
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.number(number)
        slot.text(event.callback.rawValue)
        for part in event.parts { slot.text(part) }
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let number = slot.number(), let callback: Callback = slot.word() else { return nil }
        var parts: [String] = []
        while let part = slot.text() { parts.append(part) }
        guard let event = AppEvent(callback, parts) else { return nil }
        self.init(number: number, event: event)
    }
}

extension AppEvent {
    fileprivate var parts: [String] {
        switch self {
        case .openURL(let url, let type, let source): [type ?? "", source ?? "", url]
        case .continueActivity(let type, let info): [type, info]
        case .performTask(let kind, let payload): [kind, payload]
        case .notice: []
        }
    }

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
