import Configuration
import Glibc
import LifecycleCore

/// The exits of apps before and during this run of the daemon, and the dates of instants of the core.
final class ExitHistory {
    let last: LastExits
    let ended: EndedApps
    private let clock = ClockDifference()

    init(store: StateLog, directory: AppRecords.Directory) {
        last = LastExits(records: AppRecords("exits", of: .exit, in: directory))
        ended = EndedApps(store: store, records: AppRecords("ended", of: .ended, in: directory))
    }

    /// Records the exit of an app that is not running. An ad-hoc app is forgotten, and has nothing to restore.
    func record(_ app: AppMachine) {
        guard !app.policy.isTransient, let exit = app.lastExit, last.time(of: exit, app.id) == nil else { return }
        last.record(exit, of: app.id, at: time(of: exit.instant))
    }

    /// Records the exit of an app that is about to be forgotten.
    ///
    /// - Returns: The apps whose records have made room.
    func recordEnd(
        of id: AppID, _ definition: AppDefinition?, _ exit: ExitRecord, _ reclaimed: ReclaimRecord?
    ) -> [AppID] {
        ended.record(
            EndedApps.Record(
                id, definition, time: time(of: exit, id), exit: exit,
                reclaimed: exit.reason == .reclaimed ? reclaimed : nil))
    }

    /// - Returns: The apps whose records have made room.
    func recordFailedLaunch(
        of id: AppID, _ definition: AppDefinition?, _ why: StartFailure, at now: Instant
    ) -> [AppID] {
        let words = String(why.description.prefix(EndedApps.Record.failureLength))
        return ended.record(
            EndedApps.Record(
                id, definition, time: time(of: now), launchFailure: words, launchRemedy: why.remedy))
    }

    /// Returns the time of an exit, in microseconds since the epoch.
    func time(of exit: ExitRecord, _ app: AppID) -> Int64 { last.time(of: exit, app) ?? time(of: exit.instant) }
    func seconds(of exit: ExitRecord, _ app: AppID) -> Int64 { time(of: exit, app) / 1_000_000 }

    /// Returns the date of an instant by the wall clock as it is set now, in microseconds since the epoch.
    func time(of instant: Instant) -> Int64 { clock.date(of: instant) }
}

/// The exits of apps that are to be restored. Kept until such an app ends otherwise, beyond the next boot.
final class LastExits {
    /// The knowledge about the record of an app, which is read once.
    private enum Knowledge {
        /// The record was read, and there is none any more.
        case absent
        case present
    }

    private let records: AppRecords
    private var known: [AppID: Knowledge] = [:]
    /// The times of exits before the core's clock began, in microseconds since the epoch.
    private var times: [AppID: Int64] = [:]
    /// The names of the apps that have a record, while they are listed.
    private var list: Set<String>?

    init(records: AppRecords) {
        self.records = records
    }

    /// Lists the records once for many calls of ``recall(_:)``.
    func withList(_ body: () -> Void) {
        list = records.names
        body()
        list = nil
    }

    /// Returns the recorded exit of an app, the first time it is asked. Its instant is zero; see ``time(of:_:)``.
    func recall(_ app: AppID) -> ExitRecord? {
        guard known[app] == nil else { return nil }
        known[app] = .absent
        guard list?.contains(app.name) ?? true, let record = record(of: app),
            let exit = record["exit"].flatMap({ ExitRecord(text: $0) }), exit.reason.callsForRestoration,
            let time = record["time"].flatMap({ Int64($0) })
        else { return nil }
        known[app] = .present
        times[app] = time
        var recalled = ExitRecord(
            state: exit.state, reason: exit.reason, status: exit.status, instant: Instant(microseconds: 0))
        recalled.restoreFailure = record["restore-failure"].flatMap { RestoreFailure(rawValue: $0) }
        return recalled
    }

    /// Returns the time of a recalled exit, in microseconds since the epoch; nil for an exit by the core's clock.
    func time(of exit: ExitRecord, _ app: AppID) -> Int64? {
        exit.instant.microseconds == 0 ? times[app] : nil
    }

    /// - Parameter time: The time of the exit, in microseconds since the epoch.
    func record(_ exit: ExitRecord, of app: AppID, at time: Int64) {
        times[app] = nil
        if exit.reason.callsForRestoration {
            known[app] = .present
            write(exit.text, String(time), exit.restoreFailure, of: app)
        } else {
            if known[app] == .present { records.remove(app) }
            known[app] = .absent
        }
    }

    /// Notes that the state which an app has failed to restore was set aside: the state that it saves from now on is good.
    func noteStateSetAside(of id: AppID) {
        guard let record = record(of: id), let exit = record["exit"], let time = record["time"] else { return }
        write(exit, time, .setAside, of: id)
    }

    private func record(of id: AppID) -> SavedRecord? { records.read(id).first?.1 }

    private func write(_ exit: String, _ time: String, _ failure: RestoreFailure?, of id: AppID) {
        records.write([(id, SavedRecord(["exit": exit, "time": time, "restore-failure": failure?.rawValue]))], of: id)
    }

