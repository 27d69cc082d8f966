import Glibc
import LifecycleCore
import Processes
import Systemd

/// Lists everything that a successor of the daemon needs.
protocol StateSource: AnyObject {
    var stateToSave: [(StateKind, SavedRecord)] { get }
}

/// Saves what a successor of the daemon needs before the daemon acts on it.
protocol StateStore: AnyObject {
    /// Set before ``begin()``.
    var source: (any StateSource)? { get set }
    /// The reason why no app can be launched; nil if one can.
    var objection: String? { get }

    func begin()
    /// Saves the changed apps of the core, and the transitions to announce.
    func save(_ changed: [AppID], of core: Lifecycle, announcing transitions: [Announcement])
    /// Notes that every transition was announced, and the journal has the entries.
    func noteAnnounced()
    func save(_ kind: StateKind, _ record: SavedRecord)
    /// Saves the whole state.
    ///
    /// - Returns: A Boolean value that indicates whether a successor finds all of it.
    func flush() -> Bool
    /// Reserves space for another app.
    ///
    /// - Returns: The reason why there is none; nil if the app can be launched.
    func makeRoom() -> String?
    /// Saves what could not be saved, after an app was forgotten whose record may have been too large.
    func retryWithLess()
    /// Removes the state: there is nothing to restore.
    func end()
}

/// Saves the state in a ``StateFile``.
///
/// While the file cannot be written or is full, the daemon keeps its apps running, launches no others, reports this once and
/// tries again.
final class FileStateStore: StateStore {
    private enum Condition: Equatable {
        case good
        /// Everything is saved; more apps do not fit.
        case full
        case failing(Processes.Errno)
    }

    weak var source: (any StateSource)?

    private let file: StateFile
    private let loop: EventLoop
    private let log: any JournalSink
    private var isBegun = false
    private var savedApps: Set<AppID> = []
    private var lastMachine = SavedRecord()
    private var condition = Condition.good
    private var retry: TimerSource?

    private static let retryDelay: UInt64 = 5_000_000

    init(path: String, loop: EventLoop, log: any JournalSink) throws(SystemdError) {
        self.loop = loop
        self.log = log
        file = StateFile(path: path, header: SavedState.header(bootID: BootID.current))
        retry = try loop.timer { [weak self] in self?.replace() }
    }

    func begin() {
        isBegun = true
        replace()
    }

    func flush() -> Bool {
        replace()
        return isBegun && !isFailing
    }

    func end() {
        isBegun = false
        file.remove()
    }

    func save(_ changed: [AppID], of core: Lifecycle, announcing transitions: [Announcement]) {
        guard isBegun else { return }
        var lines: [UInt8] = []
        for id in changed {
            if let record = core.record(of: id) {
                savedApps.insert(id)
                StateLine.append(.app, record, to: &lines)
            } else if savedApps.remove(id) != nil {
                StateLine.append(.forget, SavedRecord(["id": id.name]), to: &lines)
            }
        }
        let machine = core.record
        if machine != lastMachine { StateLine.append(.machine, machine, to: &lines) }
        lastMachine = machine
        for transition in transitions { StateLine.append(.transition, transition.saved, to: &lines) }
        write(lines)
    }

    func noteAnnounced() { save(.announced, SavedRecord()) }

    func save(_ kind: StateKind, _ record: SavedRecord) {
        guard isBegun else { return }
        write(StateLine.encode(kind, record))
    }

    private var isFailing: Bool { if case .failing = condition { true } else { false } }

    private func write(_ lines: [UInt8]) {
        guard !lines.isEmpty, !isFailing else { return }
        if !file.append(lines) { replace() }
    }

    private func replace() {
        guard isBegun else { return }
        let records = source?.stateToSave ?? []
        savedApps = Set(records.filter { $0.0 == .app }.compactMap { $0.1["id"] }.map { AppID($0) })
        let error = file.replace(with: records.flatMap { StateLine.encode($0.0, $0.1) })
        setCondition(error.map { .failing($0) } ?? (file.hasRoom ? .good : .full))
    }

    // MARK: Space

    func makeRoom() -> String? {
        if isBegun, condition != .good || !file.hasRoom { replace() }
        return objection
    }

    var objection: String? {
        switch condition {
        case .good: nil
        case .full, .failing(Errno(rawValue: ENOSPC)), .failing(Errno(rawValue: EDQUOT)): "\(directory) is full"
        case .failing(let error): "\(file.path): \(error)"
        }
    }

    func retryWithLess() {
        if isFailing { replace() }
    }

    private var directory: String { String(file.path.prefix(upTo: file.path.lastIndex(of: "/") ?? file.path.endIndex)) }

    private func setCondition(_ new: Condition) {
        if new != .good { retry?.arm(atMicroseconds: loop.freshNow + Self.retryDelay) }
        let old = condition
        condition = new
        switch (old, new) {
        case (.good, .good), (.full, .full), (.failing, .failing): break
        case (.full, .good): log.write(.info, "\(directory) has space again, and lifed launches apps again")
        case (.failing, .good): log.write(.info, "lifed saves the state of the apps again, in \(file.path)")
        case (_, .full):
            log.write(
                LogEntry(
                    id: .noRoomForState, priority: .warning,
                    message: "cannot launch apps: \(directory) is full; free some space",
                    fields: [("LIFED_FILE", file.path)]))
        case (_, .failing(let error)):
            log.write(
                LogEntry(
                    id: .stateNotKept, priority: .warning,
                    message:
                        "cannot save the state of the apps in \(file.path): \(error); a restart of lifed loses them, and "
                        + "lifed launches no other apps",
                    fields: [("LIFED_FILE", file.path), ("LIFED_REASON", error.description)]))
        }
    }
}
