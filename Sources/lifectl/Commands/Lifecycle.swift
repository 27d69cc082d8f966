import ArgumentParser
import ControlAPI

/// An action that a command of one word does to a running app.
enum AppAction: String, CaseIterable {
    case focus, suspend, resume, terminate, kill

    /// Performs the action, and prints the state of the app afterwards.
    ///
    /// - Parameter id: The id of the app; with `focus`, a scene as APP/SCENE, too.
    func perform(on id: String, _ options: CallOptions, wait: WaitGoal? = nil, now: Bool = false) throws {
        if self == .focus, id.contains("/") { return try options.perform(.focusScene, on: id, verb: rawValue) }
        var session = try Session(options, doing: "cannot \(rawValue) \(id)")
        let app = AppParameters(id: id)
        let reply =
            switch self {
            case .focus: try session.call(.focus, FocusParameters(id: id, wait: wait), waitingFor: id)
            case .suspend: try session.call(.suspend, SuspendParameters(id: id, now: now ? true : nil), waitingFor: id)
            case .resume: try session.call(.resume, app, waitingFor: id)
            case .terminate: try session.call(.terminate, app, waitingFor: id)
            case .kill: try session.call(.kill, app, waitingFor: id)
            }
        try options.show(reply) { $0.sentence(reply) }
    }
}

/// The id of an app, with the known ones for the shell to complete.
struct AppArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The id of the app.", valueName: "app"), completion: .knownApps)
    var id: String
}

struct Suspend: ParsableCommand {
    static let configuration = CommandConfiguration(
        "suspend", "Stop every process of an app.",
        discussion: """
            Done when every process of the app is stopped. Its background tasks are expired first; an app that uses a background \
            mode is not suspended without --now.
            """, example: "lifectl suspend org.example.Clock")

    @OptionGroup var app: AppArgument

    @Flag(help: "Do not wait for the app's background tasks, or for the background mode that it uses.")
    var now = false

    @OptionGroup var options: GlobalOptions

    func run() throws { try AppAction.suspend.perform(on: app.id, options.callOptions, now: now) }
}

struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        "resume", "Wake an app and keep it running in the background.", discussion: "Done when the app runs.",
        example: "lifectl resume org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws { try AppAction.resume.perform(on: app.id, options.callOptions) }
}

struct Terminate: ParsableCommand {
    static let configuration = CommandConfiguration(
        "terminate", "Ask an app to end, and make it end when its grace is over.",
        discussion: "Done when every process of the app is gone.", example: "lifectl terminate org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws { try AppAction.terminate.perform(on: app.id, options.callOptions) }
}

struct Kill: ParsableCommand {
    static let configuration = CommandConfiguration(
        "kill", "End an app at once, without asking.",
        discussion: "Done when every process of the app is gone. Unsaved work is lost.",
        example: "lifectl kill org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws { try AppAction.kill.perform(on: app.id, options.callOptions) }
}
