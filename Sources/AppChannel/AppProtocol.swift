/// The numbers and names of the app protocol, as `docs/apps/protocol.md` fixes them.
public enum AppProtocol {
    /// The version that this codec speaks.
    public static let version: Int64 = 1

    /// The most bytes that a line may have, its line feed included.
    public static let maximumLineLength = 16384

    /// The most fields that a line may have.
    public static let maximumFieldCount = 32

    /// The environment variable that holds the number of the channel's descriptor, in decimal.
    public static let descriptorVariable = "LIFECYCLE_FD"

    /// The environment variable that holds the app's id.
    public static let appIDVariable = "LIFECYCLE_APP_ID"

    /// The environment variable that holds the path of the app's own directory.
    public static let stateDirectoryVariable = "LIFECYCLE_STATE_DIR"

    /// The environment variable that holds the path of the socket where an app gets a channel again that has ended.
    public static let socketVariable = "LIFECYCLE_SOCKET"
}

/// The number of a callback: the `seq` of the callback and of its answer.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable {
    /// From 0 to 2^63 - 1; grows from callback to callback.
    public let rawValue: Int64

    /// Creates the number of a value that is not negative.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Returns whether the left callback was sent before the right one.
    ///
    /// - Parameters:
    ///   - left: The number of a callback.
    ///   - right: The number of another callback of the same channel.
    /// - Returns: True if the left callback was sent first.
    public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The id of a background task or an activity, which the app chose.
public struct AssertionID: RawRepresentable, Hashable, Sendable {
    /// From 0 to 2^63 - 1.
    public let rawValue: Int64

    /// Creates the id of a value that is not negative.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}
