internal import AppChannel
internal import LifecycleTypes

/// The options of a URL to open.
public struct OpenURLOptions: Hashable, Sendable {
    /// The MIME type of the content, if known.
    public var contentType: String?
    /// The id of the app that sends the URL, if it was an app.
    public var sourceApplication: String?

    /// Creates the options.
    ///
    /// - Parameters:
    ///   - contentType: The MIME type of the content; nil if it is not known.
    ///   - sourceApplication: The id of the app that sends the URL; nil if it was no app.
    public init(contentType: String? = nil, sourceApplication: String? = nil) {
        self.contentType = contentType
        self.sourceApplication = sourceApplication
    }

    init(_ fields: OpenURLFields) {
        self.init(contentType: fields.type, sourceApplication: fields.source)
    }
}

/// An activity that the user began elsewhere and continues in this app.
public struct UserActivity: Hashable, Sendable {
    /// The kind of activity, in reverse-domain notation.
    public var activityType: String
    /// A JSON text from the app that began the activity; may be empty.
    public var userInfo: String

    /// Creates an activity.
    ///
    /// - Parameters:
    ///   - activityType: The kind of activity, in reverse-domain notation.
    ///   - userInfo: A JSON text from the app that began the activity; may be empty.
    public init(activityType: String, userInfo: String = "") {
        self.activityType = activityType
        self.userInfo = userInfo
    }

    init(_ fields: ContinueActivityFields) {
        self.init(activityType: fields.type, userInfo: fields.info)
    }
}

/// Background work that the app receives.
public struct BackgroundWork: Hashable, Sendable {
    /// The kind of work, such as `fetch`.
    public var kind: String
    /// The payload of the request; may be empty.
    public var payload: String

    /// Creates work.
    ///
    /// - Parameters:
    ///   - kind: The kind of work, such as `fetch`.
    ///   - payload: The payload of the request; may be empty.
    public init(kind: String, payload: String = "") {
        self.kind = kind
        self.payload = payload
    }

    init(_ fields: PerformTaskFields) {
        self.init(kind: fields.kind, payload: fields.payload)
    }
}

/// The result of background work.
public enum BackgroundWorkResult: Hashable, Sendable {
    /// There is something new.
    case newData
    /// There is nothing new.
    case noData
    /// The work failed.
    case failed

    var answer: AppAnswer {
        switch self {
        case .newData: .result(.newData)
        case .noData: .result(.noData)
        case .failed: .result(.failed)
        }
    }
}
