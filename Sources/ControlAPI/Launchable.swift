public import Varlink

// What can be launched.

/// Where it is said how an app is launched.
public enum LaunchableSource: String, Codable, Sendable, CaseIterable {
    case manifest, desktopEntry
}

/// An app that can be launched.
public struct Launchable: Codable, Sendable {
    /// The app's id.
    public var id: String
    /// What people call it.
    @Nullable public var name: String?
    /// Where it is said how it is launched.
    public var source: LaunchableSource
    /// The manifest or the desktop entry.
    public var file: String
    /// Whether it runs.
    public var running: Bool
    /// Whether menus show it.
    public var shown: Bool
    /// Why it cannot be launched after all; nil where it can.
    @Nullable public var problem: String?

    /// Describes an app.
    public init(
        id: String, name: String?, source: LaunchableSource, file: String, running: Bool, shown: Bool = true,
        problem: String? = nil
    ) {
        self.id = id
        self.name = name
        self.source = source
        self.file = file
        self.running = running
        self.shown = shown
        self.problem = problem
    }
}

/// The parameters of Apps.
public struct AppsParameters: Codable, Sendable, NamedFields {
    /// Whether those are wanted too that menus do not show, or that cannot be launched.
    public var all: Bool?

    /// Which to list.
    public init(all: Bool? = nil) { self.all = all }

    /// As the description has them.
    public static var fieldNames: [String] { ["all"] }
}

/// What Apps returns.
public struct AppsReply: Codable, Sendable {
    /// The apps, in the order of the ids.
    public var apps: [Launchable]

    /// Returns apps.
    public init(apps: [Launchable]) { self.apps = apps }
}

extension ControlMethod where Parameters == AppsParameters, Reply == AppsReply {
    /// What can be launched.
    public static var apps: Self { Self(.apps) }
}
