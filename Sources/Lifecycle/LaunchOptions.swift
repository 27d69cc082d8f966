internal import AppChannel

/// Why an app was launched, and how it ended the last time.
public struct LaunchOptions: Sendable, Hashable {
    /// Why the app was launched.
    public var reason: LaunchReason
    /// Whether the system and not a person ended the app the last time: it should show what was there.
    public var shouldRestore: Bool
    /// How the app ended the last time, when that is known.
    public var previousExit: PreviousExit?
    /// What the app was launched to open, when it was. It comes once more with `application(_:open:options:)`, unless both
    /// launch methods say no.
    public var url: String?

    /// The options of a launch for this reason.
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

/// Why an app was launched. The list is open: lifed may have reasons that are not named here.
public struct LaunchReason: RawRepresentable, Hashable, Sendable {
    /// lifed's word for the reason.
    public let rawValue: String

    /// The reason with this word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Somebody launched it.
    public static let launch = LaunchReason(rawValue: "launch")
    /// It is the home app, and nothing else was in front.
    public static let home = LaunchReason(rawValue: "home")
}

/// How an app ended the last time, in lifed's words.
public struct PreviousExit: Hashable, Sendable {
    /// The state that it was in, such as `suspended`; empty when it is not known.
    public var state: String
    /// What ended it, such as `background-timeout`; empty when it is not known.
    public var reason: String
    /// When that was, in seconds since 1970 began in UTC; nil when it is not known.
    public var secondsSince1970: Int64?

    /// An exit in this state and for this reason.
    public init(state: String, reason: String, secondsSince1970: Int64? = nil) {
        self.state = state
        self.reason = reason
        self.secondsSince1970 = secondsSince1970
    }

    init?(_ fields: LaunchFields) {
        guard fields.previousState != nil || fields.previousReason != nil else { return nil }
        self.init(
            state: fields.previousState ?? "", reason: fields.previousReason ?? "",
            secondsSince1970: fields.previousTime)
    }
}
