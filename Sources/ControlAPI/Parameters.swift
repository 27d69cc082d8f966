public import Varlink

/// A member of a reply that is written as null if it has no value: a reply always has all its members.
///
/// Without constraints on the value's type: the runtime would search for conformances whenever a program makes one.
@propertyWrapper
public struct Nullable<Value> {
    /// The value; nil for null.
    public var wrappedValue: Value?

    /// Creates a member.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension Nullable: Sendable where Value: Sendable {}

extension Nullable: Equatable where Value: Equatable {}

extension Nullable: Decodable where Value: Decodable {
    /// Decodes a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension Nullable: Encodable where Value: Encodable {
    /// Encodes the value or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedEncodingContainer {
    /// Encodes the value or null, without the intermediate container of a single value.
    public mutating func encode<Value: Encodable>(_ member: Nullable<Value>, forKey key: Key) throws {
        if let value = member.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}

extension KeyedDecodingContainer {
    /// Decodes a member that a daemon of another version may leave out.
    public func decode<Value: Decodable>(_ type: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        Nullable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

// What the methods of `org.lifed` take and return. Calls with a parameter that no method has are refused.

/// The parameters of the methods about one app.
public struct AppParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var id: String

    package init(id: String) { self.id = id }
    package static var fieldNames: [String] { ["id"] }
}

/// The condition for the reply of a call that brings an app to the foreground.
public enum WaitGoal: String, Codable, Sendable, CaseIterable {
    /// The app is active.
    case active
    /// The app has answered did-become-active, too, if it is connected.
    case answered
}

/// The parameters of Focus.
public struct FocusParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var id: String
    /// The condition for the reply; nil for the active app.
    public var wait: WaitGoal?

    package init(id: String, wait: WaitGoal? = nil) { (self.id, self.wait) = (id, wait) }
    package static var fieldNames: [String] { ["id", "wait"] }
}

/// The parameters of Launch.
public struct LaunchParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var id: String
    /// True to keep the app, or the scene, in the background.
    public var background: Bool?
    /// The condition for the reply; nil for the active app. In the background it is always the answer to the launch callbacks.
    public var wait: WaitGoal?

    package init(id: String, background: Bool? = nil, wait: WaitGoal? = nil) {
        (self.id, self.background, self.wait) = (id, background, wait)
    }
    package static var fieldNames: [String] { ["id", "background", "wait"] }
}

/// The parameters of Run.
public struct RunParameters: Codable, Sendable, NamedFields {
    /// The program and its arguments.
    public var command: [String]
    /// The id of the app; nil for an id after the name of the program.
    public var id: String?
    /// The whole environment.
    public var environment: [String: String]?
    /// The working directory.
    public var workingDirectory: String?
    /// True to keep the app, or the scene, in the background.
    public var background: Bool?

    package init(
        command: [String], id: String? = nil, environment: [String: String]? = nil, workingDirectory: String? = nil,
        background: Bool? = nil
    ) {
        (self.command, self.id, self.environment) = (command, id, environment)
        (self.workingDirectory, self.background) = (workingDirectory, background)
    }
    package static var fieldNames: [String] { ["command", "id", "environment", "workingDirectory", "background"] }
}

/// The parameters of Suspend.
public struct SuspendParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var id: String
    /// True to suspend the app without waiting for its background tasks and modes.
    public var now: Bool?

    package init(id: String, now: Bool? = nil) { (self.id, self.now) = (id, now) }
    package static var fieldNames: [String] { ["id", "now"] }
}

/// The parameters of EndInterruption.
public struct EndInterruptionParameters: Codable, Sendable, NamedFields {
    /// The name of the interruption.
    public var name: String?
    /// The app that answers the interruption and becomes the foreground app.
    public var answer: String?

    package init(name: String? = nil, answer: String? = nil) { (self.name, self.answer) = (name, answer) }
    package static var fieldNames: [String] { ["name", "answer"] }
}

/// The parameters of BeginInterruption.
public struct InterruptionParameters: Codable, Sendable, NamedFields {
    /// The name of the interruption.
    public var name: String?

    package init(name: String? = nil) { self.name = name }
    package static var fieldNames: [String] { ["name"] }
}

/// The reply of the methods about one app, and of Home.
public struct AppReply: Codable, Sendable {
    /// The app at the time of the reply.
    @Nullable public var app: App?

    package init(app: App?) { self.app = app }
}

