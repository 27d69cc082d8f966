/// A transition that is saved and performed, and not yet told to the journal, the history and the subscribers.
///
/// The reply to the request comes first. The next daemon tells what the daemon could not.
public enum Announcement: Sendable, Equatable {
    /// A transition of an app.
    case app(Transition)
    /// A transition of a scene.
    case scene(SceneTransition)

    /// The app, or the app of the scene.
    public var app: AppID {
        switch self {
        case .app(let step): step.app
        case .scene(let step): step.app
        }
    }

    /// The state that the app has entered; nil for a transition of a scene.
    public var state: AppState? { if case .app(let step) = self { step.to } else { nil } }

    /// Reads the announcements of a slot that the previous daemon has left. A record without meaning is none.
    public static func read(_ bytes: ArraySlice<UInt8>) -> [Announcement] {
        var reader = SlotReader(bytes)
        var announcements: [Announcement] = []
        while !reader.isAtEnd {
            if let announcement = code(nil, nil, with: &reader) { announcements.append(announcement) }
        }
        return announcements
    }

    /// Adds the record of the announcement to a slot.
    public func write(to slot: inout SlotWriter) {
        switch self {
        case .app(let step): Self.write(step, to: &slot)
        case .scene(let step): Self.write(step, to: &slot)
        }
    }

    /// Adds the record of a transition to a slot.
    ///
    /// - Parameters:
    ///   - step: The transition.
    ///   - slot: The slot.
    public static func write(_ step: consuming Transition, to slot: inout SlotWriter) {
        _ = code(step, nil, with: &slot)
    }

    /// Adds the record of a scene's transition to a slot.
    ///
    /// - Parameters:
    ///   - step: The transition.
    ///   - slot: The slot.
    public static func write(_ step: consuming SceneTransition, to slot: inout SlotWriter) {
        _ = code(nil, step, with: &slot)
    }

    /// Writes or reads the values: the table of a saved transition. Returns what was read.
    private static func code(
        _ step: Transition?, _ other: SceneTransition?, with coder: inout some SavedCoder & ~Copyable
    ) -> Announcement? {
        let app = coder.item("id", step?.app ?? other?.app)
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
