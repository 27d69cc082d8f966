import LifecycleCore
import Processes

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
    private(set) var channels: [AppID: LifecycleDaemon.ChannelState] = [:]
    /// The transitions that were saved and not announced.
    private(set) var unannounced: [Announcement] = []
    private(set) var isBegun = false
    private var changed: [AppID] = []

    func begin(with slots: SlotContents?) {
        isBegun = true
        records = source?.stateToSave ?? []
    }

    func take(changesOf core: inout Lifecycle) {
        let indexes = core.takeChangedIndexes()
        changed = indexes.map { core.id(of: AppIndex(value: $0)) }
    }

    func save(announcing effects: [Effect]) {
        unannounced += effects.compactMap { Announcement($0) }
        saved(changed)
    }

    func noteAnnounced() { unannounced = [] }

    func save(_ kind: StateKind, _ record: SavedRecord) { records.append((kind, record)) }

    func save(_ record: ResourceRecord, of id: AppID) {}

    func save(_ state: LifecycleDaemon.ChannelState, of id: AppID) { channels[id] = state }

    func flush() -> Bool { isBegun }

    func makeRoom() -> String? { objection }

    func retryWithLess() {}

    func end() { isBegun = false }
}

/// Keeps the inputs that are given to the core.
final class RecordingCore: InputHandler {
    private(set) var inputs: [Input] = []
    private let ids: [AppID]

    /// - Parameter ids: The ids of the apps, in the order of their indexes.
    init(ids: [AppID] = []) { self.ids = ids }

    func handle(_ input: Input) { inputs.append(input) }

    func id(of app: AppIndex) -> AppID { ids[app.value] }
}
