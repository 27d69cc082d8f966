public import Varlink

/// A member of an answer that may be null, and is written as null then: an answer always has all its members.
///
/// It asks nothing of the value's type: the runtime would look for conformances whenever a program makes one.
@propertyWrapper
public struct Nullable<Value> {
    /// The value; nil for null.
    public var wrappedValue: Value?

    /// A member with a value, or with null.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension Nullable: Sendable where Value: Sendable {}

extension Nullable: Equatable where Value: Equatable {}

extension Nullable: Decodable where Value: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension Nullable: Encodable where Value: Encodable {
    /// Writes the value or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedEncodingContainer {
    /// Writes the value or null, without the container of a single value that stands between otherwise.
    public mutating func encode<Value: Encodable>(_ member: Nullable<Value>, forKey key: Key) throws {
        if let value = member.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}

extension KeyedDecodingContainer {
    /// Reads a member that a daemon of another version may leave out.
    public func decode<Value: Decodable>(_ type: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        Nullable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

// What the methods of `org.lifed` take and return. Calls with a parameter that no method has are refused.

/// The parameters of the methods that are about one app.
public struct AppParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var id: String

    /// Names an app.
    public init(id: String) { self.id = id }

    /// As the description has them.
    public static var fieldNames: [String] { ["id"] }
}

/// What a call that brings an app to the front waits for.
public enum WaitGoal: String, Codable, Sendable, CaseIterable {
    /// The app is active.
    case active
    /// The app has answered did-become-active, too, if it is connected.
    case answered
}

/// The parameters of Focus.
public struct FocusParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var id: String
    /// What to wait for; nil for the active app.
    public var wait: WaitGoal?

    /// What to bring to the front.
    public init(id: String, wait: WaitGoal? = nil) {
        self.id = id
        self.wait = wait
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["id", "wait"] }
}

/// The parameters of Launch.
public struct LaunchParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var id: String
    /// Whether it stays out of sight.
    public var background: Bool?
    /// What to wait for; nil for the active app. In the background it is always the answer to the launch callbacks.
    public var wait: WaitGoal?

    /// What to launch.
    public init(id: String, background: Bool? = nil, wait: WaitGoal? = nil) {
        self.id = id
        self.background = background
        self.wait = wait
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["id", "background", "wait"] }
}

/// The parameters of Run.
public struct RunParameters: Codable, Sendable, NamedFields {
    /// The program and its arguments.
    public var command: [String]
    /// The id to run it under; nil for one after the program's name.
    public var id: String?
    /// The whole environment.
    public var environment: [String: String]?
    /// Where it starts.
    public var workingDirectory: String?
    /// Whether it stays out of sight.
    public var background: Bool?

    /// What to run.
    public init(
        command: [String], id: String? = nil, environment: [String: String]? = nil, workingDirectory: String? = nil,
        background: Bool? = nil
    ) {
        self.command = command
        self.id = id
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.background = background
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["command", "id", "environment", "workingDirectory", "background"] }
}

/// The parameters of Suspend.
public struct SuspendParameters: Codable, Sendable, NamedFields {
    /// The app's id.
    public var id: String
    /// Whether it is suspended without waiting for what it does in the background.
    public var now: Bool?

    /// Names an app, and how it is suspended.
    public init(id: String, now: Bool? = nil) {
        self.id = id
        self.now = now
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["id", "now"] }
}

/// The parameters of EndInterruption.
public struct EndInterruptionParameters: Codable, Sendable, NamedFields {
    /// Which interruption.
    public var name: String?
    /// The app that answers it, which becomes the foreground app.
    public var answer: String?

    /// Names an interruption, and the app that answers it.
    public init(name: String? = nil, answer: String? = nil) {
        self.name = name
        self.answer = answer
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["name", "answer"] }
}

/// The parameters of BeginInterruption.
public struct InterruptionParameters: Codable, Sendable, NamedFields {
    /// Which interruption.
    public var name: String?

    /// Names an interruption.
    public init(name: String? = nil) { self.name = name }

    /// As the description has them.
    public static var fieldNames: [String] { ["name"] }
}

/// What the methods that are about one app return, and what Home does.
public struct AppReply: Codable, Sendable {
    /// The app, as it was when the call was fulfilled.
    @Nullable public var app: App?

    /// Returns an app.
    public init(app: App?) { self.app = app }
}

/// What List returns.
public struct ListReply: Codable, Sendable {
    /// Every app that is known, in the order of the ids.
    public var apps: [App]
    /// The helpers that apps have started and that serve others too.
    public var helpers: [Helper]

    /// Returns apps and helpers.
    public init(apps: [App], helpers: [Helper] = []) {
        self.apps = apps
        self.helpers = helpers
    }
}

/// What Describe returns.
public struct DescribeReply: Codable, Sendable {
    /// The app.
    public var details: Details

    /// Returns details.
    public init(details: Details) { self.details = details }
}

/// What Monitor returns, again and again.
public struct MonitorReply: Codable, Sendable {
    /// The number of the change; in the first reply, that of the last one before.
    public var number: Int64
    /// Every app that is known, in the first reply only.
    @Nullable public var apps: [App]?
    /// The change, if it is one of an app.
    @Nullable public var transition: Transition?
    /// The change, if it is one of a scene.
    @Nullable public var scene: SceneTransition?

    /// Returns the present state, or a change.
    public init(
        number: Int64, apps: [App]? = nil, transition: Transition? = nil, scene: SceneTransition? = nil
    ) {
        self.number = number
        self.apps = apps
        self.transition = transition
        self.scene = scene
    }
}

/// What Reload returns.
public struct ReloadReply: Codable, Sendable {
    /// What is wrong with the configuration.
    public var problems: [Problem]

    /// Returns problems.
    public init(problems: [Problem]) { self.problems = problems }
}

/// What GetStatus returns.
public struct StatusReply: Codable, Sendable {
    /// The daemon.
    public var status: Status

    /// Returns a status.
    public init(status: Status) { self.status = status }
}

// MARK: - Apps that can be launched

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

// MARK: - Processes that run already

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
