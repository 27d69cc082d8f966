import Glibc
import LifecycleCore
import Processes
import Systemd

/// Sees to it that what a successor would need is in the state file before it is acted upon.
///
/// While the file cannot be written, or has no space for more apps, the daemon goes on with the apps that run and launches no
/// others. It says so once, and tries again.
final class StateKeeper {
    /// How the state file is.
    private enum Condition: Equatable {
        case well
        /// Everything is written, and the file has no space for more apps.
        case full
        /// Something could not be written.
        case failing(Processes.Errno)
    }

    private let file: StateFile
    private let loop: EventLoop
    private let log: Log
    private var isBegun = false
    /// The apps that the file has something of.
    private var kept: Set<AppID> = []
    private var lastMachine: [UInt8] = []
    private var condition = Condition.well
    private var retry: TimerSource?

    /// How long to wait before the next try, in microseconds.
    private static let retryDelay: UInt64 = 5_000_000

    /// All that is to be kept, for a file that is written anew.
    var everything: () -> [(StateKind, SavedRecord)] = { [] }

    init(path: String, loop: EventLoop, log: Log) throws(SystemdError) {
        self.loop = loop
        self.log = log
        file = StateFile(path: path, header: SavedState.header(bootID: BootID.current))
        retry = try loop.timer { [weak self] in self?.replace() }
    }

    /// Writes what there is, and from now on what changes. What was in the file is no longer needed.
    func begin() {
        isBegun = true
        replace()
    }

    /// Writes the file anew.
    ///
    /// - Returns: Whether it has everything that a successor needs.
    func flush() -> Bool {
        replace()
        return isBegun && !isFailing
    }

    /// Removes the file: there is nothing left to go on with.
    func end() {
        isBegun = false
        file.remove()
    }

    /// Keeps what has changed in the core.
    func keep(_ changed: [AppID], of core: Lifecycle) {
        guard isBegun else { return }
        var lines: [UInt8] = []
        for id in changed {
            if let record = core.record(of: id) {
                kept.insert(id)
                lines += StateLine.encode(.app, record)
            } else if kept.remove(id) != nil {
                lines += StateLine.encode(.forget, SavedRecord(fields: [.init(name: "id", value: id.name)]))
            }
        }
        let machine = StateLine.encode(.machine, core.record)
        if machine != lastMachine { lines += machine }
        lastMachine = machine
        write(lines)
    }

    /// Keeps something beside the core.
    func keep(_ kind: StateKind, _ record: SavedRecord) {
        guard isBegun else { return }
        write(StateLine.encode(kind, record))
    }

    private var isFailing: Bool { if case .failing = condition { true } else { false } }

    private func write(_ lines: [UInt8]) {
        guard !lines.isEmpty, !isFailing else { return }
        if !file.append(lines) { replace() }
    }

    // MARK: Space

    /// Reserves space for another app.
    ///
    /// - Returns: Why there is none; nil where the app can be launched.
    func makeRoom() -> String? {
        if isBegun, condition != .well || !file.hasRoom { replace() }
        return objection
    }

    /// Why no app can be launched; nil where one can.
    var objection: String? {
        switch condition {
        case .well: nil
        case .full, .failing(Errno(rawValue: ENOSPC)), .failing(Errno(rawValue: EDQUOT)): "no room in \(directory)"
        case .failing(let error): "\(file.path) cannot be written: \(error)"
        }
    }

    /// Writes what could not be written, now that an app is forgotten, whose record may have been too large.
    func retryWithLess() {
        if isFailing { replace() }
    }

    private var directory: String { String(file.path.prefix(upTo: file.path.lastIndex(of: "/") ?? file.path.endIndex)) }

    private func replace() {
        guard isBegun else { return }
        let records = everything()
        kept = Set(records.filter { $0.0 == .app }.compactMap { $0.1["id"] }.map { AppID($0) })
        let error = file.replace(with: records.flatMap { StateLine.encode($0.0, $0.1) })
        report(error.map { .failing($0) } ?? (file.hasRoom ? .well : .full))
    }

    private func report(_ new: Condition) {
        if new != .well { retry?.arm(atMicroseconds: loop.freshNow + Self.retryDelay) }
        let old = condition
        condition = new
        switch (old, new) {
        case (.well, .well), (.full, .full), (.failing, .failing): break
        case (.full, .well):
            log.write(LogEntry(message: "there is room in \(directory) again; apps can be launched"))
        case (.failing, .well):
            log.write(LogEntry(message: "the state of the apps is kept again in \(file.path)"))
        case (_, .full):
            log.write(
                LogEntry(
                    id: .noRoomForState, priority: .warning,
                    message: "no room in \(directory) for the state of more apps; none is launched until there is some",
                    fields: [("LIFED_FILE", file.path)]))
        case (_, .failing(let error)):
            log.write(
                LogEntry(
                    id: .stateNotKept, priority: .warning,
                    message:
                        "\(file.path) cannot be written: \(error); until it can, a restart of lifed loses the apps, "
                        + "and none is launched",
                    fields: [("LIFED_FILE", file.path), ("LIFED_REASON", error.description)]))
        }
    }
}
