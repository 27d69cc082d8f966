/// A point in time, which is the same everywhere.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the beginning of 1970, UTC, without leap seconds, as CLOCK_REALTIME counts.
    public var microseconds: Int

    /// A point so many microseconds after the beginning of 1970.
    public init(microseconds: Int) {
        self.microseconds = microseconds
    }

    /// Whether one is before another.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
