import LifecycleCore

/// A transition that is saved and performed, and not yet told to the journal, the history and the subscribers.
///
/// The reply to the request comes first. A successor tells what the daemon could not.
enum Announcement: Equatable {
    case app(LifecycleCore.Transition)
    case scene(LifecycleCore.SceneTransition)

    /// Creates the announcement of an effect; nil for an effect that is no transition.
    init?(_ effect: Effect) {
        switch effect {
        case .transition(let transition): self = .app(transition)
        case .sceneTransition(let transition): self = .scene(transition)
        default: return nil
        }
    }

    /// The app, or the app of the scene.
    var app: AppID {
        switch self {
        case .app(let transition): transition.app
        case .scene(let transition): transition.app
        }
    }

    /// The record for a successor.
    var saved: SavedRecord {
        switch self {
        case .app(let step):
            Self.record(
                step.app, scene: nil, step.from.rawValue, step.to.rawValue, step.reason, step.instant,
                since: step.since,
                step.answerTime)
        case .scene(let step):
            Self.record(
                step.app, scene: step.scene, step.from.rawValue, step.to.rawValue, step.reason, step.instant,
                since: nil,
                step.answerTime)
        }
    }

    private static func record(
        _ app: AppID, scene: SceneID?, _ from: String, _ to: String, _ reason: Reason, _ instant: Instant,
        since: Instant?, _ answer: Duration?
    ) -> SavedRecord {
        var saved = SavedRecord()
        saved.add("id", app.name)
        saved.add("scene", scene?.name)
        saved.add("from", from)
        saved.add("to", to)
        saved.add("reason", reason.rawValue)
        saved.add("at", instant.microseconds)
        saved.add("since", since?.microseconds)
        saved.add("answer", answer?.wholeMicroseconds)
        return saved
    }

    /// Creates the announcement that a former daemon has left; nil for a record without meaning.
    init?(saved record: SavedRecord) {
        guard let name = record["id"], let instant = Self.instant(record["at"]) else { return nil }
        let (app, from, to) = (AppID(name), record["from"] ?? "", record["to"] ?? "")
        let reason = Reason(saved: record["reason"] ?? "")
        let answer = record["answer"].flatMap { Int64($0) }.map { Duration.microseconds($0) }
        if let scene = record["scene"].flatMap({ SceneID($0) }) {
            guard let from = SceneState(rawValue: from), let to = SceneState(rawValue: to) else { return nil }
            self = .scene(
                SceneTransition(
                    app: app, scene: scene, from: from, to: to, reason: reason, instant: instant, answerTime: answer))
        } else {
            guard let from = AppState(rawValue: from), let to = AppState(rawValue: to) else { return nil }
            self = .app(
                Transition(
                    app: app, from: from, to: to, reason: reason, instant: instant,
                    since: Self.instant(record["since"]) ?? instant, answerTime: answer))
        }
    }

    private static func instant(_ text: String?) -> Instant? {
        text.flatMap { UInt64($0) }.map { Instant(microseconds: $0) }
    }
}
