public import Varlink

// Processes that run already, and the apps that they belong to.

/// The parameters of FindApp.
public struct FindAppParameters: Codable, Sendable, NamedFields {
    /// The number of a process, as the daemon sees it.
    public var pid: Int64

    /// Names a process.
    public init(pid: Int64) { self.pid = pid }

    /// As the description has them.
    public static var fieldNames: [String] { ["pid"] }
}

/// What FindApp returns.
public struct FindAppReply: Codable, Sendable {
    /// The app whose process it is; nil where it is no app's.
    @Nullable public var app: App?

    /// Returns an app, or none.
    public init(app: App?) { self.app = app }
}

/// The parameters of Adopt.
public struct AdoptParameters: Codable, Sendable, NamedFields {
    /// The number of a process, as the daemon sees it.
    public var pid: Int64
    /// The id to manage it under; nil for that of the first rule that fits, or else one after the program's name.
    public var id: String?
    /// Its name for people; nil for none.
    public var name: String?
    /// Whether it stays out of sight.
    public var background: Bool?
    /// Whether it is left alone where no rule of the configuration fits it.
    public var byRule: Bool?

    /// What to adopt.
    public init(
        pid: Int64, id: String? = nil, name: String? = nil, background: Bool? = nil, byRule: Bool? = nil
    ) {
        self.pid = pid
        self.id = id
        self.name = name
        self.background = background
        self.byRule = byRule
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["pid", "id", "name", "background", "byRule"] }
}

extension ControlMethod where Parameters == AdoptParameters, Reply == AppReply {
    /// Puts a process that runs already under management.
    public static var adopt: Self { Self(.adopt) }
}

extension ControlMethod where Parameters == AppParameters, Reply == AppReply {
    /// Lets go of an app that was adopted.
    public static var disown: Self { Self(.disown) }
}

extension ControlMethod where Parameters == FindAppParameters, Reply == FindAppReply {
    /// The app that a process belongs to.
    public static var findApp: Self { Self(.findApp) }
}
