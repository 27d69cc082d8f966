/// A unit of time, and what values it has.
struct Unit {
    let name: String
    let range: ClosedRange<Int>
    /// What a number in the text is multiplied with.
    let scale: Int

    private init(_ name: String, _ range: ClosedRange<Int>, scale: Int = 1) {
        self.name = name
        self.range = range
        self.scale = scale
    }

    static let year = Unit("years", 1970...CalendarEvent.lastYear)
    static let month = Unit("months", 1...12)
    static let day = Unit("days", 1...31)
    /// Every month has this many, so that each value means a day.
    static let dayFromEnd = Unit("days from the end of a month", 1...28)
    static let hour = Unit("hours", 0...23)
    static let minute = Unit("minutes", 0...59)
    static let second = Unit("seconds", 0...59_999_999, scale: 1_000_000)

    /// `hours from 0 to 23`.
    var expectation: String {
        "\(name) from \(range.lowerBound / scale) to \(range.upperBound / scale)"
    }
}
