import Testing

@testable import Calendar

@Suite struct CalendarEventTests {
    @Test(arguments: [
        ("daily", "2024-02-28 10:00:00", "2024-02-29 00:00:00"),
        ("hourly", "2024-12-31 23:00:00", "2025-01-01 00:00:00"),
        ("weekly", "2024-02-28 10:00:00", "2024-03-04 00:00:00"),
        ("Quarterly", "2024-02-28 10:00:00", "2024-04-01 00:00:00"),
        ("Mon..Fri 06:00", "2024-03-01 06:00:00", "2024-03-04 06:00:00"),
        ("Wed, 17:48", "2024-03-01 06:00:00", "2024-03-06 17:48:00"),
        ("Thu, Fri 2012-*-1,5 11:12:13", "2012-01-01 00:00:00", "2012-01-05 11:12:13"),
        ("*-02~01", "2024-01-01 00:00:00", "2024-02-29 00:00:00"),
        ("*-02~03", "2023-01-01 00:00:00", "2023-02-26 00:00:00"),
        ("Mon *-05~07/1", "2024-01-01 00:00:00", "2024-05-27 00:00:00"),
        ("*-*~3..8/3", "2024-02-01 00:00:00", "2024-02-24 00:00:00"),
        ("*:2/3", "2024-01-01 00:58:00", "2024-01-01 00:59:00"),
        ("10:1..8/3", "2024-01-01 10:07:00", "2024-01-02 10:01:00"),
        ("12-10-15 1:2:3", "2000-01-01 00:00:00", "2012-10-15 01:02:03"),
        ("*:*:*", "2024-01-01 00:00:00", "2024-01-01 00:00:01"),
        ("02-29", "2096-02-29 00:00:00", "2104-02-29 00:00:00"),
        ("05:40:23.4200004/3.1700005", "2024-01-01 05:40:23.420000", "2024-01-01 05:40:26.590001"),
        ("03-05 UTC", "2024-01-01 00:00:00", "2024-03-05 00:00:00"),
    ])
    func theNextTime(text: String, after: String, expected: String) throws {
        let next = try CalendarEvent(text).next(after: UTCText.timestamp(after), in: UTC())
        #expect(next.map(UTCText.text) == expected.withFraction)
    }

    @Test(arguments: ["2012-02-30", "2012-01-01", "Tue 2024-07-01"])
    func eventInThePastHasNoNextTime(text: String) throws {
        #expect(try CalendarEvent(text).next(after: UTCText.timestamp("2024-06-01 00:00:00"), in: UTC()) == nil)
    }

    @Test func anyInstantIsFine() throws {
        let event = try CalendarEvent("daily")
        for count in [Int.min, -1, 0, Int.max / 2, Int.max] {
            let next = event.next(after: Timestamp(microseconds: count), in: UTC())
            #expect((next == nil) == (count > 1 << 60))
        }
    }

