import Testing

@testable import Calendar

/// Central Europe in 2024: clocks go from 02:00 to 03:00 on 31 March, and from 03:00 to 02:00 on 27 October.
private struct CentralEurope2024: TimeZoneRules {
    func offset(at second: Int) -> Int {
        (1_711_846_800..<1_729_990_800).contains(second) ? 7200 : 3600
    }
}

@Suite struct DaylightSavingTests {
    /// The next times, in UTC, after one in UTC.
    private func times(_ text: String, after: String, count: Int = 3) throws -> [String] {
        let event = try CalendarEvent(text)
        var instant = UTCText.timestamp(after)
        var found: [String] = []
        while found.count < count, let next = event.next(after: instant, in: CentralEurope2024()) {
            found.append(String(UTCText.text(next).dropLast(".000000".count)))
            instant = next
        }
        return found
    }

    @Test func aTimeThatIsLeftOutHasNoEvent() throws {
        #expect(
            try times("02:30", after: "2024-03-29 12:00:00")
                == ["2024-03-30 01:30:00", "2024-04-01 00:30:00", "2024-04-02 00:30:00"])
        #expect(
            try times("03:00", after: "2024-03-30 12:00:00", count: 2)
                == ["2024-03-31 01:00:00", "2024-04-01 01:00:00"])
    }

    @Test func aTimeThatComesTwiceCountsOnce() throws {
        #expect(
            try times("02:30", after: "2024-10-26 12:00:00", count: 2)
                == ["2024-10-27 00:30:00", "2024-10-28 01:30:00"])
        #expect(try times("02:30", after: "2024-10-27 01:00:00", count: 1) == ["2024-10-28 01:30:00"])
    }

    @Test func everyHourIsEveryHour() throws {
        #expect(
            try times("*:30", after: "2024-10-26 23:45:00", count: 4)
                == ["2024-10-27 00:30:00", "2024-10-27 01:30:00", "2024-10-27 02:30:00", "2024-10-27 03:30:00"])
        #expect(
            try times("*:0/30", after: "2024-10-27 00:40:00", count: 3)
                == ["2024-10-27 01:00:00", "2024-10-27 01:30:00", "2024-10-27 02:00:00"])
        #expect(
            try times("*:15", after: "2024-03-31 00:00:00", count: 2)
                == ["2024-03-31 00:15:00", "2024-03-31 01:15:00"])
    }

    /// However many times are left out or repeated, they cost no more than one.
    @Test(arguments: [
        ("02:*:0/0.000001", "2024-03-31 00:59:59", "2024-04-01 00:00:00"),
        ("02:*:0/0.000001", "2024-10-27 01:00:00", "2024-10-28 01:00:00"),
    ])
    func manyTimesAreNoMoreWork(text: String, after: String, expected: String) throws {
        #expect(try times(text, after: after, count: 1) == [expected])
    }

    @Test func utcKnowsNoChange() throws {
        #expect(try times("02:30 UTC", after: "2024-03-31 00:00:00", count: 1) == ["2024-03-31 02:30:00"])
    }
}
