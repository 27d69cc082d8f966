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

    /// The values, held against what the unit has.
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
    /// Whether a range goes upwards, and a repetition without an end has a second time.
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
