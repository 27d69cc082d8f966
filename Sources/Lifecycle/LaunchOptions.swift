internal import AppChannel
internal import LifecycleTypes

/// The reason of a launch, and the previous end of the app.
public struct LaunchOptions: Sendable, Hashable {
    /// The request or event that launched the app.
    public var reason: LaunchReason
    /// A Boolean value that indicates whether the system ended the app, so that it should restore its state.
    public var shouldRestore: Bool
    /// The previous end of the app, if known.
    public var previousExit: PreviousExit?
    /// The URL that the app was launched to open, if any. `application(_:open:options:)` follows, unless both launch methods
    /// return false, or the URL is an argument of the command.
    public var url: String?

    /// Creates the options.
    ///
    /// - Parameters:
    ///   - reason: The reason of the launch.
    ///   - shouldRestore: A Boolean value that indicates whether the app should restore its state.
    ///   - previousExit: The previous end of the app; nil if it is not known.
    ///   - url: The URL that the app was launched to open; nil for none.
    public init(
        reason: LaunchReason = .launch, shouldRestore: Bool = false, previousExit: PreviousExit? = nil,
        url: String? = nil
    ) {
        self.reason = reason
        self.shouldRestore = shouldRestore
        self.previousExit = previousExit
        self.url = url
    }

    init(_ fields: LaunchFields) {
        self.init(
            reason: LaunchReason(rawValue: fields.reason), shouldRestore: fields.restores,
            previousExit: PreviousExit(fields), url: fields.url)
    }
}

/// The reason of a launch. The list is open: lifed may have other reasons.
public struct LaunchReason: RawRepresentable, Hashable, Sendable {
    /// The word of the app protocol.
    public let rawValue: String

    /// Creates the reason of a word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A client launched the app.
    public static let launch = LaunchReason(rawValue: Reason.launch.rawValue)
    /// The app is the home app, and no other app was in the foreground.
    public static let home = LaunchReason(rawValue: Reason.home.rawValue)
}

/// The previous end of an app, in lifed's words.
public struct PreviousExit: Hashable, Sendable {
    /// The state in which the app ended, such as `suspended`; empty if it is not known.
    public var state: String
    /// The reason, such as `background-timeout`; empty if it is not known.
    public var reason: String
    /// The time, in seconds since the start of 1970 in UTC; nil if it is not known.
    public var secondsSince1970: Int64?
    /// True if the app failed soon after restoring its state. lifed has set that state aside, and this launch does not restore it.
    public var restoreFailed: Bool

    /// Creates a previous end.
    ///
    /// - Parameters:
    ///   - state: The state in which the app ended; empty if it is not known.
    ///   - reason: The reason of the end; empty if it is not known.
    ///   - secondsSince1970: The time of the end, in seconds since the start of 1970 in UTC; nil if it is not known.
    ///   - restoreFailed: True if the app failed soon after restoring its state.
    public init(state: String, reason: String, secondsSince1970: Int64? = nil, restoreFailed: Bool = false) {
        self.state = state
        self.reason = reason
        self.secondsSince1970 = secondsSince1970
        self.restoreFailed = restoreFailed
    }

    init?(_ fields: LaunchFields) {
        guard fields.previousState != nil || fields.previousReason != nil else { return nil }
        self.init(
            state: fields.previousState ?? "", reason: fields.previousReason ?? "",
            secondsSince1970: fields.previousTime, restoreFailed: fields.restoreFailed)
    }
}
