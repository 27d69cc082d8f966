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
        try self.init(path: "/nowhere/state", bootID: thisBoot, loop: EventLoop(), log: RecordingJournal())
    }
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
