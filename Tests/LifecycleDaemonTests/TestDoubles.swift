import LifecycleCore

@testable import LifecycleDaemon

/// Keeps the entries that are written.
final class RecordingJournal: JournalSink {
    private(set) var entries: [LogEntry] = []

    func write(_ entry: LogEntry) { entries.append(entry) }

    func write(_ entry: LogEntry, causedBy cause: EntryCause) { entries.append(entry) }
}

/// Keeps the saved state in memory.
final class MemoryStateStore: StateStore {
    weak var source: (any StateSource)?
    /// A reason to launch no app.
    var objection: String?
    /// Called when the core has changed.
    var saved: ([AppID]) -> Void = { _ in }
    private(set) var records: [(StateKind, SavedRecord)] = []
    private(set) var isBegun = false

    func begin() {
        isBegun = true
        records = source?.stateToSave ?? []
    }

    func save(_ changed: [AppID], of core: Lifecycle, announcing transitions: [Announcement]) {
        for id in changed { records.append((.app, core.record(of: id) ?? SavedRecord())) }
        for transition in transitions { records.append((.transition, transition.saved)) }
        saved(changed)
    }

    func noteAnnounced() { records.append((.announced, SavedRecord())) }

    func save(_ kind: StateKind, _ record: SavedRecord) { records.append((kind, record)) }

    func flush() -> Bool { isBegun }

    func makeRoom() -> String? { objection }

    func retryWithLess() {}

    func end() { isBegun = false }
}

/// Keeps the inputs that are given to the core.
final class RecordingCore: InputHandler {
    private(set) var inputs: [Input] = []

    func handle(_ input: Input) { inputs.append(input) }
}
