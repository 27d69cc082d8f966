/// A round of ending apps for their memory: one at a time, with a look at the memory after each.
struct Reclaim: Sendable, Equatable {
    /// What the round waits for.
    enum Phase: String, Sendable {
        /// That the app is gone.
        case ending
        /// How much has come back, and whether that is enough.
        case looking
    }

    /// The app that is ended, or was the last to be.
    var victim: AppID
    /// Why it, and not another.
    var account: Reclaimed
    var phase = Phase.ending
    /// Whether scenes were disconnected, and no app was ended.
    var isAboutScenes = false
    /// Whether somebody wants every app gone that may go, whatever the memory says.
    var isForAll = false
    /// The apps that are gone so far.
    var reclaimed: [AppID] = []
    /// Who waits for the end of the round. They are gone with the daemon, and not saved.
    var waiters: [RequestID] = []
}

extension Reclaim {
    init?(saved record: SavedRecord) {
        guard let victim = record["reclaim-victim"], let account = Reclaimed(saved: record) else { return nil }
        self.init(victim: AppID(victim), account: account)
        phase = record.word("reclaim-phase") ?? .looking
        isForAll = record.has("reclaim-all")
        isAboutScenes = record.has("reclaim-scenes")
    }

    func save(in record: inout SavedRecord) {
        record.add("reclaim-victim", victim.name)
        record.add("reclaim-phase", phase.rawValue)
        record.add("reclaim-all", if: isForAll)
        record.add("reclaim-scenes", if: isAboutScenes)
        account.save(in: &record)
    }
}