/// The reply of List.
public struct ListReply: Codable, Sendable {
    /// The known apps, in the order of the ids.
    public var apps: [App]
    /// The processes of apps that serve other apps, too.
    public var helpers: [Helper]

    package init(apps: [App], helpers: [Helper] = []) { (self.apps, self.helpers) = (apps, helpers) }
}

/// The reply of Describe.
public struct DescribeReply: Codable, Sendable {
    /// The app.
    public var details: Details

    package init(details: Details) { self.details = details }
}

/// One of the replies of Monitor.
public struct MonitorReply: Codable, Sendable {
    /// The number of the change; in the first reply, the number of the last change before.
    public var number: Int64
    /// The known apps, in the first reply only.
    @Nullable public var apps: [App]?
    /// The transition of an app, if the change is one.
    @Nullable public var transition: Transition?
    /// The transition of a scene, if the change is one.
    @Nullable public var scene: SceneTransition?

    package init(
        number: Int64, apps: [App]? = nil, transition: Transition? = nil, scene: SceneTransition? = nil
    ) {
        (self.number, self.apps, self.transition, self.scene) = (number, apps, transition, scene)
    }
}

/// The reply of Reload.
public struct ReloadReply: Codable, Sendable {
    /// The problems of the configuration.
    public var problems: [Problem]

    package init(problems: [Problem]) { self.problems = problems }
}

/// The reply of GetStatus.
public struct StatusReply: Codable, Sendable {
    /// The status of the daemon.
    public var status: Status

    package init(status: Status) { self.status = status }
}

// MARK: - Apps that can be launched

/// The kind of file that describes an app.
public enum LaunchableSource: String, Codable, Sendable, CaseIterable {
    case manifest, desktopEntry
}

/// An app that can be launched.
public struct Launchable: Codable, Sendable {
    /// The id of the app.
    public var id: String
    /// The name for users.
    @Nullable public var name: String?
    /// The kind of file that describes the app.
    public var source: LaunchableSource
    /// The manifest or the desktop entry.
    public var file: String
    /// A Boolean value that indicates whether the app runs.
    public var running: Bool
    /// A Boolean value that indicates whether menus show the app.
    public var shown: Bool
    /// The reason why the app cannot be launched; nil if it can.
    @Nullable public var problem: String?

    package init(
        id: String, name: String?, source: LaunchableSource, file: String, running: Bool, shown: Bool = true,
        problem: String? = nil
    ) {
        (self.id, self.name, self.source, self.file, self.running) = (id, name, source, file, running)
        (self.shown, self.problem) = (shown, problem)
    }
}

/// The parameters of Apps.
public struct AppsParameters: Codable, Sendable, NamedFields {
    /// True to list the apps that menus do not show or that cannot be launched, too.
    public var all: Bool?

    package init(all: Bool? = nil) { self.all = all }
    package static var fieldNames: [String] { ["all"] }
}

/// The reply of Apps.
public struct AppsReply: Codable, Sendable {
    /// The apps, in the order of the ids.
    public var apps: [Launchable]

    package init(apps: [Launchable]) { self.apps = apps }
}

// MARK: - Processes that run already

/// The parameters of FindApp.
public struct FindAppParameters: Codable, Sendable, NamedFields {
    /// The number of the process in the daemon's namespace.
    public var pid: Int64

    package init(pid: Int64) { self.pid = pid }
    package static var fieldNames: [String] { ["pid"] }
}

/// The reply of FindApp.
public struct FindAppReply: Codable, Sendable {
    /// The app of the process; nil if the process belongs to no app.
    @Nullable public var app: App?

    package init(app: App?) { self.app = app }
}

/// The parameters of Adopt.
public struct AdoptParameters: Codable, Sendable, NamedFields {
    /// The number of the process in the daemon's namespace.
    public var pid: Int64
    /// The id of the app; nil for the id of the first rule that fits, or an id after the name of the program.
    public var id: String?
    /// The name for users; nil for none.
    public var name: String?
    /// True to keep the app, or the scene, in the background.
    public var background: Bool?
    /// True to adopt the process only if a rule of the configuration fits it.
    public var byRule: Bool?

    package init(
        pid: Int64, id: String? = nil, name: String? = nil, background: Bool? = nil, byRule: Bool? = nil
    ) {
        (self.pid, self.id, self.name, self.background, self.byRule) = (pid, id, name, background, byRule)
    }
    package static var fieldNames: [String] { ["pid", "id", "name", "background", "byRule"] }
}
