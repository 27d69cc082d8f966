import LifecycleCore

/// A transition that is saved and performed, and not yet told to the journal, the history and the subscribers.
///
/// The reply to the request comes first. A successor tells what the daemon could not.
nonisolated enum Announcement: Equatable {
    case app(LifecycleCore.Transition)
    case scene(LifecycleCore.SceneTransition)

    /// The app, or the app of the scene.
    var app: AppID {
        switch self {
        case .app(let transition): transition.app
        case .scene(let transition): transition.app
        }
    }

    /// The state that the app has entered; nil for a transition of a scene.
    var state: AppState? { if case .app(let transition) = self { transition.to } else { nil } }

    /// Reads the announcements of a slot that a former daemon has left.
    static func read(_ bytes: ArraySlice<UInt8>) -> [Announcement] {
        var reader = SlotReader(bytes)
        var announcements: [Announcement] = []
        while !reader.isAtEnd {
            if let announcement = Announcement(SavedTransition(from: &reader)) { announcements.append(announcement) }
        }
        return announcements
    }

    /// Creates the announcement of a record as text; nil for a record without meaning.
    init?(saved record: SavedRecord) { self.init(SavedTransition(record)) }

    /// Adds the record of the announcement to a slot.
    func write(to slot: inout SlotWriter) {
        switch self {
        case .app(let transition): SavedTransition.write(transition, to: &slot)
        case .scene(let transition): SavedTransition.write(transition, to: &slot)
        }
    }

    private init?(_ saved: SavedTransition) {
        if let transition = saved.transition {
            self = .app(transition)
        } else if let transition = saved.sceneTransition {
            self = .scene(transition)
        } else {
            return nil
        }
    }
}
