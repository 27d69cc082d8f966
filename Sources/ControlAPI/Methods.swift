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

/// A method with the types that go in and out.
public struct ControlMethod<Parameters: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    /// Which method it is.
    public let name: MethodName

    init(_ name: MethodName) {
        self.name = name
    }
}

extension ControlMethod where Parameters == LaunchParameters, Reply == AppReply {
    /// Starts an app, or brings it to the front if it runs.
    public static var launch: Self { Self(.launch) }
}

extension ControlMethod where Parameters == RunParameters, Reply == AppReply {
    /// Starts a command that no manifest describes.
    public static var run: Self { Self(.run) }
}

extension ControlMethod where Parameters == AppParameters, Reply == AppReply {
    /// Wakes an app and keeps it running in the background.
    public static var resume: Self { Self(.resume) }
    /// Asks an app to end, and makes it end when its grace is over.
    public static var terminate: Self { Self(.terminate) }
    /// Ends an app at once.
    public static var kill: Self { Self(.kill) }
}

extension ControlMethod where Parameters == FocusParameters, Reply == AppReply {
    /// Brings a running app to the front.
    public static var focus: Self { Self(.focus) }
}

extension ControlMethod where Parameters == AppParameters, Reply == DescribeReply {
    /// One app in detail.
    public static var describe: Self { Self(.describe) }
}

extension ControlMethod where Parameters == SuspendParameters, Reply == AppReply {
    /// Suspends an app.
    public static var suspend: Self { Self(.suspend) }
}

extension ControlMethod where Parameters == InterruptionParameters, Reply == NoParameters {
    /// Makes what is in front inactive.
    public static var beginInterruption: Self { Self(.beginInterruption) }
}

extension ControlMethod where Parameters == EndInterruptionParameters, Reply == NoParameters {
    /// Ends an interruption.
    public static var endInterruption: Self { Self(.endInterruption) }
}

extension ControlMethod where Parameters == NoParameters, Reply == AppReply {
    /// Sends what is in front away.
    public static var home: Self { Self(.home) }
}

extension ControlMethod where Parameters == NoParameters, Reply == ListReply {
    /// Every app that is known.
    public static var list: Self { Self(.list) }
}

extension ControlMethod where Parameters == NoParameters, Reply == ReloadReply {
    /// Reads the configuration again.
    public static var reload: Self { Self(.reload) }
}

extension ControlMethod where Parameters == NoParameters, Reply == NoParameters {
    /// Executes the daemon's program again.
    public static var reexecute: Self { Self(.reexecute) }
}

extension ControlMethod where Parameters == NoParameters, Reply == StatusReply {
    /// The daemon itself.
    public static var getStatus: Self { Self(.getStatus) }
}
