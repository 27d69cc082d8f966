import LifecycleCore
import Processes
import Systemd

/// Sees to it that what a successor would need is in the state file before it is acted upon.
///
/// While the file cannot be written the daemon works as before, says so once, and tries again.
final class StateKeeper {
    private let file: StateFile
    private let loop: EventLoop
    private let log: Log
    private var isBegun = false
    /// The apps that the file has something of.
    private var kept: Set<AppID> = []
    private var lastMachine: [UInt8] = []
    private var isFailing = false
    private var retry: TimerSource?

    /// How long to wait after the file could not be written, in microseconds.
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

    private func write(_ lines: [UInt8]) {
        guard !lines.isEmpty, !isFailing else { return }
        if file.wantsReplacing || !file.append(lines) { replace() }
    }

    private func replace() {
        guard isBegun else { return }
        let records = everything()
        kept = Set(records.filter { $0.0 == .app }.compactMap { $0.1["id"] }.map { AppID($0) })
        if let error = file.replace(with: records.flatMap { StateLine.encode($0.0, $0.1) }) { return report(error) }
        guard isFailing else { return }
        isFailing = false
        log.write(LogEntry(message: "the state of the apps is kept again in \(file.path)"))
    }

    private func report(_ error: Processes.Errno) {
        retry?.arm(atMicroseconds: loop.freshNow + Self.retryDelay)
        guard !isFailing else { return }
        isFailing = true
        log.write(
            LogEntry(
                id: .stateNotKept, priority: .warning,
                message: "\(file.path) cannot be written: \(error); until it can, a restart of lifed loses the apps",
                fields: [("LIFED_FILE", file.path), ("LIFED_REASON", error.description)]))
    }
}
