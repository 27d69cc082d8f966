/// One of a list of values: a number, a range, or a repetition.
struct Component: Hashable, Sendable {
    let start: Int

    /// The last value that there can be; nil where only the unit's own end counts.
    var stop: Int?

    /// The step from `start` on; nil for a single value.
    var step: Int?

    /// The smallest value that is not below `value`.
    func first(from value: Int) -> Int? {
        if value <= start { return start }
        guard let step else { return nil }
        let next = start + (value - start + step - 1) / step * step
        return next <= stop ?? Int.max ? next : nil
    }

    /// Counted from the last day of a month instead of the first, for which both are 1.
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

    /// The smallest that is not below `value`; nil where there is none.
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
