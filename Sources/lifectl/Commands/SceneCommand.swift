import ArgumentParser
import ControlAPI

struct SceneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scene",
        abstract: "Open, show, hide and close the scenes of an app, and list them.",
        discussion: """
            A scene is a window, as a rule, of an app whose manifest says scenes = true.

            Example: lifectl scene open org.example.Notes
            """,
        subcommands: [Open.self, Focus.self, Background.self, Close.self, List.self])

    struct Open: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open",
            abstract: "Open a scene of an app, in front.",
            discussion: """
                The app is launched if need be. A scene that is there already is shown again. Done when the scene is where it \
                is to be.

                Example: lifectl scene open org.example.Notes --info '{"note": 4}'
                """)

        @OptionGroup var app: AppArgument

        @Option(help: ArgumentHelp("The scene. (default: a new one)", valueName: "id"))
        var scene: String?

        @Option(help: ArgumentHelp("What the scene is for. (default: window)", valueName: "role"))
        var role: String?

        @Option(help: ArgumentHelp("What the scene is to show, in words that the app understands.", valueName: "text"))
        var info: String?

        @Flag(help: "Open the scene without showing it.")
        var background = false

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            for (option, word) in [("--scene", scene), ("--role", role)] {
                guard let word, !SceneName.isWord(word) else { continue }
                throw ValidationError("\(option) takes 1 to 64 letters, digits, '.', '_' and '-' of ASCII")
            }
        }

        func run() throws {
            var session = try Session(options, doing: "cannot open a scene of \(Text.printable(app.id))")
            let parameters = OpenSceneParameters(
                app: app.id, scene: scene, role: role, info: info, background: background ? true : nil)
            let reply = try session.call(.openScene, parameters)
            try options.show(reply) { present in present.sentence(reply.scene, of: app.id) }
        }
    }

    struct Focus: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "focus",
            abstract: "Bring a scene to the front.",
            discussion: "Done when the scene is active.\n\nExample: lifectl scene focus org.example.Notes/main")

        @OptionGroup var scene: SceneArgument
        @OptionGroup var options: GlobalOptions

        func run() throws {
            try options.call.perform(.focusScene, on: scene.name, verb: "focus")
        }
    }

    struct Background: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "background",
            abstract: "Send a scene out of sight.",
            discussion: "Done when the scene is in the background.\n\n"
                + "Example: lifectl scene background org.example.Notes/main")

        @OptionGroup var scene: SceneArgument
        @OptionGroup var options: GlobalOptions

        func run() throws {
            try options.call.perform(.backgroundScene, on: scene.name, verb: "send away")
        }
    }

    struct Close: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "close",
            abstract: "Close a scene for good.",
            discussion: "Done when the app has been told that the scene is gone.\n\n"
                + "Example: lifectl scene close org.example.Notes/scene-2")

        @OptionGroup var scene: SceneArgument
        @OptionGroup var options: GlobalOptions

        func run() throws {
            let name = try SceneName(scene.name)
            var session = try Session(options, doing: "cannot close \(Text.printable(name.text))")
            let reply = try session.call(.closeScene, name.parameters)
            try options.show(reply) { _ in "\(Text.printable(name.text)) is closed\n" }
        }
    }
}

/// A scene as `APP/SCENE`, with the known ones for the shell to complete.
struct SceneArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The scene, as APP/SCENE.", valueName: "scene"),
        completion: .knownScenes)
    var name: String
}

extension CallOptions {
    func perform(
        _ method: ControlMethod<SceneParameters, SceneReply>, on argument: String, verb: String
    ) throws {
        let name = try SceneName(argument)
        var session = try Session(self, doing: "cannot \(verb) \(Text.printable(name.text))")
        let reply = try session.call(method, name.parameters, waitingFor: name.app)
        try show(reply) { present in present.sentence(reply.scene, of: name.app) }
    }
}
