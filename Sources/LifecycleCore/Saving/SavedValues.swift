// The parts of a saved app, each with the table of its type: values of a slot, and one line of text.

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
    /// Writes or reads the text.
    package static func code(_ item: inout String?, with parts: inout some PartCoder & ~Copyable) { parts.rest(&item) }
}

extension AppID: SavedItem {
    /// Writes or reads the name, which is not empty.
    package static func code(_ item: inout AppID?, with parts: inout some PartCoder & ~Copyable) {
        var name = item?.name
        parts.rest(&name)
        if parts.isReading { item = name.flatMap { $0.isEmpty ? nil : AppID($0) } }
    }
}

extension SceneID: SavedItem {
    /// Writes or reads the name, which is valid.
    package static func code(_ item: inout SceneID?, with parts: inout some PartCoder & ~Copyable) {
        var name = item?.name
        parts.rest(&name)
        if parts.isReading { item = name.flatMap { SceneID($0) } }
    }
}

extension ForegroundBlocker: SavedItem {
    /// Writes or reads the word.
    package static func code(_ item: inout ForegroundBlocker?, with parts: inout some PartCoder & ~Copyable) {
        parts.word(&item)
    }
}

extension ExitStatus {
    /// Writes or reads the kernel's account of an end: in a slot a byte for its kind, and its number.
    fileprivate static func code(_ status: inout ExitStatus?, with parts: inout some PartCoder & ~Copyable) {
        if parts.isText {
            var word = status?.word
            parts.text(&word)
            if parts.isReading { status = word.map { ExitStatus(word: $0) } }
            return
        }
        var (kind, number): (UInt8?, UInt64?) = (0, nil)
        if case .code(let code) = status { (kind, number) = (1, UInt64(bitPattern: Int64(code))) }
        if case .signal(let signal) = status { (kind, number) = (2, UInt64(bitPattern: Int64(signal))) }
        parts.byte(&kind)
        if kind == 1 || kind == 2 { parts.number(&number) }
        guard parts.isReading else { return }
        let value = number.map { Int32(truncatingIfNeeded: $0) }
        status = value.map { kind == 1 ? .code($0) : .signal($0) } ?? .unknown
    }

    private var word: String {
        switch self {
        case .code(let code): "code \(code)"
        case .signal(let number): "signal \(number)"
        case .unknown: "unknown"
        }
    }

    private init(word: String) {
        let parts = word.split(separator: " ")
        switch (parts.first, parts.last.flatMap { Int32($0) }) {
        case ("code", let code?): self = .code(code)
        case ("signal", let number?): self = .signal(number)
        default: self = .unknown
        }
    }
}

extension ExitRecord: SavedItem {
    /// Writes or reads the end of an app.
    package static func code(_ item: inout ExitRecord?, with parts: inout some PartCoder & ~Copyable) {
        var (instant, state, status, reason) = (item?.instant, item?.state, item?.status, item?.reason.rawValue)
        parts.instant(&instant)
        parts.word(&state)
        ExitStatus.code(&status, with: &parts)
        parts.rest(&reason)
        guard parts.isReading else { return }
        item = nil
        guard let instant, let state, let status, let reason else { return }
        item = ExitRecord(state: state, reason: Reason(saved: reason), status: status, instant: instant)
    }
}

extension Termination: SavedItem {
    /// Writes or reads an end that has begun.
    package static func code(_ item: inout Termination?, with parts: inout some PartCoder & ~Copyable) {
        var (state, status, reason) = (item?.state, item?.status, item?.reason.rawValue)
        parts.word(&state)
        ExitStatus.code(&status, with: &parts)
        parts.rest(&reason)
        guard parts.isReading else { return }
        item = nil
        guard let state, let status, let reason else { return }
        item = Termination(state: state, reason: Reason(saved: reason), status: status)
    }
}

/// A deadline of an app.
struct SavedDeadline: SavedItem {
    let kind: DeadlineKind
    let instant: Instant

