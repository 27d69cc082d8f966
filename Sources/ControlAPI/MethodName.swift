public import Varlink

/// The methods of `org.lifed`.
public enum MethodName: String, CaseIterable, Sendable {
    case launch = "Launch"
    case run = "Run"
    case focus = "Focus"
    case home = "Home"
    case beginInterruption = "BeginInterruption"
    case endInterruption = "EndInterruption"
    case open = "Open"
    case continueActivity = "ContinueActivity"
    case simulate = "Simulate"
    case suspend = "Suspend"
    case resume = "Resume"
    case wake = "Wake"
    case setInUse = "SetInUse"
    case terminate = "Terminate"
    case kill = "Kill"
    case list = "List"
    case apps = "Apps"
    case describe = "Describe"
    case explain = "Explain"
    case history = "History"
    case monitor = "Monitor"
    case simulateMemoryPressure = "SimulateMemoryPressure"
    case reload = "Reload"
    case reexecute = "Reexecute"
    case getStatus = "GetStatus"
    case openScene = "OpenScene"
    case focusScene = "FocusScene"
    case backgroundScene = "BackgroundScene"
    case closeScene = "CloseScene"
    case findApp = "FindApp"
    case adopt = "Adopt"
    case disown = "Disown"

    /// The name as calls have it.
    public var qualified: String { "\(LifedInterface.name).\(rawValue)" }

    /// Whether the method answers only calls with `more`.
    public var isStream: Bool { self == .monitor }
}

extension LifedInterface {
    /// The interface for a service that has all of it.
    public static var interface: Interface {
        Interface(
            name: name,
            description: description,
            methods: Set(MethodName.allCases.map(\.rawValue)),
            streamingMethods: Set(MethodName.allCases.filter(\.isStream).map(\.rawValue)))
    }
}
