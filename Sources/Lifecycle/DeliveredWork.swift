internal import AppChannel

/// What there is to know about a URL that an app is to open, beside the URL.
public struct OpenURLOptions: Hashable, Sendable {
    /// The MIME type of what is behind it, when that is known.
    public var contentType: String?
    /// The id of the app that asks for it, when it is one.
    public var sourceApplication: String?

    /// Options of which everything may be unknown.
    public init(contentType: String? = nil, sourceApplication: String? = nil) {
        self.contentType = contentType
        self.sourceApplication = sourceApplication
    }

    init(_ fields: OpenURLFields) {
        self.init(contentType: fields.type, sourceApplication: fields.source)
    }
}

/// Something that a person was doing elsewhere and goes on with here.
public struct UserActivity: Hashable, Sendable {
    /// What kind of activity it is, in reverse-domain notation.
    public var activityType: String
    /// A JSON text from whoever began the activity; empty when there is none.
    public var userInfo: String

    /// An activity of a kind.
    public init(activityType: String, userInfo: String = "") {
        self.activityType = activityType
        self.userInfo = userInfo
    }

    init(_ fields: ContinueActivityFields) {
        self.init(activityType: fields.type, userInfo: fields.info)
    }
}

/// Work that an app was woken for, out of sight.
public struct BackgroundWork: Hashable, Sendable {
    /// What is to be done, such as `fetch`.
    public var kind: String
    /// What there is to know for it, in the words of whoever ordered it; empty when there is nothing.
    public var payload: String

    /// Work of a kind.
    public init(kind: String, payload: String = "") {
        self.kind = kind
        self.payload = payload
    }

    init(_ fields: PerformTaskFields) {
        self.init(kind: fields.kind, payload: fields.payload)
    }
}

/// What became of work out of sight.
public enum BackgroundWorkResult: Hashable, Sendable {
    /// There is something new.
    case newData
    /// There is nothing new.
    case noData
    /// It could not be done.
    case failed

    var answer: CallbackAnswer {
        switch self {
        case .newData: .result(.newData)
        case .noData: .result(.noData)
        case .failed: .result(.failed)
        }
    }
}
