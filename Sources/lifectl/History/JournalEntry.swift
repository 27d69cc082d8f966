import ControlAPI

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
