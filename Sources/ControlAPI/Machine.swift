public import Varlink

/// What can happen to the machine, and to the session in which the apps are seen.
public enum MachineEvent: String, Codable, Sendable, CaseIterable {
    case lock, unlock, sleep, wake, switchAway, switchBack, timeChange
}

/// The parameters of Simulate.
public struct SimulateParameters: Codable, Sendable, NamedFields {
    /// What is to happen.
    public var event: MachineEvent

    /// What is to happen.
    public init(event: MachineEvent) { self.event = event }

    /// As the description has them.
    public static var fieldNames: [String] { ["event"] }
}

extension ControlMethod where Parameters == SimulateParameters, Reply == NoParameters {
    /// Does to the apps what an event would do.
    public static var simulate: Self { Self(.simulate) }
}

// MARK: - Memory

/// How short memory is.
public enum MemoryLevel: String, Codable, Sendable, CaseIterable {
    case normal, warning, critical
}

/// Why an app was ended for its memory, and not another.
public struct Reclaim: Codable, Sendable, Equatable {
    /// Why apps had to go: how short memory was, in words.
    public var cause: String
    /// The first of the apps that could have been ended, in order; the one that was is the first.
    public var order: [String]
    /// How many could have been ended.
    public var candidates: Int64
    /// The memory that came back, in bytes.
    @Nullable public var freed: Int64?

    /// A reclaim with all that is known of it.
    public init(cause: String, order: [String], candidates: Int64, freed: Int64?) {
        self.cause = cause
        self.order = order
        self.candidates = candidates
        self.freed = freed
    }
}

/// The parameters of SimulateMemoryPressure.
public struct MemoryPressureParameters: Codable, Sendable, NamedFields {
    /// How short memory is to be.
    public var level: MemoryLevel
    /// Whether critical ends every app that may be ended, rather than one.
    public var all: Bool?

    /// Names a level.
    public init(level: MemoryLevel, all: Bool? = nil) {
        self.level = level
        self.all = all
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["level", "all"] }
}

/// What SimulateMemoryPressure returns.
public struct MemoryPressureReply: Codable, Sendable {
    /// The apps that were ended, in this order.
    public var reclaimed: [String]

    /// Returns apps.
    public init(reclaimed: [String]) { self.reclaimed = reclaimed }
}

extension ControlMethod where Parameters == MemoryPressureParameters, Reply == MemoryPressureReply {
    /// Does what is done when memory is short.
    public static var simulateMemoryPressure: Self { Self(.simulateMemoryPressure) }
}

// MARK: - Apps that are seen or heard

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