    static func code(_ item: inout SavedDeadline?, with parts: inout some PartCoder & ~Copyable) {
        var (kind, instant) = (item?.kind, item?.instant)
        parts.word(&kind)
        parts.instant(&instant)
        guard parts.isReading else { return }
        item = nil
        guard let kind, let instant else { return }
        item = SavedDeadline(kind: kind, instant: instant)
    }
}

extension Assertion: SavedItem {
    /// Writes or reads an assertion. The app chooses the name.
    package static func code(_ item: inout Assertion?, with parts: inout some PartCoder & ~Copyable) {
        var (kind, number, since, name) = (item?.kind, item?.number, item?.since, item?.name)
        parts.word(&kind)
        parts.number(&number)
        parts.instant(&since)
        parts.rest(&name)
        guard parts.isReading else { return }
        item = nil
        guard let kind, let number, let since, let name else { return }
        item = Assertion(kind: kind, number: number, name: name, since: since)
    }
}

extension PendingCallback: SavedItem {
    /// Writes or reads the callback, and its scene if it has one.
    package static func code(_ item: inout PendingCallback?, with parts: inout some PartCoder & ~Copyable) {
        var (callback, scene) = (item?.callback, item?.scene)
        parts.word(&callback)
        if parts.isReading || scene != nil { SceneID.code(&scene, with: &parts) }
        guard parts.isReading else { return }
        item = nil
        guard let callback, (scene != nil) == callback.isAboutScene, !callback.needsEvent else { return }
        item = PendingCallback(callback, scene)
    }
}

extension SentCallback: SavedItem {
    /// Writes or reads a resignation behind a callback. The state that follows is that of any resignation, or there is none.
    package static func code(_ item: inout SentCallback?, with parts: inout some PartCoder & ~Copyable) {
        let delivery = item?.delivery
        var (sequence, deadline, sent) = (delivery?.sequence, delivery?.deadline, item?.sent)
        var (state, next, callback) = (delivery?.state, item?.next?.word, delivery?.pending)
        var hasNext: UInt8? = next == nil ? 0 : 1
        parts.number(&sequence)
        parts.instant(&deadline)
        parts.instant(&sent)
        parts.word(&state)
        if parts.isText {
            parts.text(&next)
            hasNext = (next ?? "").isEmpty ? 0 : 1
        } else {
            parts.byte(&hasNext)
        }
        PendingCallback.code(&callback, with: &parts)
        guard parts.isReading else { return }
        item = nil
        guard let sequence, let deadline, let sent, let state, let callback, callback.isResignation else { return }
        var resignation = Delivery(
            sequence: sequence, callback: callback.callback, deadline: deadline, state: state)
        if let scene = callback.scene { resignation.subject = .scene(SceneNews(scene: scene, reason: nil)) }
        item = SentCallback(
            delivery: resignation, sent: sent, next: hasNext == 1 ? callback.stateAfterResignation : nil)
    }
}

extension NextState {
    fileprivate var word: String {
        switch self {
        case .app(let state): state.rawValue
        case .scene(let state): state.rawValue
        }
    }
}

extension QueuedEvent: SavedItem {
    /// A byte that is escaped in the texts of an event.
    package static var separator: Unicode.Scalar { SavedText.separator }