    @Test(arguments: [
        ("", 1, "a calendar event"), ("often", 1, "a day of the week"), ("Mon 25:00", 5, "hours from 0 to 23"),
        ("10:60", 4, "minutes from 0 to 59"), ("10:00:60", 7, "seconds from 0 to 59"), ("*-13-01", 3, "months"),
        ("169-1-1", 1, "years from 1970 to 2199"), ("*-*~29", 5, "days from the end"),
        ("*-*-32", 5, "days from 1 to 31"),
        ("*/5:00", 2, "no step after *"), ("Sat..Mon", 6, "a later day"), ("Mon,, 10:00", 5, "a day of the week"),
        ("12", 3, ": and minutes"), ("10:5..3", 4, "a range upwards"), ("10:0/60", 4, "a step"),
        ("10:59/1", 4, "a step"),
        ("*-*~3/5", 5, "a step"), ("10:00 Europe/Berlin", 7, "no time zone, or UTC"), ("daily CET", 7, "no time zone"),
        ("never ever", 1, "a day of the week"),
        ("1.5:00", 1, "fractions"), ("10:00:1.", 9, "decimals"), ("10:00:", 7, "a number"), ("@5", 1, "a number"),
        ("2012-01-01T10:00", 11, "HOUR:MINUTE"), ("Mon 10:00 ", 10, "the end of the time"), (" daily", 1, "a number"),
        ("99999999999:00", 12, "a smaller number"), ("Monn", 1, "a day of the week"), ("Mon;", 4, "a space, a comma"),
        ("10:00:00:00", 9, "the end"), ("*-*-*-*", 6, "HOUR:MINUTE"), ("10:0/0", 4, "a step"),
        ("10:7..7/0", 4, "a step"),
    ])
    func mistakesAreNamedWithTheirPlace(text: String, position: Int, words: String) {
        let error = #expect(throws: CalendarEventError.self) { try CalendarEvent(text) }
        #expect(error?.position == position)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func aLongTextIsRefused() {
        #expect(throws: CalendarEventError.self) {
            try CalendarEvent("10:" + Array(repeating: "5", count: 10_000).joined(separator: ","))
        }
    }

    @Test func localTimesAreThoseOfTheGregorianCalendar() {
        for day in stride(from: -800_000, to: 800_000, by: 37) {
            let count = day * 86_400_000_000 + 12_345
            #expect(LocalTime(count: count).count == count)
        }
        #expect(UTCText.text(Timestamp(microseconds: 951_782_400_000_000)) == "2000-02-29 00:00:00.000000")
        #expect(LocalTime(count: 951_782_400_000_000).weekday == 1)
    }
}

@Suite struct JitterTests {
    @Test func aDelayIsStableAndWithinItsBounds() {
        let instant = Timestamp(microseconds: 1_700_000_000_000_000)
        let delay = Jitter.delay(for: "org.example.app", at: instant, upTo: .seconds(300))
        #expect(delay == Jitter.delay(for: "org.example.app", at: instant, upTo: .seconds(300)))
        #expect(delay == .microseconds(47_922_062))
        #expect(Jitter.delay(for: "a", at: instant, upTo: .zero) == .zero)
        #expect(Jitter.delay(for: "a", at: instant, upTo: .seconds(-1)) == .zero)
        #expect(Jitter.delay(for: "a", at: instant, upTo: .seconds(Int64.max)) >= .zero)
    }

    @Test func delaysSpreadOverAppsAndOverDays() {
        func quarters(_ delays: [Duration]) -> [Int] {
            (0..<4).map { quarter in delays.count { Int($0 / .seconds(25)) == quarter } }
        }
        let days = (0..<400).map { Timestamp(microseconds: $0 * 86_400_000_000) }
        let overDays = days.map { Jitter.delay(for: "app", at: $0, upTo: .seconds(100)) }
        let overApps = (0..<400).map { Jitter.delay(for: "app-\($0)", at: days[0], upTo: .seconds(100)) }
        for counts in [quarters(overDays), quarters(overApps)] {
            #expect(counts.allSatisfy { (60...140).contains($0) }, "\(counts)")
        }
    }
}

/// Timestamps as `YYYY-MM-DD HH:MM:SS`, with or without six decimals.
enum UTCText {
    static func timestamp(_ text: String) -> Timestamp {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        var local = LocalTime(year: numbers[0])
        (local.month, local.day, local.hour, local.minute) = (numbers[1], numbers[2], numbers[3], numbers[4])
        local.microsecond = numbers[5] * 1_000_000 + (numbers.count > 6 ? numbers[6] : 0)
        return Timestamp(microseconds: local.count)
    }

    static func text(_ instant: Timestamp) -> String {
        let local = UTC().localTime(of: instant)
        let date = [padded(local.year, 4), padded(local.month), padded(local.day)].joined(separator: "-")
        let time = [padded(local.hour), padded(local.minute), padded(local.microsecond / 1_000_000)]
        return "\(date) \(time.joined(separator: ":")).\(padded(local.microsecond % 1_000_000, 6))"
    }

    private static func padded(_ number: Int, _ length: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, length - digits.count)) + digits
    }
}

extension String {
    /// With the decimals that ``UTCText/text(_:)`` writes.
    var withFraction: String { contains(".") ? self : self + ".000000" }
}
