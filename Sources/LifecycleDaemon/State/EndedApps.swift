import Glibc
import LifecycleCore

/// The last apps that ended and are no longer known, and the last launches that failed: one record an app, of
/// ``limit`` apps at most.
///
/// The state file has them for the next daemon; the state directory has them after a daemon that has ended all apps.
final class EndedApps {
    /// The last of one app.
    struct Record {
        let id: AppID
        let name: String?
        let command: [String]
        let isAdopted: Bool
        /// The user that it ran as; nil where only the name is known.
        let user: UInt32?
        /// When it ended, or could not be launched, in microseconds since the epoch.
        let time: Int64
        /// How it ended; nil where it could not be launched.
        let exit: Exit?
        /// Why it, and not another, was ended for its memory, where it was.
        fileprivate(set) var reclaimed: Reclaimed?
        /// Why it could not be launched.
        let launchFailure: String?
        /// What lets it be launched, after such a failure.
        let launchRemedy: String?
    }

    static let limit = 100
    /// The name of the only file in the directory of the records.
    private static let fileName = AppID("apps")

    private let keeper: StateKeeper
    private let file: AppRecords
    /// The oldest first.
    private(set) var records: [Record] = []

    init(keeper: StateKeeper, records: AppRecords) {
        self.keeper = keeper
        file = records
    }

    subscript(id: AppID) -> Record? { records.last { $0.id == id } }

    /// Takes note of an app in the place of what was known of it.
    func note(_ record: Record) {
        keep(record)
        keeper.keep(.ended, record.saved)
    }

    /// Adds how much memory an app gave back that was ended for it.
    func note(_ account: Reclaimed, of id: AppID) {
        guard var record = self[id], record.exit?.reason == .reclaimed else { return }
        record.reclaimed = account
        note(record)
    }

    private func keep(_ record: Record) {
        records.removeAll { $0.id == record.id }
        records.append(record)
        if records.count > Self.limit { records.removeFirst(records.count - Self.limit) }
    }

    /// Takes what a daemon has left in its state file.
    func restore(_ saved: [SavedRecord]) {
        for record in saved { Record(saved: record).map(keep) }
    }

    /// Takes what a daemon has left that has ended all apps.
    func restore() { restore(file.read(Self.fileName)) }

    /// Leaves the records for a daemon that is started when all apps have ended.
    func leave() { file.write(records.map(\.saved), of: Self.fileName) }
}

extension EndedApps.Record {
    /// How much is kept of a command, in words and in characters a word.
    private static let words = 8
    private static let wordLength = 64
    /// How much is kept of the error of a launch, in characters: as much as names a path and its error.
    static let failureLength = 512

    init(
        _ id: AppID, _ definition: AppDefinition?, time: Int64, exit: Exit? = nil, reclaimed: Reclaimed? = nil,
        launchFailure: String? = nil, launchRemedy: String? = nil
    ) {
        self.id = id
        name = definition?.name.map { String($0.prefix(Self.wordLength)) }
        command = (definition?.command ?? []).prefix(Self.words).map { String($0.prefix(Self.wordLength)) }
        isAdopted = definition?.isAdopted ?? false
        user =
            switch definition?.user {
            case .daemon: geteuid()
            case .numbered(let number): number
            case .named, nil: nil
            }
        self.time = time
        self.exit = exit
        self.reclaimed = reclaimed
        self.launchFailure = launchFailure
        self.launchRemedy = launchRemedy
    }

    var saved: SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        record.add("time", String(time))
        record.add("name", name)
        for word in command { record.add("argument", word) }
        record.add("adopted", isAdopted ? "1" : nil)
        record.add("user", user.map { String($0) })
        record.add("exit", exit?.text)
        record.add("launch-failure", launchFailure)
        record.add("launch-remedy", launchRemedy)
        reclaimed?.save(in: &record)
        return record
    }

    init?(saved record: SavedRecord) {
        guard let id = record["id"], !id.isEmpty, let time = record["time"].flatMap({ Int64($0) }) else { return nil }
        self.id = AppID(id)
        self.time = time
        name = record["name"]
        command = record.all("argument")
        isAdopted = record["adopted"] == "1"
        user = record["user"].flatMap { UInt32($0) }
        exit = record["exit"].flatMap { Exit(text: $0) }
        launchFailure = record["launch-failure"]
        launchRemedy = record["launch-remedy"]
        reclaimed = Reclaimed(saved: record)
        guard exit != nil || launchFailure != nil else { return nil }
    }
}
