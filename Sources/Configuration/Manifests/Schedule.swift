public import Calendar

/// When an app is woken, and for what: a `[[schedule]]` of a manifest.
public struct Schedule: Hashable, Sendable {
    /// The times at which the app is woken, before the jitter.
    public var at: CalendarEvent

    /// The kind of work, such as fetch.
    public var kind: String

    /// The delay that may be added, so that not everything happens at once.
    public var jitter = Duration.zero

    /// Creates a schedule without jitter.
    ///
    /// - Parameters:
    ///   - at: The times.
    ///   - kind: The kind of work, a word of a-z, 0-9 and hyphens.
    public init(at: CalendarEvent, kind: String) {
        self.at = at
        self.kind = kind
    }
}

extension Schedule {
    /// The keys of a schedule that were read so far.
    fileprivate struct Draft {
        var at: CalendarEvent?
        var kind: String?
        var jitter = Duration.zero
    }

    fileprivate static let keys = TableKeys<Draft>(
        of: "schedule",
        [
            Key("at", .calendarEvent, \.at),
            Key("kind", .word, \.kind),
            Key("jitter", .duration, \.jitter),
        ])

    fileprivate init(_ table: [String: TOMLNode]) throws(Mismatch) {
        var draft = Draft()
        try Self.keys.read(table, into: &draft)
        guard let at = draft.at else { throw Self.keys.missing("at", #"at = "daily""#) }
        guard let kind = draft.kind else { throw Self.keys.missing("kind", #"kind = "fetch""#) }
        self.init(at: at, kind: kind)
        jitter = draft.jitter
    }
}

extension Kind<[Schedule]> {
    static let schedules = tables("schedule", atMost: 64) { table throws(Mismatch) in try Schedule(table) }
}

extension Kind<CalendarEvent> {
    static let calendarEvent = Kind { node throws(Mismatch) in
        guard case .string(let text) = node else {
            throw Mismatch(expected: #"a calendar event, such as "daily" or "Mon..Fri 06:00""#, found: node)
        }
        do throws(CalendarEventError) {
            return try CalendarEvent(text)
        } catch {
            throw Mismatch(expected: "a calendar event as in systemd.time(7)", found: node, detail: ", \(error)")
        }
    }
}

extension Kind<String> {
    /// A word of an open list, as in ``Kind/words``.
    static let word = Kind(#"a word of a-z, 0-9 and -, such as "fetch""#) { node in
        guard case .string(let text) = node, Kind<Set<String>>.isWord(text) else { return nil }
        return text
    }
}
