// The small parts of a saved app, each as one word or as words with colons between them.

extension Wish {
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

extension Ending {
    var text: String { "\(state.rawValue):\(status.word):\(reason)" }

    init?(text: String) {
        let parts = text.words(maxSplits: 2)
        guard parts.count == 3, let state = AppState(rawValue: parts[0]) else { return nil }
        self.init(state: state, reason: Reason(saved: parts[2]), status: ExitStatus(word: parts[1]))
    }
}

extension Hold {
    var text: String { "\(kind.rawValue):\(number):\(since.microseconds):\(name)" }

    init?(text: String) {
        let parts = text.words(maxSplits: 3)
        guard parts.count == 4, let kind = Kind(rawValue: parts[0]), let number = UInt64(parts[1]),
            let since = UInt64(parts[2])
        else { return nil }
        self.init(kind: kind, number: number, name: parts[3], since: Instant(microseconds: since))
    }
}

extension Notice {
    /// The callback, and the scene where there is one.
    var text: String { callback.rawValue + (scene.map { ":\($0)" } ?? "") }

    init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard let callback = parts.first.flatMap({ Callback(rawValue: $0) }) else { return nil }
        let scene = parts.dropFirst().first.flatMap { SceneID($0) }
        guard (scene != nil) == callback.isAboutScene, !callback.needsEvent else { return nil }
        self.init(callback, scene)
    }
}

extension Resignation {
    /// The number, when it is to be answered, when it was sent, the state that was told, the state that follows, and the notice.
    var text: String {
        let next: String =
            switch arrival {
            case .app(let state): state.rawValue
            case .scene(let state): state.rawValue
            case nil: ""
            }
        let numbers = [delivery.sequence, delivery.deadline.microseconds, sent.microseconds].map { String($0) }
        return (numbers + [delivery.state.rawValue, next, delivery.notice.text]).joined(separator: ":")
    }

    init?(text: String) {
        let parts = text.words(maxSplits: 5)
        guard parts.count == 6, let sequence = UInt64(parts[0]), let deadline = UInt64(parts[1]),
            let sent = UInt64(parts[2]), let state = AppState(rawValue: parts[3]), let notice = Notice(text: parts[5]),
            notice.isResignation
        else { return nil }
        var delivery = Delivery(
            sequence: sequence, callback: notice.callback, deadline: Instant(microseconds: deadline), state: state)
        delivery.scene = notice.scene.map { SceneNews(scene: $0, reason: nil) }
        let arrival: Arrival? = notice.scene == nil ? .app(.inactive) : .scene(.foregroundInactive)
        self.init(delivery: delivery, sent: Instant(microseconds: sent), arrival: parts[4].isEmpty ? nil : arrival)
    }
}

extension Arrival {
    init?(saved record: SavedRecord) {
        if let state = record.word("next", as: AppState.self) {
            self = .app(state)
        } else if let state = record.word("next-scene", as: SceneState.self) {
            self = .scene(state)
        } else {
            return nil
        }
    }

    func save(in record: inout SavedRecord) {
        switch self {
        case .app(let state): record.add("next", state.rawValue)
        case .scene(let state): record.add("next-scene", state.rawValue)
        }
    }
}
