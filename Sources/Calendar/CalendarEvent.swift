/// Points in time that are described as in a calendar: `Mon..Fri 06:00`, `*-*-01`, `hourly`. The form is that of
/// systemd.time(7), "Calendar Events", as of version 252.
///
/// The time zone is the local one, or UTC where that is the last word. Other zones are refused, and so are points in time
/// (`@…`). A year that is written with two digits is one from 1970 to 2069; there are no events before 1970 and none
/// after 2199.
public struct CalendarEvent: Hashable, Sendable, CustomStringConvertible {
    /// The event as it was written.
    public let description: String

    /// The last year that has events.
    static let lastYear = 2199

    /// A bit for each day, from Monday on.
    var weekdays = Self.everyWeekday
    var year = Values.any
    var month = Values.any
    var day = Values.any
    /// Whether days are counted from the end of the month.
    var countsFromEnd = false
    var hour = Values.one(0)
    var minute = Values.one(0)
    var microsecond = Values.one(0)
    /// Whether its times are in UTC.
    var isUTC = false

    static let everyWeekday: UInt8 = 0b111_1111

    /// Reads an event.
    public init(_ text: String) throws(CalendarEventError) {
        description = text
        var parser = CalendarEventParser(text)
        try parser.parse(into: &self)
    }
}
