/// One of a list of values: a number, a range, or a repetition.
struct Component: Hashable, Sendable {
    let start: Int

    /// The last value that there can be; nil where only the unit's own end counts.
    var stop: Int?

    /// The step from `start` on; nil for a single value.
    var step: Int?

    /// Returns the smallest value that is not below `value`.
    func first(from value: Int) -> Int? {
        if value <= start { return start }
        guard let step else { return nil }
        let next = start + (value - start + step - 1) / step * step
        return next <= stop ?? Int.max ? next : nil
    }

    /// Returns the values counted from the last day of a month instead of the first, for which both are 1.
    func countedFromEnd(ofMonthWith days: Int) -> Component {
        // The steps go towards the end of the month, so what a range begins with is its other end.
        Component(start: days + 1 - (stop ?? start), stop: stop == nil ? nil : days + 1 - start, step: step)
    }
}

/// The values that a unit of time may have.
enum Values: Hashable, Sendable {
    case any
    case list([Component])

    static func one(_ value: Int) -> Values { .list([Component(start: value)]) }

    /// Returns the smallest that is not below `value`; nil if there is none.
    func first(from value: Int) -> Int? {
        switch self {
        case .any: value
        case .list(let components): components.compactMap { $0.first(from: value) }.min()
        }
    }

    func countedFromEnd(ofMonthWith days: Int) -> Values {
        switch self {
        case .any: .any
        case .list(let components): .list(components.map { $0.countedFromEnd(ofMonthWith: days) })
        }
    }
}

/// A list of numbers in the text, before it is known what unit of time they are of.
struct Chain {
    /// In millionths, because seconds can have fractions.
    struct Element {
        let position: Int
        var start: Int
        var stop: Int?
        var step: Int?
    }

    let position: Int
    /// None for `*`.
    let elements: [Element]

    static let one = 1_000_000

    /// Returns the values, held against what the unit has.
    func values(of unit: Unit) throws(CalendarEventError) -> Values {
        // For seconds too, `*` means whole ones.
        guard !elements.isEmpty else {
            return unit.scale == 1 ? .any : .list([Component(start: 0, step: unit.scale)])
        }
        var components: [Component] = []
        for element in elements { components.append(try component(element, of: unit)) }
        return .list(components)
    }

    private func component(_ element: Element, of unit: Unit) throws(CalendarEventError) -> Component {
        let isYear = unit.range.lowerBound == Unit.year.range.lowerBound
        func value(_ number: Int) throws(CalendarEventError) -> Int {
            let value = number / (Self.one / unit.scale)
            guard value * (Self.one / unit.scale) == number else {
                throw CalendarEventError(
                    position: element.position, message: "only seconds can have fractions, not \(unit.name),")
            }
            return value
        }
        func valueInRange(_ number: Int) throws(CalendarEventError) -> Int {
            let value = isYear ? Self.fullYear(try value(number)) : try value(number)
            guard unit.range.contains(value) else {
                throw CalendarEventError(position: element.position, message: "expected \(unit.expectation)")
            }
            return value
        }
        var component = Component(start: try valueInRange(element.start))
        if let stop = element.stop { component.stop = try valueInRange(stop) }
        if let step = element.step { component.step = try value(step) }
        guard component.isSensible(in: unit) else {
            throw CalendarEventError(
                position: element.position,
                message: "expected a range upwards, and a step that stays within \(unit.expectation)")
        }
        return component.normalized
    }

    private static func fullYear(_ year: Int) -> Int {
        switch year {
        case 0..<70: year + 2000
        case 70..<100: year + 1900
        default: year
        }
    }
}

extension Component {
    /// Returns whether a range goes upwards, and a repetition without an end has a second time.
    fileprivate func isSensible(in unit: Unit) -> Bool {
        if let stop, stop < start { return false }
        if let step, step <= 0 { return false }
        guard let step, stop != start else { return true }
        guard step <= unit.range.upperBound - unit.range.lowerBound else { return false }
        // A step that leads out of the range leaves its first value, as it does with systemd.
        if stop != nil { return true }
        if unit.name == Unit.dayFromEnd.name { return start - step >= unit.range.lowerBound }
        return start + step <= unit.range.upperBound
    }

    /// The same values, with the last of them as the end of the range.
    fileprivate var normalized: Component {
        guard let stop, let step else { return self }
        let last = stop - (stop - start) % step
        return last == start ? Component(start: start) : Component(start: start, stop: last, step: step)
    }
}

/// A unit of time, and what values it has.
struct Unit {
    let name: String
    let range: ClosedRange<Int>
    /// The factor of a number in the text.
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
