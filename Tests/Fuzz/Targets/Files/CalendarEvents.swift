@testable import Calendar

extension FuzzTarget {
    /// A calendar event; the first two bytes say when it is asked for.
    static let calendar = FuzzTarget("calendar", takesList: true) { bytes in
        var input = FuzzInput(bytes)
        let year = 1970 + input.number(below: 240)
        let part = input.number(below: 256)
        guard let text = String(validating: input.rest, as: UTF8.self) else { return }
        do throws(CalendarEventError) {
            let event = try CalendarEvent(text)
            var start = LocalTime(year: year)
            start.month = part % 12 + 1
            start.day = part % 28 + 1
            let instant = Timestamp(microseconds: start.count)
            check(event, after: instant, in: UTC())
            check(event, after: instant, in: Changing())
        } catch {
            require((1...input.rest.count + 1).contains(error.position), "a mistake is in the text: \(error.position)")
        }
    }

    private static func check(_ event: CalendarEvent, after instant: Timestamp, in rules: some TimeZoneRules) {
        guard let first = event.next(after: instant, in: rules) else { return }
        require(first > instant, "the next time is later")
        let justBefore = Timestamp(microseconds: first.microseconds - 1)
        require(event.next(after: justBefore, in: rules) == first, "no time is left out or comes twice")
        guard let second = event.next(after: first, in: rules) else { return }
        require(second > first, "times go on")
    }
}

/// Clocks that are put forward and back twice a year, by an hour.
private struct Changing: TimeZoneRules {
    func offset(at second: Int) -> Int {
        let day = second.flooredDivision(by: 86_400 * 365).remainder / 86_400
        return (80..<300).contains(day) ? 7200 : 3600
    }
}
