extension Announcement {
    /// A transition as it is saved under the name of its app; nil for a decision, which is not saved.
    public var record: SavedRecord? {
        if case .decision = self { return nil }
        var writer = SavedCoder()
        _ = Self.code(self, app, with: &writer)
        return writer.record
    }

    /// Reads a transition that the previous daemon has not announced; nil for a record without meaning.
    ///
    /// - Parameters:
    ///   - app: The app, or the app of the scene.
    ///   - record: The record.
    public init?(of app: AppID, _ record: SavedRecord) {
        var reader = SavedCoder(reading: record)
        guard let announcement = Self.code(nil, app, with: &reader) else { return nil }
        self = announcement
    }

    /// Writes or reads the values: the table of a saved transition. Returns what was read.
    private static func code(_ item: Announcement?, _ app: AppID?, with coder: inout SavedCoder) -> Announcement? {
        var (step, other): (Transition?, SceneTransition?) = (nil, nil)
        switch item {
        case .app(let transition): step = transition
        case .scene(let transition): other = transition
        case .decision, nil: break
        }
        let scene = coder.item("scene", other?.scene)
        let from = coder.text("from", step?.from.rawValue ?? other?.from.rawValue)
        let to = coder.text("to", step?.to.rawValue ?? other?.to.rawValue)
        var reason = step?.reason ?? other?.reason ?? .none
        coder.reason("reason", &reason)
        let instant = coder.instant("at", step?.instant ?? other?.instant)
        let since = coder.instant("since", step?.since)
        let answer = coder.number("answer", (step?.answerTime ?? other?.answerTime)?.wholeMicroseconds)
        guard coder.isReading, let app, let from, let to, let instant else { return nil }
        let answerTime = answer.map { Duration.microseconds(Int64(clamping: $0)) }
        if let scene {
            guard let from = SceneState(rawValue: from), let to = SceneState(rawValue: to) else { return nil }
            return .scene(
                SceneTransition(
                    app: app, scene: scene, from: from, to: to, reason: reason, instant: instant,
                    answerTime: answerTime))
        }
        guard let from = AppState(rawValue: from), let to = AppState(rawValue: to) else { return nil }
        return .app(
            Transition(
                app: app, from: from, to: to, reason: reason, instant: instant, since: since ?? instant,
                answerTime: answerTime))
    }
}
