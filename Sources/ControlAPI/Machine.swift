public import Varlink

/// The events of the machine, and of the session in which the apps are shown.
public enum MachineEvent: String, Codable, Sendable, CaseIterable {
    case lock, unlock, sleep, wake, switchAway, switchBack, timeChange
}

/// The parameters of Simulate.
public struct SimulateParameters: Codable, Sendable, NamedFields {
    /// The event.
    public var event: MachineEvent

    package init(event: MachineEvent) { self.event = event }
    package static var fieldNames: [String] { ["event"] }
}

// MARK: - Memory

/// The level of memory pressure.
public enum MemoryLevel: String, Codable, Sendable, CaseIterable {
    case normal, warning, critical
}

/// The choice of an app that was ended for its memory.
public struct Reclaim: Codable, Sendable, Equatable {
    /// The shortage of memory, in words.
    public var cause: String
    /// The candidates in order, up to a limit; the first one was ended.
    public var order: [String]
    /// The number of candidates.
    public var candidates: Int64
    /// The memory that was freed, in bytes.
    @Nullable public var freed: Int64?

    package init(cause: String, order: [String], candidates: Int64, freed: Int64?) {
        (self.cause, self.order, self.candidates, self.freed) = (cause, order, candidates, freed)
    }
}

/// The parameters of SimulateMemoryPressure.
public struct MemoryPressureParameters: Codable, Sendable, NamedFields {
    /// The level to simulate.
    public var level: MemoryLevel
    /// True to end every app that may be ended, with `critical`; otherwise one.
    public var all: Bool?

    package init(level: MemoryLevel, all: Bool? = nil) { (self.level, self.all) = (level, all) }
    package static var fieldNames: [String] { ["level", "all"] }
}

/// The reply of SimulateMemoryPressure.
public struct MemoryPressureReply: Codable, Sendable {
    /// The apps that were ended, in order.
    public var reclaimed: [String]

    package init(reclaimed: [String]) { self.reclaimed = reclaimed }
}

// MARK: - Apps that are seen or heard

/// A use of an app that is not in the foreground.
public enum Use: String, Codable, Sendable, CaseIterable {
    /// A window of the app is visible.
    case visible
    /// The app plays sound.
    case playing
}

/// The parameters of SetInUse.
public struct SetInUseParameters: Codable, Sendable, NamedFields {
    /// The use.
    public var use: Use
    /// The ids of all apps that are used in this way.
    public var apps: [String]

    /// The number of apps that one call may name.
    public static let limit = 1024

    package init(use: Use, apps: [String]) { (self.use, self.apps) = (use, apps) }
    package static var fieldNames: [String] { ["use", "apps"] }
}

/// The reply of SetInUse.
public struct SetInUseReply: Codable, Sendable {
    /// The apps that the use does not keep awake.
    public var ignored: [String]

    package init(ignored: [String]) { self.ignored = ignored }
}
