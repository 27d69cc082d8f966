import ArgumentParser
import ControlAPI

// The commands that are about one app and differ in what they do to it.

struct Suspend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Stop every process of an app.",
        discussion: """
            Done when every process of the app is stopped. Its background tasks are expired first; an app that uses a background \
            mode is not suspended without --now.

            Example: lifectl suspend org.example.Clock
            """)

    @OptionGroup var app: AppArgument

    @Flag(help: "Do not wait for the app's background tasks, or for the background mode that it uses.")
    var now = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        try AppAction.suspend.perform(on: app.id, options.call, now: now)
    }
}

struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Wake an app and keep it running in the background.",
        discussion: "Done when the app runs.\n\nExample: lifectl resume org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        try AppAction.resume.perform(on: app.id, options.call)
    }
}

struct Terminate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminate",
        abstract: "Ask an app to end, and make it end when its grace is over.",
        discussion: "Done when every process of the app is gone.\n\nExample: lifectl terminate org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        try AppAction.terminate.perform(on: app.id, options.call)
    }
}

struct Kill: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill",
        abstract: "End an app at once, without asking.",
        discussion:
            "Done when every process of the app is gone. Unsaved work is lost.\n\nExample: lifectl kill org.example.Clock"
    )

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        try AppAction.kill.perform(on: app.id, options.call)
    }
}

struct Focus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "focus",
        abstract: "Bring a running app, or one of its scenes, to the front.",
        discussion: """
            Done when the app is active, or the scene APP/SCENE is; without a scene, an app that has several shows the ones \
            that were in front last.

            Example: lifectl focus org.example.Clock
            """)

    @OptionGroup var app: AppArgument
    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: GlobalOptions

    func run() throws {
        try AppAction.focus.perform(on: app.id, options.call, wait: waiting.goal)
    }
}

/// What is done to a running app by a command of one word.
enum AppAction: String, CaseIterable {
    case focus, suspend, resume, terminate, kill

    /// Does it, and says what the app is then.
    ///
    /// - Parameter id: The app's; what is brought to the front may be a scene, APP/SCENE, too.
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
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}

/// The id of an app, with the known ones for the shell to complete.
struct AppArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The id of the app.", valueName: "app"),
        completion: .knownApps)
    var id: String
}
