/// A transition of an app or of a scene as it is saved, until it is announced.
public struct SavedTransition: Sendable {
    private var app: AppID?
    private var scene: SceneID?
    private var from: String?
    private var to: String?
    private var reason = Reason.none
    private var instant: Instant?
    private var since: Instant?
    private var answer: UInt64?

    @inline(__always) private init(_ step: Transition) {
        (app, from, to, reason) = (step.app, step.from.rawValue, step.to.rawValue, step.reason)
        (instant, since, answer) = (step.instant, step.since, step.answerTime?.wholeMicroseconds)
    }

    @inline(__always) private init(_ step: SceneTransition) {
        (app, scene, from, to) = (step.app, step.scene, step.from.rawValue, step.to.rawValue)
        (reason, instant, answer) = (step.reason, step.instant, step.answerTime?.wholeMicroseconds)
    }

    /// Reads a record that was written to a slot.
    public init(from slot: inout SlotReader) { code(with: &slot) }

    /// Reads a record as text.
    public init(_ record: SavedRecord) {
        var reader = RecordReader(record)
        code(with: &reader)
    }

    /// Adds the record of a transition to a slot.
    public static func write(_ step: Transition, to slot: inout SlotWriter) {
        var saved = Self(step)
        saved.code(with: &slot)
    }

    /// Adds the record of a scene's transition to a slot.
    public static func write(_ step: SceneTransition, to slot: inout SlotWriter) {
        var saved = Self(step)
        saved.code(with: &slot)
    }

    /// Writes or reads the values: the table of a saved transition.
    private mutating func code(with coder: inout some SavedCoder & ~Copyable) {
        coder.item("id", &app)
        coder.item("scene", &scene)
        coder.text("from", &from)
        coder.text("to", &to)
        coder.reason("reason", &reason)
        coder.instant("at", &instant)
        coder.instant("since", &since)
        coder.number("answer", &answer)
    }

    private var answerTime: Duration? { answer.map { Duration.microseconds(Int64(clamping: $0)) } }

    /// The transition; nil for that of a scene, and for a record without meaning.
    public var transition: Transition? {
        guard scene == nil, let app, let instant, let from = from.flatMap({ AppState(rawValue: $0) }),
            let to = to.flatMap({ AppState(rawValue: $0) })
        else { return nil }
        return Transition(
            app: app, from: from, to: to, reason: reason, instant: instant, since: since ?? instant,
            answerTime: answerTime)
    }

    /// The transition of a scene; nil for that of an app, and for a record without meaning.
    public var sceneTransition: SceneTransition? {
        guard let app, let scene, let instant, let from = from.flatMap({ SceneState(rawValue: $0) }),
            let to = to.flatMap({ SceneState(rawValue: $0) })
        else { return nil }
        return SceneTransition(
            app: app, scene: scene, from: from, to: to, reason: reason, instant: instant, answerTime: answerTime)
    }
}
