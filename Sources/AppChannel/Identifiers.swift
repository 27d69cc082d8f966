/// What tells callbacks apart: the `seq` of a callback and of the answer to it.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable {
    /// From 0 to 2^63 - 1; grows from callback to callback.
    public let rawValue: Int64

    /// The sequence number with this value, which is not negative.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Whether the left callback was sent before the right one.
    public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What tells an app's background tasks and activities apart: the `id` that the app chose.
public struct AssertionID: RawRepresentable, Hashable, Sendable {
    /// From 0 to 2^63 - 1.
    public let rawValue: Int64

    /// The id with this value, which is not negative.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}
