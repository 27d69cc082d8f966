public import Varlink

// What `org.lifed` is told of apps that are seen or heard.

/// How an app can be in use without being in front.
public enum Use: String, Codable, Sendable, CaseIterable {
    /// Something of it is on the screen.
    case visible
    /// It plays sound.
    case playing
}

/// The parameters of SetInUse.
public struct SetInUseParameters: Codable, Sendable, NamedFields {
    /// In which way.
    public var use: Use
    /// Every app that is used in this way.
    public var apps: [String]

    /// How many apps one call may name.
    public static let limit = 1024

    /// Says which apps are used, and how.
    public init(use: Use, apps: [String]) {
        self.use = use
        self.apps = apps
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["use", "apps"] }
}

/// What SetInUse returns.
public struct SetInUseReply: Codable, Sendable {
    /// The apps that their use does not keep awake.
    public var ignored: [String]

    /// Returns apps.
    public init(ignored: [String]) { self.ignored = ignored }
}

extension ControlMethod where Parameters == SetInUseParameters, Reply == SetInUseReply {
    /// Says which apps are on the screen, or play.
    public static var setInUse: Self { Self(.setInUse) }
}
