import ControlAPI
import FoundationEssentials
import Glibc

/// History as journalctl(1) finds it. It is asked rather than libsystemd, so that lifectl starts quickly and needs no
/// library; it is there wherever a journal is.
struct JournalSource {
    /// Whose daemons' entries count.
    var users: [uid_t]
    var app: String?
    /// From when on, in microseconds since the epoch.
    var since: Int64?
    /// How many of the last; nil for all.
    var lines: Int?
    var follows = false
    var isVerbose = false

    /// Why the journal cannot be read.
    struct Unreadable: Error, Equatable {
        let status: Outcome
        let reason: String
    }

    /// The fields that ``JournalEntry`` reads.
    private static let fields = [
        "MESSAGE", "MESSAGE_ID", "PRIORITY", "LIFED_APP", "LIFED_FROM", "LIFED_TO", "LIFED_REASON", "LIFED_PID",
        "LIFED_CALLBACK", "LIFED_CALLBACK_USEC", "LIFED_STATE_USEC", "LIFED_EXIT_CODE", "LIFED_SIGNAL",
    ]

    var command: [String] {
        var words = ["journalctl", "--no-pager", "-o", "json", "--output-fields=\(Self.fields.joined(separator: ","))"]
        // In seconds, rounded down: what is a fraction too early is left out here.
        if let since { words.append("--since=@\(since / 1_000_000)") }
        if let lines { words.append("--lines=\(lines)") }
        if follows { words.append("--follow") }
        if follows, lines == nil { words.append("--no-tail") }
        if !isVerbose { words.append("--priority=info") }
        words.append("SYSLOG_IDENTIFIER=lifed")
        words += users.map { "_UID=\($0)" }
        if let app { words.append("LIFED_APP=\(app)") }
        return words
    }

    /// Gives every entry, the oldest first, as soon as it is there. Throws `Unreadable`, and what `take` throws.
    func read(_ take: (HistoryEntry) throws -> Void) throws {
        var child: ChildProcess
        do throws(ChildProcess.CannotStart) {
            child = try ChildProcess(command)
        } catch {
            let why = error.errno == ENOENT ? "there is no journalctl" : "journalctl: \(Text.error(error.errno))"
            throw Unreadable(status: .unavailable, reason: why)
        }
        var count = 0
        let decoder = JSONDecoder()
        while let line = child.nextLine() {
            guard let entry = try? decoder.decode(JournalEntry.self, from: Data(line)).history else { continue }
            if let since, entry.time < since { continue }
            count += 1
            try take(entry)
        }
        var (status, complaints) = child.finish()
        if count == 0 { complaints += hints() }
        try Self.check(status, complaints, isEmpty: count == 0)
    }

    /// What journalctl says of entries that it leaves out, because they are not for whoever asks: with JSON it is silent.
    private func hints() -> [String] {
        let caller = geteuid()
        guard caller != 0, users.contains(where: { $0 != caller }),
            var child = try? ChildProcess(["journalctl", "--no-pager", "--lines=0"])
        else { return [] }
        return child.finish().complaints
    }

    /// journalctl says on standard error what it may not read, and succeeds as long as there is something that it may.
    static func check(_ status: Int32, _ complaints: [String], isEmpty: Bool) throws(Unreadable) {
        let isClosed = complaints.contains { $0.contains("permission") || $0.contains("not seeing messages") }
        if isClosed, isEmpty || status != 0 {
            throw Unreadable(
                status: .notPermitted, reason: "not permitted; be root or in the group systemd-journal")
        }
        guard status == 0 || complaints.isEmpty || complaints.allSatisfy({ $0.hasPrefix("No journal files") }) else {
            throw Unreadable(status: .failed, reason: complaints.last ?? "status \(status)")
        }
    }
}

extension JournalSource {
    /// Whose daemon it is, where one has answered, and else whose it can be; others may write what they like under the
    /// same identifier.
    static func users(_ choice: SocketPath.Choice, of status: Status? = nil) -> [uid_t] {
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
}

/// One entry as `journalctl -o json` writes it (systemd.journal-fields(7), "Journal JSON Format").
///
/// A field that is given twice is an array there, one that is no text is an array of numbers, and a long one is null. What
/// is not a plain text counts as not there.
struct JournalEntry: Decodable {
    private let fields: [String: String]

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        var fields: [String: String] = [:]
        for key in container.allKeys {
            if let text = try? container.decode(String.self, forKey: key) { fields[key.stringValue] = text }
        }
        self.fields = fields
    }

    private subscript(name: String) -> String? { fields[name] }

    private func number(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }

    /// Microseconds up to the end of the year 9999. Whoever is the daemon's user can write any number, and those beyond
    /// cannot be counted with.
    private func microseconds(_ name: String) -> Int64? {
        number(name).flatMap { (0...253_402_300_799_999_999).contains($0) ? $0 : nil }
    }

    /// What it says, as history; nil for one without a time, which journald always writes.
    var history: HistoryEntry? {
        guard let time = microseconds("__REALTIME_TIMESTAMP") else { return nil }
        return HistoryEntry(
            time: time, app: self["LIFED_APP"], priority: self["PRIORITY"].flatMap { Int($0) },
            message: self["MESSAGE"] ?? "", event: event(at: time))
    }

    private func event(at time: Int64) -> HistoryEvent? {
        guard let kind = self["MESSAGE_ID"].flatMap(MessageKind.init), let app = self["LIFED_APP"] else { return nil }
        var event = HistoryEvent(
            kind: .transition, id: app, time: time, from: self["LIFED_FROM"].flatMap(State.init),
            to: self["LIFED_TO"].flatMap(State.init), reason: self["LIFED_REASON"] ?? "", pid: number("LIFED_PID"),
            callback: microseconds("LIFED_CALLBACK_USEC"), stateTime: microseconds("LIFED_STATE_USEC"))
        switch kind {
        case .transition: if event.from == nil || event.to == nil { return nil }
        case .callbackOverdue:
            event.kind = .callbackOverdue
            event.reason = self["LIFED_CALLBACK"] ?? ""
        case .killedAfterGrace:
            event.kind = .killed
            event.reason = "kill"
        case .launchFailed: event.kind = .launchFailed
        case .exited:
            event.kind = .exited
            event.exitCode = number("LIFED_EXIT_CODE")
            event.signal = self["LIFED_SIGNAL"].flatMap(SignalName.number)
        }
        return event
    }
}

/// The kinds of journal entries that timelines and figures are made of: values of `MESSAGE_ID`, which never change their
/// meaning. A test compares them with the daemon's.
enum MessageKind: String, CaseIterable {
    case transition = "367840df9a3849ab8fecdee164406af3"
    case callbackOverdue = "190c26465b1a4b4487cf28fd3f7596e2"
    case killedAfterGrace = "54b582dd17c44720828cc8de5f351c19"
    case launchFailed = "60e4fe84c8df499a9b8e99b14dba75a0"
    case exited = "e9dff7f895144524913b544eeffca9b3"
}
