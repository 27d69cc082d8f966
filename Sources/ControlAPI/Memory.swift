public import Varlink

// What `org.lifed` says of memory.

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
