public import Calendar

/// When an app is woken, and for what: a `[[schedule]]` of a manifest.
public struct Schedule: Hashable, Sendable {
    /// The times.
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

    fileprivate static let keys: [Key<Draft>] = [
        Key("at", .calendarEvent, \.at),
        Key("kind", .word, \.kind),
        Key("jitter", .duration, \.jitter),
    ]

    fileprivate init(_ table: [String: TOMLNode]) throws(Mismatch) {
        var draft = Draft()
        for (name, node) in table.sorted(by: { $0.key < $1.key }) {
            guard let key = Self.keys.first(where: { $0.path == [name] }) else { throw Self.unknownKey(name) }
            try key.read(node, &draft)
        }
        guard let at = draft.at else { throw Self.missing("at", #"at = "daily""#) }
        guard let kind = draft.kind else { throw Self.missing("kind", #"kind = "fetch""#) }
        self.init(at: at, kind: kind)
        jitter = draft.jitter
    }

    private static func missing(_ key: String, _ example: String) -> Mismatch {
        Mismatch(message: "cannot use schedule: \(key) is missing; add \(example)")
    }

    private static func unknownKey(_ name: String) -> Mismatch {
        let names = keys.map(\.path.dotted)
        let hint =
            Suggestion.forUnknown(name, among: names).map { "; did you mean \($0.quoted)?" }
            ?? "; known here: \(names.joined(separator: ", "))"
        return Mismatch(at: [name], message: "cannot use \(name.quoted) in schedule: unknown key\(hint)")
    }
}

extension Kind<[Schedule]> {
    /// Tables, of which more than this in one app are a program's mistake.
    static let schedules = Kind { node throws(Mismatch) in
        guard case .array(let elements) = node, elements.count <= 64 else {
            throw Mismatch(expected: "up to 64 tables, each [[schedule]]", found: node)
        }
        var schedules: [Schedule] = []
        for (index, element) in elements.enumerated() {
            do throws(Mismatch) {
                guard case .table(let table) = element else {
                    throw Mismatch(expected: "a table, [[schedule]]", found: element)
                }
                schedules.append(try Schedule(table))
            } catch {
                throw error.under([TOMLDocument.element(index + 1)])
            }
        }
        return schedules
    }
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
