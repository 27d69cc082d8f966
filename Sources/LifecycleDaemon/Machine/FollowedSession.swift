import LifecycleCore

/// What a daemon has to know of the session that the one before has followed.
///
/// That the session is locked, the core knows. By whose word, decides what ends it: a locker that said so and says so no
/// more has unlocked it, though nobody heard that, and one that was only asked to lock is locked until it is asked to
/// unlock.
nonisolated struct FollowedSession: Equatable, Sendable {
    /// logind's object for it; nil before one was found.
    var path: String?
    /// Whether its locker said that it is locked.
    var hint = false
}

extension FollowedSession {
    init(saved record: SavedRecord) {
        self.init(path: record["path"], hint: record["hint"] == "1")
    }

    var saved: SavedRecord {
        var record = SavedRecord()
        record.add("path", path)
        record.add("hint", hint ? "1" : nil)
        return record
    }
}
