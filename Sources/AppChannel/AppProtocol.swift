/// The numbers and names of the app protocol, as `docs/apps/protocol.md` fixes them.
public enum AppProtocol {
    /// The version that this codec speaks.
    public static let version: Int64 = 1

    /// The most bytes that a line may have, its line feed included.
    public static let maximumLineLength = 16384

    /// The most fields that a line may have.
    public static let maximumFieldCount = 32

    /// The file in the app's own directory where the libraries save its state.
    public static let stateFile = ".lifecycle-state"

    /// The file where lifed keeps a state whose restoration has failed.
    public static let failedStateFile = ".lifecycle-state.failed"
}

/// The environment variables of a launched app, besides the mark of its launch.
public enum AppVariable: String, CaseIterable, Sendable {
    /// The number of the channel's descriptor, in decimal.
    case descriptor = "LIFECYCLE_FD"
    /// The device and the inode number of the channel's socket, in decimal and separated by a colon.
    case channel = "LIFECYCLE_CHANNEL"
    /// The path of the socket where an app gets a channel again that has ended.
    case socket = "LIFECYCLE_SOCKET"
    /// The id of the app, such as `org.example.Editor`.
    case appID = "LIFECYCLE_APP_ID"
    /// The path of the app's own directory.
    case stateDirectory = "LIFECYCLE_STATE_DIR"
    /// The reason of the launch, as the word that `lifectl` shows.
    case launchReason = "LIFECYCLE_LAUNCH_REASON"
    /// 1 if the system ended the app the last time.
    case restore = "LIFECYCLE_RESTORE"
    /// 1 if the app failed soon after restoring its state, which lifed has set aside.
    case restoreFailed = "LIFECYCLE_RESTORE_FAILED"
    /// The state in which the app ended the last time.
    case previousState = "LIFECYCLE_PREVIOUS_STATE"
    /// The reason of the previous end.
    case previousReason = "LIFECYCLE_PREVIOUS_REASON"
    /// The time of the previous end, in seconds since the epoch.
    case previousTime = "LIFECYCLE_PREVIOUS_TIME"
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
