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
