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
    public var app: App?

    /// Returns an app, or none.
    public init(app: App?) { self.app = app }
}

extension ControlMethod where Parameters == FindAppParameters, Reply == FindAppReply {
    /// The app that a process belongs to.
    public static var findApp: Self { Self(.findApp) }
}
