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

/// Keeps the saved state in memory.
final class MemoryStateStore: StateStore {
    weak var source: (any StateSource)?
    /// A reason to launch no app.
    var objection: StartFailure?
    /// Called when the core has changed.
    var saved: ([AppID]) -> Void = { _ in }
    private(set) var records: [(StateKind, SavedRecord)] = []
    private(set) var channels: [AppID: ChannelProgress] = [:]
    /// The transitions that were saved and not announced.
    private(set) var unannounced: [Announcement] = []
    private(set) var isBegun = false
    private var changed: [AppID] = []

    func begin(with slots: SlotContents?) {
        isBegun = true
        records = []
        source?.listState { records.append(($0, $1)) }
    }

    func record(changesOf core: inout Engine) {
        changed = []
        for index in core.takeChangedIndexes() { changed.append(core.latestID(of: index)) }
    }

    func save(announcing effects: [Effect]) {
        for effect in effects {
            if case .transition(let transition) = effect { unannounced.append(.app(transition)) }
            if case .sceneTransition(let transition) = effect { unannounced.append(.scene(transition)) }
        }
        saved(changed)
    }

    func noteAnnounced() { unannounced = [] }

    func save(_ kind: StateKind, _ record: SavedRecord) { records.append((kind, record)) }

    func add(_ resources: SavedResources, at index: AppIndex) {}

    func commit() {}

    func save(_ state: ChannelProgress, of id: AppID, at index: AppIndex) { channels[id] = state }

    func flush() -> Bool { isBegun }

    func makeRoom() -> StartFailure? { objection }

    func retryWithLess() {}

    func end() { isBegun = false }
}

extension Engine {
    /// Handles the outcome of an effect, or a change of an app's processes, unless the app is not known.
    mutating func handle(_ outcome: Outcome, of id: AppID, at now: Instant) -> [Effect] {
        knownApps[id].map { handle(.outcome($0.index, outcome), at: now) } ?? []
    }
}

/// Keeps the inputs that are given to the core.
final class RecordingCore: InputHandler {
    private(set) var inputs: [Input] = []
    /// Called after each input.
    var onInput: () -> Void = {}
    private let ids: [AppID]

    /// - Parameter ids: The ids of the apps, in the order of their indexes.
    init(ids: [AppID] = []) { self.ids = ids }

    func handle(_ input: Input) {
        inputs.append(input)
        onInput()
    }

    func id(of app: AppIndex) -> AppID { ids[app.value] }
}

/// The identifier of this boot.
nonisolated let thisBoot = (try? BootID.read()) ?? ""