    /// Writes or reads an event and its number.
    package static func code(_ item: inout QueuedEvent?, with parts: inout some PartCoder & ~Copyable) {
        var (number, callback, texts) = (item?.number, item?.event.callback, item?.event.parts ?? [])
        parts.number(&number)
        parts.word(&callback)
        parts.texts(&texts)
        guard parts.isReading else { return }
        item = nil
        guard let number, let callback, let event = AppEvent(callback, texts) else { return }
        item = QueuedEvent(number: number, event: event)
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

// MARK: - Scenes

extension Scenes {
    /// Creates the scenes of a record, as far as they are legal in the state of their app.
    init(saved: Scenes, in app: AppState) {
        self.init()
        for var scene in saved.all where all.count < Self.limit && self[scene.id] == nil {
            scene.state = scene.state.nearest(in: app)
            all.append(scene)
        }
        for id in saved.foreground {
            guard !foreground.contains(id), let scene = self[id], !scene.isClosing else { continue }
            foreground.append(id)
        }
    }
}

extension Scene: SavedItem {
    /// A byte that is in none of the words. The info, which may contain it, comes last.
    package static var separator: Unicode.Scalar { SavedText.separator }

    /// Writes or reads a scene.
    package static func code(_ item: inout Scene?, with parts: inout some PartCoder & ~Copyable) {
        var (name, role, origin, state) = (item?.id.name, item?.role, item?.origin.rawValue, item?.state)
        var (reason, since, last) = (item?.reason.rawValue, item?.since, item?.lastInForeground)
        var (desiredReason, flags, info) = (item?.desiredReason?.rawValue, item.map { Flags($0) }, item?.info)
        parts.text(&name)
        parts.text(&role)
        parts.text(&origin)
        parts.word(&state)
        parts.text(&reason)
        parts.instant(&since)
        if !parts.isText { Flags.code(&flags, with: &parts) }
        parts.optionalInstant(&last)
        parts.text(&desiredReason)
        if parts.isText { Flags.code(&flags, with: &parts) }
        parts.rest(&info)
        guard parts.isReading else { return }
        item = nil
        guard let id = name.flatMap({ SceneID($0) }), let role, SceneID.isWord(role), let state,
            let origin = origin.flatMap({ Origin(saved: $0) }),
            let reason, let flags
        else { return }
        if let text = info, text.utf8.count > SceneText.infoLimit || parts.isText && !flags.contains(.info) {
            info = nil
        }
        var scene = Scene(id: id, role: role, info: info, origin: origin, since: since ?? Instant(microseconds: 0))
        (scene.state, scene.reason, scene.lastInForeground) = (state, Reason(saved: reason), last)
        scene.desiredReason = desiredReason.flatMap { $0.isEmpty ? nil : Reason(saved: $0) }
        scene.wasConnected = flags.contains(.connected)
        scene.isWanted = flags.contains(.wanted)
        scene.isClosing = flags.contains(.closing)
        item = scene
    }

    /// The flags of a scene: bits of a byte, and letters in text, where one says whether there is an info.
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let connected = Flags(rawValue: 1)
        static let wanted = Flags(rawValue: 2)
        static let closing = Flags(rawValue: 4)
        static let info = Flags(rawValue: 8)
        private static let letters: [(flag: Flags, letter: Unicode.Scalar)] = [
            (.connected, "c"), (.wanted, "w"), (.closing, "x"), (.info, "i"),
        ]

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ scene: Scene) {
            self = []
            if scene.wasConnected { insert(.connected) }
            if scene.isWanted { insert(.wanted) }
            if scene.isClosing { insert(.closing) }
            if scene.info != nil { insert(.info) }
        }

        static func code(_ flags: inout Flags?, with parts: inout some PartCoder & ~Copyable) {
            guard parts.isText else {
                var byte = flags?.subtracting(.info).rawValue
                parts.byte(&byte)
                flags = byte.map { Flags(rawValue: $0) }
                return
            }
            var text: String? = letters.filter { flags?.contains($0.flag) ?? false }.map { String($0.letter) }.joined()
            parts.text(&text)
            flags = text.map { text in Flags(letters.filter { text.unicodeScalars.contains($0.letter) }.map { $0.flag })
            }
        }
    }
}

extension Scene.Origin {
    /// The reason of the first connection.
    var reason: SceneReason {
        switch self {
        case .user: .user
        case .system: .system
        case .app: .app
        }
    }

    /// Creates the origin of a word in a record.
    fileprivate init?(saved word: String) {
        guard let reason = SceneReason(saved: word) else { return nil }
        self.init(rawValue: reason.rawValue)
    }
}

extension SceneReason {
    /// Creates the reason of a word in a record, as it is written now, or as it was.
    init?(saved word: String) { self.init(rawValue: word == "person" ? "user" : word) }
}

extension SceneState {
    /// Returns the state, or the nearest state that the state of the app allows.
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
