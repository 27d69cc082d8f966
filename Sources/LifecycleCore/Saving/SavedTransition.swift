/// A transition of an app or of a scene as it is saved, until it is announced.
public struct SavedTransition: Sendable {
    /// The transition; nil for that of a scene, and for a record without meaning.
    public private(set) var transition: Transition?
    /// The transition of a scene; nil for that of an app, and for a record without meaning.
    public private(set) var sceneTransition: SceneTransition?

    private init() {}

    /// Reads a record that was written to a slot.
    public init(from slot: inout SlotReader) { self = Self.code(nil, nil, with: &slot) }

    /// Reads a record as text.
    public init(_ record: SavedRecord) {
        var reader = RecordReader(record)
        self = Self.code(nil, nil, with: &reader)
    }

    /// Adds the record of a transition to a slot.
    ///
    /// - Parameters:
    ///   - step: The transition.
    ///   - slot: The writer, to which the record is added.
    public static func write(_ step: consuming Transition, to slot: inout SlotWriter) {
        _ = code(step, nil, with: &slot)
    }

    /// Adds the record of a scene's transition to a slot.
    ///
    /// - Parameters:
    ///   - step: The transition.
    ///   - slot: The writer, to which the record is added.
    public static func write(_ step: consuming SceneTransition, to slot: inout SlotWriter) {
        _ = code(nil, step, with: &slot)
    }

    /// Writes or reads the values: the table of a saved transition.
    @inline(__always)
    private static func code(
        _ step: Transition?, _ other: SceneTransition?, with coder: inout some SavedCoder & ~Copyable
    ) -> SavedTransition {
        let app = coder.item("id", step?.app ?? other?.app)
        let scene = coder.item("scene", other?.scene)
        let from = coder.text("from", step?.from.rawValue ?? other?.from.rawValue)
        let to = coder.text("to", step?.to.rawValue ?? other?.to.rawValue)
        var reason = step?.reason ?? other?.reason ?? .none
        coder.reason("reason", &reason)
        let instant = coder.instant("at", step?.instant ?? other?.instant)
        let since = coder.instant("since", step?.since)
        let answer = coder.number("answer", (step?.answerTime ?? other?.answerTime)?.wholeMicroseconds)
        var saved = SavedTransition()
        guard coder.isReading, let app, let from, let to, let instant else { return saved }
        let answerTime = answer.map { Duration.microseconds(Int64(clamping: $0)) }
        if let scene, let from = SceneState(rawValue: from), let to = SceneState(rawValue: to) {
            saved.sceneTransition = SceneTransition(
                app: app, scene: scene, from: from, to: to, reason: reason, instant: instant, answerTime: answerTime)
        } else if scene == nil, let from = AppState(rawValue: from), let to = AppState(rawValue: to) {
            saved.transition = Transition(
                app: app, from: from, to: to, reason: reason, instant: instant, since: since ?? instant,
                answerTime: answerTime)
        }
        return saved
    }
}
