/// Reads the text of a calendar event from left to right: weekdays, a date, a time of the day.
struct CalendarEventParser {
    private let bytes: [UInt8]
    private var position = 0

    /// Longer than any event that a user writes.
    private static let longest = 512

    init(_ text: String) {
        bytes = Array(text.utf8.prefix(Self.longest + 1))
    }

    mutating func parse(into event: inout CalendarEvent) throws(CalendarEventError) {
        guard bytes.count <= Self.longest else { throw failure("expected at most \(Self.longest) characters") }
        guard !bytes.isEmpty else { throw failure(#"expected a calendar event, such as "daily" or "Mon..Fri 06:00","#) }
        var parser = self
        event.isUTC = try parser.parseZone()
        if try parser.parseShorthand(into: &event) { return }
        try parser.parseWeekdays(into: &event)
        let rest = parser
        if try !parser.parseDate(into: &event) { parser = rest }
        try parser.parseTime(into: &event)
    }
}

// MARK: - Parts

extension CalendarEventParser {
    /// Cuts the last word off where it is a zone, and says whether it is UTC.
    private mutating func parseZone() throws(CalendarEventError) -> Bool {
        guard let space = bytes.lastIndex(of: UInt8(ascii: " ")), space > 0, space + 1 < bytes.count else {
            return false
        }
        let word = String(decoding: bytes[(space + 1)...], as: UTF8.self)
        guard let first = word.utf8.first, Self.isLetter(first),
            Self.weekday(in: word.utf8.prefix(while: Self.isLetter)) == nil
        else {
            return false
        }
        guard word.lowercased() == "utc" else {
            // Only behind an event can the word be meant as a zone.
            _ = try CalendarEvent(String(decoding: bytes[..<space], as: UTF8.self))
            position = space + 1
            throw failure("expected no time zone, or UTC,")
        }
        self = CalendarEventParser(String(decoding: bytes[..<space], as: UTF8.self))
        return true
    }

    private static let shorthands: [String: String] = [
        "minutely": "*:*", "hourly": "*:00", "daily": "00:00", "weekly": "Mon 00:00", "monthly": "*-01",
        "quarterly": "01,04,07,10-01", "semiannually": "01,07-01", "semi-annually": "01,07-01",
        "biannually": "01,07-01", "bi-annually": "01,07-01", "yearly": "01-01", "annually": "01-01",
    ]

    private func parseShorthand(into event: inout CalendarEvent) throws(CalendarEventError) -> Bool {
        guard let meaning = Self.shorthands[String(decoding: bytes, as: UTF8.self).lowercased()] else { return false }
        let isUTC = event.isUTC
        var parser = CalendarEventParser(meaning)
        try parser.parse(into: &event)
        event.isUTC = isUTC
        return true
    }

    private mutating func parseWeekdays(into event: inout CalendarEvent) throws(CalendarEventError) {
        guard let first = current, Self.isLetter(first) else { return }
        event.weekdays = 0
        repeat {
            let start = try parseWeekday()
            var end = start
            if consume("..") {
                let place = position
                end = try parseWeekday()
                guard end >= start else {
                    position = place
                    throw failure("expected a later day of the week, which begins with Monday,")
                }
            }
            for day in start...end { event.weekdays |= 1 << UInt8(day) }
        } while try parseComma()
        guard current == nil || current == UInt8(ascii: " ") else {
            throw failure("expected a space, a comma or .. after the day of the week")
        }
        skipSpaces()
    }

    /// Returns whether another weekday follows. A comma may end the list, too.
    private mutating func parseComma() throws(CalendarEventError) -> Bool {
        guard consume(",") else { return false }
        guard current != nil else { return false }
        let place = position
        skipSpaces()
        if let next = current, Self.isLetter(next) { return true }
        if position == place { throw failure("expected a day of the week") }
        position = place
        return false
    }

    private mutating func parseWeekday() throws(CalendarEventError) -> Int {
        let word = bytes[position...].prefix(while: Self.isLetter)
        guard let day = Self.weekday(in: word) else {
            throw failure(#"expected a day of the week, such as Mon, or a word such as "daily""#)
        }
        position += word.count
        return day
    }

    /// Returns the names in full or their first three letters, in any case.
    private static func weekday(in word: some Sequence<UInt8>) -> Int? {
        let text = String(decoding: Array(word), as: UTF8.self).lowercased()
        let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        return names.firstIndex { $0 == text || $0.prefix(3) == text }
    }

    /// Reads `[[YEAR-]MONTH-]DAY` with what separates it from a time; false where what comes is no date.
    private mutating func parseDate(into event: inout CalendarEvent) throws(CalendarEventError) -> Bool {
        guard current != nil else { return false }
        var chains = [try parseChain()]
        if current == UInt8(ascii: ":") || current == nil { return false }
        var countsFromEnd = false
        while chains.count < 3, !countsFromEnd, current == UInt8(ascii: "-") || current == UInt8(ascii: "~") {
            countsFromEnd = current == UInt8(ascii: "~")
            position += 1
            chains.append(try parseChain())
        }
        guard current == nil || current == UInt8(ascii: " ") else {
            throw failure("expected MONTH-DAY or YEAR-MONTH-DAY, or HOUR:MINUTE; there is something else")
        }
        guard chains.count > 1 else { throw failure("expected - and another part of the date, or : and minutes,") }
        skipSpaces()
        event.countsFromEnd = countsFromEnd
        event.day = try chains.removeLast().values(of: countsFromEnd ? .dayFromEnd : .day)
        event.month = try chains.removeLast().values(of: .month)
        if let year = chains.last { event.year = try year.values(of: .year) }
        return true
    }

    /// Reads `HOUR:MINUTE[:SECOND]`, up to the end of the text.
    private mutating func parseTime(into event: inout CalendarEvent) throws(CalendarEventError) {
        guard current != nil else { return }
        let hour = try parseChain()
        guard consume(":") else { throw failure("expected : and minutes") }
        let minute = try parseChain()
        let second = consume(":") ? try parseChain() : nil
        guard current == nil else { throw failure("expected the end of the time, HOUR:MINUTE or HOUR:MINUTE:SECOND,") }
        event.hour = try hour.values(of: .hour)
        event.minute = try minute.values(of: .minute)
        if let second { event.microsecond = try second.values(of: .second) }
    }
}

// MARK: - Numbers

extension CalendarEventParser {
    private mutating func parseChain() throws(CalendarEventError) -> Chain {
        let place = position
        if consume("*") {
            guard current != UInt8(ascii: "/") else {
                throw failure("expected no step after *; write 0/5 (or 1/5) for every fifth,")
            }
            return Chain(position: place, elements: [])
        }
        var elements: [Chain.Element] = []
        repeat { elements.append(try parseElement()) } while consume(",")
        return Chain(position: place, elements: elements)
    }

    private mutating func parseElement() throws(CalendarEventError) -> Chain.Element {
        var element = Chain.Element(position: position + 1, start: try parseNumber())
        if consume("..") {
            element.stop = try parseNumber()
            element.step = Chain.one
        }
        if consume("/") { element.step = try parseNumber() }
        return element
    }

    /// Returns a number in millionths; further decimal places are rounded.
    private mutating func parseNumber() throws(CalendarEventError) -> Int {
        let digits = parseDigits()
        guard !digits.isEmpty else { throw failure("expected a number or *") }
        guard digits.count <= 9, let whole = Int(digits) else { throw failure("expected a smaller number") }
        var millionths = whole * Chain.one
        guard current == UInt8(ascii: "."), bytes.dropFirst(position + 1).first != UInt8(ascii: ".") else {
            return millionths
        }
        position += 1
        let decimals = parseDigits()
        guard !decimals.isEmpty else { throw failure("expected decimals") }
        var scale = Chain.one
        for digit in decimals.prefix(6) {
            scale /= 10
            millionths += (digit.wholeNumberValue ?? 0) * scale
        }
        if let next = decimals.dropFirst(6).first, next >= "5" { millionths += 1 }
        return millionths
    }

    private mutating func parseDigits() -> String {
        let digits = bytes[position...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        position += digits.count
        return String(decoding: digits, as: UTF8.self)
    }
}

// MARK: - Bytes

extension CalendarEventParser {
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func consume(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func skipSpaces() {
        while current == UInt8(ascii: " ") { position += 1 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private func failure(_ message: String) -> CalendarEventError {
        CalendarEventError(position: position + 1, message: message)
    }
}
