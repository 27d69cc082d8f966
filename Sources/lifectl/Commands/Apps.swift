import CommandLineTable
import ControlAPI

extension VerbGroup {
    /// The verbs that begin and end apps, let them run or not, and hand them something.
    static let apps = VerbGroup(
        title: "Apps",
        verbs: [
            Verb(
                name: "launch", summary: "Start an app, or bring it to the front if it runs.",
                details: """
                    Done when the app is active. The user's own daemon launches desktop entries, too, by their ids, with \
                    .desktop behind them or not.
                    """,
                example: "lifectl launch org.example.Clock",
                parameters: [
                    .argument(.app, "The id of the app.", .launchableApps),
                    .flag(.background, "Start the app without bringing it to the front."), .wait,
                ]
            ) { arguments in
                let id = arguments.app
                let parameters = LaunchParameters(
                    id: id, background: arguments.trueOrNil(.background),
                    wait: arguments.word(.wait, of: WaitGoal.self))
                try arguments.options.show(.launch, parameters, doing: "cannot launch \(id)", waitingFor: id) {
                    $0.sentence($1)
                }
            },
            Verb(
                name: "run", summary: "Run a command as an app, without a manifest.",
                details: """
                    The command gets this working directory, and of this environment what a program needs to find its \
                    user, its language, its files and its display; see ENVIRONMENT in lifectl(1). --setenv adds other \
                    variables.
                    """,
                example: "lifectl run --id org.example.Busy -- sh -c 'while :; do :; done'",
                parameters: [
                    .option(.id, "id", "The id of the app. (default: made from the command's name)"),
                    .flag(.background, "Start the app without bringing it to the front."),
                    .option(
                        .setenv, "name[=value]",
                        "Set a variable of the command's environment, or take it from this one. May be given several "
                            + "times.",
                        .checked("NAME or NAME=VALUE") { $0.utf8.first.map { $0 != UInt8(ascii: "=") } ?? false },
                        isRepeating: true),
                    .command("The program and its arguments, behind --."),
                ], run: RunEnvironment.run),
            Verb(
                name: "suspend", summary: "Stop every process of an app.",
                details: """
                    Done when every process of the app is stopped. Its background tasks are expired first; an app that \
                    uses a background mode is not suspended without --now.
                    """,
                example: "lifectl suspend org.example.Clock",
                parameters: [
                    .app,
                    .flag(
                        .now, "Do not wait for the app's background tasks, or for the background mode that it uses."),
                ], run: AppAction.suspend.perform),
            Verb(
                name: "resume", summary: "Wake an app and keep it running in the background.",
                details: "Done when the app runs.",
                example: "lifectl resume org.example.Clock", parameters: [.app], run: AppAction.resume.perform),
            Verb(
                name: "terminate", summary: "Ask an app to end, and make it end when its grace is over.",
                details: "Done when every process of the app is gone.",
                example: "lifectl terminate org.example.Clock", parameters: [.app], run: AppAction.terminate.perform),
            Verb(
                name: "kill", summary: "End an app at once, without asking.",
                details: "Done when every process of the app is gone. Unsaved work is lost.",
                example: "lifectl kill org.example.Clock", parameters: [.app], run: AppAction.kill.perform),
            Verb(
                name: "open", summary: "Open a URL or a file with the app that opens such.",
                details: """
                    The app is launched, or comes to the front. Done when it has taken what it was handed; an app that \
                    does not listen gets it as an argument when it is started, and not when it runs already.
                    """,
                example: "lifectl open https://example.org/",
                parameters: [
                    .argument(.url, "A URL, or the path of a file.", .files),
                    .option(
                        .app, "app", "The app to open it with. (default: the one that opens such)", .launchableApps),
                    .option(.type, "type", "Its media type. (default: what the name of a file says)"),
                ], run: Delivery.open),
            Verb(
                name: "continue", summary: "Hand an app something that was begun elsewhere.",
                details: """
                    The app is launched, or comes to the front. Done when it has taken the activity up. With --host, an \
                    activity goes on on another machine.
                    """,
                example: "lifectl continue org.example.Reader --activity org.example.read --info '{\"page\": 4}'",
                parameters: [
                    .app,
                    .option(
                        .activity, "type", "The kind of activity, in reverse-domain notation.",
                        .nonEmpty("a kind, such as org.example.read"), isRequired: true),
                    .option(
                        .info, "json", "What the app needs to know to go on.",
                        .checked("a JSON text, such as '{\"page\": 4}'", JSON.isText)),
                ], run: Delivery.continueActivity),
            Verb(
                name: "wake", summary: "Wake an app for work out of sight.",
                details: """
                    The app is launched if need be, and sleeps again when it is done, after 30 seconds at the latest; one \
                    in front stays there. Done when the app has said what became of the work. One that does not listen \
                    is only woken.
                    """,
                example: "lifectl wake org.example.Mail --for fetch",
                parameters: [
                    .app,
                    .option(.kind, "kind", "The kind of work: a word, such as fetch.", isRequired: true),
                    .option(.payload, "text", "What the app has to know for it."),
                ], run: Delivery.wake),
        ])
}

/// An action that a command of one word does to a running app.
enum AppAction: String {
    case focus, suspend, resume, terminate, kill

    /// Performs the action, and prints the state of the app afterwards. `focus` takes a scene as APP/SCENE, too.
    func perform(_ arguments: Arguments) throws {
        let (id, options) = (arguments.app, arguments.options)
        if self == .focus, id.contains("/") { return try options.perform(.focusScene, on: id, verb: rawValue) }
        var session = try Session(options, doing: "cannot \(rawValue) \(id)")
        let app = AppParameters(id: id)
        let reply =
            switch self {
            case .focus:
                try session.call(
                    .focus, FocusParameters(id: id, wait: arguments.word(.wait, of: WaitGoal.self)), waitingFor: id)
            case .suspend:
                try session.call(.suspend, SuspendParameters(id: id, now: arguments.trueOrNil(.now)), waitingFor: id)
            case .resume: try session.call(.resume, app, waitingFor: id)
            case .terminate: try session.call(.terminate, app, waitingFor: id)
            case .kill: try session.call(.kill, app, waitingFor: id)
            }
        try options.show(reply) { $0.sentence(reply) }
    }
}
