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
