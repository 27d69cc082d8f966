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

    /// The qualified name.
    public var qualified: String { "\(LifedInterface.name).\(rawValue)" }

    /// A Boolean value that indicates whether the method answers only calls with `more`.
    public var isStream: Bool { self == .monitor }
}

extension LifedInterface {
    /// The interface with all methods, for a service.
    public static var interface: Interface {
        Interface(
            name: name,
            description: description,
            methods: Set(MethodName.allCases.map(\.rawValue)),
            streamingMethods: Set(MethodName.allCases.filter(\.isStream).map(\.rawValue)))
    }
}

/// A method, with the types of its parameters and its reply.
public struct ControlMethod<Parameters: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    /// The name of the method.
    public let name: MethodName

    init(_ name: MethodName) { self.name = name }
}

// The methods with one reply. Monitor, the only stream, has functions of its own in `ControlClient`.
extension ControlMethod {
    /// Launches an app, or brings it to the foreground if it runs.
    public static var launch: ControlMethod<LaunchParameters, AppReply> { .init(.launch) }
    /// Runs a command as an app without a manifest.
    public static var run: ControlMethod<RunParameters, AppReply> { .init(.run) }
    /// Brings a running app to the foreground.
    public static var focus: ControlMethod<FocusParameters, AppReply> { .init(.focus) }
    /// Brings the home app to the foreground.
    public static var home: ControlMethod<Nothing, AppReply> { .init(.home) }
    /// Begins an interruption: the foreground app becomes inactive.
    public static var beginInterruption: ControlMethod<InterruptionParameters, Nothing> { .init(.beginInterruption) }
    /// Ends an interruption.
    public static var endInterruption: ControlMethod<EndInterruptionParameters, Nothing> { .init(.endInterruption) }
    /// Hands a URL to the app that opens it.
    public static var open: ControlMethod<OpenParameters, OutcomeReply> { .init(.open) }
    /// Hands an app an activity that was begun elsewhere.
    public static var continueActivity: ControlMethod<ContinueActivityParameters, OutcomeReply> {
        .init(.continueActivity)
    }
    /// Simulates an event of the machine.
    public static var simulate: ControlMethod<SimulateParameters, Nothing> { .init(.simulate) }
    /// Suspends an app.
    public static var suspend: ControlMethod<SuspendParameters, AppReply> { .init(.suspend) }
    /// Resumes an app, and keeps it running in the background.
    public static var resume: ControlMethod<AppParameters, AppReply> { .init(.resume) }
    /// Wakes an app for work in the background.
    public static var wake: ControlMethod<WakeParameters, OutcomeReply> { .init(.wake) }
    /// Reports which apps are visible, or play sound.
    public static var setInUse: ControlMethod<SetInUseParameters, SetInUseReply> { .init(.setInUse) }
    /// Asks an app to end, and kills it when the termination timeout expires.
    public static var terminate: ControlMethod<AppParameters, AppReply> { .init(.terminate) }
    /// Kills an app.
    public static var kill: ControlMethod<AppParameters, AppReply> { .init(.kill) }
    /// Lists the apps.
    public static var list: ControlMethod<Nothing, ListReply> { .init(.list) }
    /// Lists the apps that can be launched.
    public static var apps: ControlMethod<AppsParameters, AppsReply> { .init(.apps) }
    /// Describes an app with its processes.
    public static var describe: ControlMethod<AppParameters, DescribeReply> { .init(.describe) }
    /// Explains an app's state, with the obstacles and what comes next.
    public static var explain: ControlMethod<AppParameters, ExplainReply> { .init(.explain) }
    /// Returns the last events.
    public static var history: ControlMethod<HistoryParameters, HistoryReply> { .init(.history) }
    /// Simulates a shortage of memory.
    public static var simulateMemoryPressure: ControlMethod<MemoryPressureParameters, MemoryPressureReply> {
        .init(.simulateMemoryPressure)
    }
    /// Reads the configuration again.
    public static var reload: ControlMethod<Nothing, ReloadReply> { .init(.reload) }
    /// Executes the daemon's program again.
    public static var reexecute: ControlMethod<Nothing, Nothing> { .init(.reexecute) }
    /// Describes the daemon.
    public static var getStatus: ControlMethod<Nothing, StatusReply> { .init(.getStatus) }
    /// Opens a scene of an app, or shows it again.
    public static var openScene: ControlMethod<OpenSceneParameters, SceneReply> { .init(.openScene) }
    /// Brings a scene to the foreground.
    public static var focusScene: ControlMethod<SceneParameters, SceneReply> { .init(.focusScene) }
    /// Sends a scene to the background.
    public static var backgroundScene: ControlMethod<SceneParameters, SceneReply> { .init(.backgroundScene) }
    /// Closes a scene for good.
    public static var closeScene: ControlMethod<SceneParameters, SceneReply> { .init(.closeScene) }
    /// Finds the app of a process.
    public static var findApp: ControlMethod<FindAppParameters, FindAppReply> { .init(.findApp) }
    /// Adopts a running process as an app.
    public static var adopt: ControlMethod<AdoptParameters, AppReply> { .init(.adopt) }
    /// Releases an adopted app.
    public static var disown: ControlMethod<AppParameters, AppReply> { .init(.disown) }
}
