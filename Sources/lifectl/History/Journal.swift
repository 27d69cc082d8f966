import ControlAPI
import Glibc
import LifecycleTypes
import Varlink

/// The history in the journal, read through journalctl(1): to link libsystemd would make lifectl start slowly.
struct JournalSource {
    /// The users whose daemons' entries count.
    var users: [uid_t]
    var query: HistoryQuery

    /// The error that the journal cannot be read.
    struct Unreadable {
        let status: ExitCode
        let reason: String
    }

    /// The fields that ``JournalctlEntry`` reads.
    private static let fields = [
        "MESSAGE", "MESSAGE_ID", "PRIORITY", "LIFED_APP", "LIFED_FROM", "LIFED_TO", "LIFED_REASON", "LIFED_PID",
        "LIFED_CALLBACK", "LIFED_CALLBACK_USEC", "LIFED_STATE_USEC", "LIFED_EXIT_CODE", "LIFED_SIGNAL",
    ]

    var command: [String] {
        var words = ["journalctl", "--no-pager", "-o", "json", "--output-fields=\(Self.fields.joined(separator: ","))"]
        // In seconds, rounded down: `read(_:)` leaves out the entries of the fraction.
        if let since = query.since { words.append("--since=@\(since / 1_000_000)") }
        if let lines = query.lines { words.append("--lines=\(lines)") }
        if query.follows { words.append("--follow") }
        if query.follows, query.lines == nil { words.append("--no-tail") }
        if !query.isVerbose { words.append("--priority=info") }
        words.append("SYSLOG_IDENTIFIER=lifed")
        words += users.map { "_UID=\($0)" }
        if let app = query.app { words.append("LIFED_APP=\(app)") }
        return words
    }

    /// Returns the user of the daemon that has answered, otherwise the users whose daemon is meant. Other users can write
    /// entries with the same identifier.
    static func users(_ choice: SocketPath.Choice, of status: APIStatus? = nil) -> [uid_t] {
        if let status, let owner = owner(of: status.socket) { return [owner] }
        return switch choice {
        case .system: [0]
        case .user: [geteuid()]
        case .path(let path): [owner(of: path) ?? geteuid()]
        case .automatic: Array(Set([0, geteuid()])).sorted()
        }
    }

    private static func owner(of path: String) -> uid_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Reads the entries, the oldest first, each as soon as it is there.
    ///
    /// - Returns: The error of the journal; nil if it was read.
    /// - Throws: The errors of `handle`.
    func read<APIProblem>(_ handle: (HistoryEntry) throws(APIProblem) -> Void) throws(APIProblem) -> Unreadable? {
        // journalctl --follow waits for entries that the caller may not read, too.
        if query.follows, let error = Self.judge(0, hints(), isEmpty: !users.contains(geteuid())) { return error }
        let child: ChildProcess
        do throws(ChildProcess.CannotStart) {
            child = try ChildProcess(command)
        } catch {
            let reason = error.errno == ENOENT ? "there is no journalctl" : "journalctl: \(Text.error(error.errno))"
            return Unreadable(status: .unavailable, reason: reason)
        }
        var count = 0
        while hasReader(of: child), let line = child.nextLine() {
            guard let entry = JSON.decode(JournalctlEntry.self, from: line)?.history else { continue }
            if let since = query.since, entry.timeUSec < since { continue }
            count += 1
            try handle(entry)
        }
        var (status, complaints) = child.finish()
        if count == 0 { complaints += hints() }
        return Self.judge(status, complaints, isEmpty: count == 0)
    }

    /// Waits for output of journalctl, and ends it if the output of lifectl has no reader any more.
    private func hasReader(of child: ChildProcess) -> Bool {
        guard query.follows, !child.hasLine else { return true }
        do throws(Failure) {
            try StandardStream.output.waitForInput(of: child.descriptor, within: nil)
            return true
        } catch {
            child.end()
            return false
        }
    }

