import LifecycleCore
import Processes
import Systemd

@testable import LifecycleDaemon

/// Keeps the entries that are written.
final class RecordingJournal: JournalSink {
    private(set) var entries: [LogEntry] = []

    func write(_ entry: LogEntry) { entries.append(entry) }

    func write(_ entry: LogEntry, causedBy cause: EntryCause) { write(entry) }
}

extension StateLog {
    /// A log that does not begin to write: its state is in memory alone.
    convenience init() throws {
        try self.init(path: "/nowhere/state", bootID: thisBoot, events: Events(), log: RecordingJournal())
    }
}

extension Engine {
    /// Handles the outcome of an operation, or a change of an app's processes, unless the app is not known.
    mutating func handle(_ outcome: Outcome, of id: AppID, at now: Instant) -> Ready {
        knownApps[id].map { handle(.outcome($0.index, outcome), at: now) } ?? Ready()
    }
}

extension CoreDriver {
    /// Makes a driver that knows apps, in the order of their indexes. Its inputs stay in the inbox.
    static func knowing(_ ids: AppID..., in events: Events) throws -> CoreDriver {
        let driver = try CoreDriver(events: events, store: try StateLog())
        for id in ids { driver.append(.define(id, Policy())) }
        driver.handleInputs { _ in }
        return driver
    }
}

/// The identifier of this boot.
nonisolated let thisBoot = (try? BootID.read()) ?? ""