    func forget(_ app: AppID) {
        times[app] = nil
        if known.removeValue(forKey: app) == .present { records.remove(app) }
    }
}

/// The last apps that have ended and were forgotten, and the last launches that failed: one record for each app, at most
/// ``limit`` of them and ``byteLimit`` bytes. A record is read from its bytes when it is asked for.
///
/// They are in the state file for the next daemon, and in the state directory after a daemon that has ended all apps.
final class EndedApps {
    struct Record {
        let id: AppID
        fileprivate(set) var name: String?
        fileprivate(set) var command: [String]
        fileprivate(set) var isAdopted: Bool
        /// The user that the app ran as; nil if only the name is known.
        fileprivate(set) var user: UInt32?
        /// The time of the end or of the failed launch, in microseconds since the epoch.
        fileprivate(set) var time: Int64
        fileprivate(set) var exit: ExitRecord?
        /// The reason why this app was reclaimed, if it was.
        fileprivate(set) var reclaimed: ReclaimRecord?
        fileprivate(set) var launchFailure: String?
        fileprivate(set) var launchRemedy: String?
    }

    /// The largest number of records.
    static let limit = 100
    /// The largest number of bytes of all records; each may take all of them.
    static let byteLimit = 1 << 16
    private static let fileName = AppID("apps")

    private let store: StateLog
    private let file: AppRecords
    /// The records as bytes, the oldest first.
    private var packed: [(id: AppID, record: SavedRecord)] = []

    init(store: StateLog, records: AppRecords) {
        self.store = store
        file = records
    }

    subscript(id: AppID) -> Record? { packed.last { $0.id == id }.flatMap { Record(id, saved: $0.record) } }

    /// The records to save, the oldest first.
    var saved: [(AppID, SavedRecord)] { packed.map { ($0.id, $0.record) } }

    /// - Returns: The apps whose records have made room.
    @discardableResult
    func record(_ record: Record) -> [AppID] {
        let dropped = append(record.saved, of: record.id)
        for id in dropped { store.add(.ended, nil, of: id) }
        store.save(.ended, record.saved, of: record.id)
        return dropped
    }

    /// Adds the memory that a reclaimed app has freed.
    ///
    /// - Returns: The apps whose records have made room.
    func record(_ account: ReclaimRecord, of id: AppID) -> [AppID] {
        guard var record = self[id], record.exit?.reason == .reclaimed else { return [] }
        record.reclaimed = account
        return self.record(record)
    }

    private func append(_ record: SavedRecord, of id: AppID) -> [AppID] {
        packed.removeAll { $0.id == id }
        packed.append((id, record))
        var size = packed.reduce(0) { $0 + $1.record.bytes.count }
        var dropped: [AppID] = []
        while packed.count > 1, packed.count > Self.limit || size > Self.byteLimit {
            let first = packed.removeFirst()
            size -= first.record.bytes.count
            dropped.append(first.id)
        }
        return dropped
    }

    func restore(_ saved: [(AppID, SavedRecord)]) {
        for record in saved.compactMap({ Record($0.0, saved: $0.1) }).sorted(by: { $0.time < $1.time }) {
            store.add(.ended, record.saved, of: record.id)
            for id in append(record.saved, of: record.id) { store.add(.ended, nil, of: id) }
        }
    }

    /// Restores the records of a daemon that has ended all apps.
    func restore() { restore(file.read(Self.fileName)) }

    /// Writes the records into the state directory, when all apps have ended.
    func write() { file.write(saved, of: Self.fileName) }
}

extension EndedApps.Record {
    /// The limits of a saved command, in words and in characters a word.
    private static let wordLimit = 8
    private static let wordLength = 64
    /// The limit of a saved failure, in characters: enough for a path and its error.
    static let failureLength = 512

    init(
        _ id: AppID, _ definition: AppDefinition?, time: Int64, exit: ExitRecord? = nil,
        reclaimed: ReclaimRecord? = nil,
        launchFailure: String? = nil, launchRemedy: String? = nil
    ) {
        self.id = id
        name = definition?.name.map { String($0.prefix(Self.wordLength)) }
        command = (definition?.command ?? []).prefix(Self.wordLimit).map { String($0.prefix(Self.wordLength)) }
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

    /// Reads a record; nil if it has neither an end nor a failed launch.
    init?(_ id: AppID, saved record: SavedRecord) {
        guard let time = record["time"].flatMap({ Int64($0) }) else { return nil }
        self.init(id, nil, time: time)
        restore(record)
        guard exit != nil || launchFailure != nil else { return nil }
    }
}

extension EndedApps.Record: SavedTable {
    mutating func code(with coder: inout SavedCoder) {
        time = coder.text("time", String(time)).flatMap { Int64($0) } ?? time
        coder.text("name", &name)
        coder.list("argument", &command)
        coder.flag("adopted", &isAdopted)
        coder.user("user", &user)
        coder.item("exit", &exit)
        coder.text("launch-failure", &launchFailure)
        coder.text("launch-remedy", &launchRemedy)
        reclaimed = ReclaimRecord.code(reclaimed, with: &coder)
    }
}