    /// Returns journalctl's complaints about entries that the caller may not read: with JSON output it is silent.
    private func hints() -> [String] {
        let caller = geteuid()
        guard caller != 0, users.contains(where: { $0 != caller }),
            let child = try? ChildProcess(["journalctl", "--no-pager", "--lines=0"])
        else { return [] }
        return child.finish().complaints
    }

    /// Judges the end of journalctl, which succeeds as long as the caller may read some entries.
    static func judge(_ status: Int32, _ complaints: [String], isEmpty: Bool) -> Unreadable? {
        let isClosed = complaints.contains {
            Text.includes($0, "permission") || Text.includes($0, "not seeing messages")
        }
        if isClosed, isEmpty || status != 0 {
            return Unreadable(
                status: .notPermitted, reason: "not permitted; be root or in the group systemd-journal")
        }
        guard status == 0 || complaints.isEmpty || complaints.allSatisfy({ $0.hasPrefix("No journal files") }) else {
            return Unreadable(status: .failed, reason: complaints.last ?? "status \(status)")
        }
        return nil
    }
}

/// An entry of `journalctl -o json` (systemd.journal-fields(7), "Journal JSON Format").
///
/// A field that is given twice is an array there, a field that is no text is an array of numbers, and a long field is null.
/// All of these count as absent.
struct JournalctlEntry: JSONReadable {
    private var fields: [String: String]

    init(json: JSONValue) {
        fields = [:]
        for member in json.object ?? [] { fields[member.name] = member.value.string }
    }

    private func number(_ name: String) -> Int64? { fields[name].flatMap { Int64($0) } }

    /// Returns microseconds up to the end of the year 9999. The daemon's user can write any number.
    private func microseconds(_ name: String) -> Int64? {
        number(name).flatMap { Instants.range.contains($0) ? $0 : nil }
    }

    /// The entry of the history; nil for an entry without the time, which journald always writes.
    var history: HistoryEntry? {
        guard let time = microseconds("__REALTIME_TIMESTAMP") else { return nil }
        return HistoryEntry(
            timeUSec: time, app: fields["LIFED_APP"], priority: fields["PRIORITY"].flatMap { Int64($0) },
            message: fields["MESSAGE"] ?? "", event: event(at: time))
    }

    private func event(at time: Int64) -> APIHistoryEvent? {
        guard let app = fields["LIFED_APP"], let id = fields["MESSAGE_ID"],
            let kind = APIHistoryKind.allCases.first(where: { $0.messageID.rawValue == id })
        else { return nil }
        var event = APIHistoryEvent(
            kind: kind, id: app, timeUSec: time, from: fields["LIFED_FROM"].flatMap(AppState.init),
            to: fields["LIFED_TO"].flatMap(AppState.init), reason: fields["LIFED_REASON"].flatMap(Reason.init),
            pid: number("LIFED_PID"), answerUSec: microseconds("LIFED_CALLBACK_USEC"),
            stateUSec: microseconds("LIFED_STATE_USEC"))
        switch kind {
        case .transition: if event.from == nil || event.to == nil { return nil }
        case .callbackTimeout: event.callback = fields["LIFED_CALLBACK"]
        case .killed: event.reason = .kill
        case .launchFailed: event.error = fields["LIFED_REASON"]
        case .exited:
            event.exitCode = number("LIFED_EXIT_CODE")
            event.signal = fields["LIFED_SIGNAL"].flatMap(SignalName.number)
            event.restoreFailed = fields["LIFED_RESTORE_FAILED"] == "1" ? true : nil
        }
        return event
    }
}

extension APIHistoryKind {
    /// The kind of the journal entry about such an event.
    var messageID: MessageID {
        switch self {
        case .transition: .transition
        case .callbackTimeout: .callbackOverdue
        case .killed: .killedAfterTimeout
        case .exited: .exited
        case .launchFailed: .launchFailed
        }
    }
}
