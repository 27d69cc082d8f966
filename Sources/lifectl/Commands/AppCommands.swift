import ArgumentParser
import ControlAPI

// The commands that are about one app and differ in what they do to it.

struct Suspend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Put an app to sleep.",
        discussion: "Done when every process of the app is stopped.\n\nExample: lifectl suspend org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        try options.perform(.suspend, on: app.id, verb: "suspend")
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
        try options.perform(.resume, on: app.id, verb: "resume")
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
        try options.perform(.terminate, on: app.id, verb: "terminate")
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
        try options.perform(.kill, on: app.id, verb: "kill")
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
    @OptionGroup var options: GlobalOptions

    func run() throws {
        if app.id.contains("/") { return try options.perform(.focusScene, on: app.id, verb: "focus") }
        try options.perform(.focus, on: app.id, verb: "focus")
    }
}

extension GlobalOptions {
    fileprivate func perform(
        _ method: ControlMethod<AppParameters, AppReply>, on id: String, verb: String
    ) throws {
        var session = try Session(self, doing: "cannot \(verb) \(id)")
        let reply = try session.call(method, AppParameters(id: id), waitingFor: id)
        try show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}
