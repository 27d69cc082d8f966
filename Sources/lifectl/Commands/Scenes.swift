import ArgumentParser
import ControlAPI

struct SceneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "scene", "Open, show, hide and close the scenes of an app, and list them.",
        discussion: "A scene is a window, as a rule, of an app whose manifest says scenes = true.",
        example: "lifectl scene open org.example.Notes",
        subcommands: [Open.self, Focus.self, Background.self, Close.self, List.self])

    struct Open: ParsableCommand {
        static let configuration = CommandConfiguration(
            "open", "Open a scene of an app, in front.",
            discussion: """
                The app is launched if need be. A scene that is there already is shown again. Done when the scene is where it \
                is to be.
                """, example: "lifectl scene open org.example.Notes --info '{\"note\": 4}'")

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
            let parameters = OpenSceneParameters(
                app: app.id, scene: scene, role: role, info: info, background: background ? true : nil)
            try options.show(.openScene, parameters, doing: "cannot open a scene of \(Text.printable(app.id))") {
                $0.sentence($1.scene, of: app.id)
            }
        }
    }

    struct Focus: ParsableCommand {
        static let configuration = CommandConfiguration(
            "focus", "Bring a scene to the front.", discussion: "Done when the scene is active.",
            example: "lifectl scene focus org.example.Notes/main")

        @OptionGroup var scene: SceneArgument
        @OptionGroup var options: GlobalOptions

        func run() throws { try options.callOptions.perform(.focusScene, on: scene.name, verb: "focus") }
    }

    struct Background: ParsableCommand {
        static let configuration = CommandConfiguration(
            "background", "Send a scene out of sight.", discussion: "Done when the scene is in the background.",
            example: "lifectl scene background org.example.Notes/main")

        @OptionGroup var scene: SceneArgument
        @OptionGroup var options: GlobalOptions

        func run() throws { try options.callOptions.perform(.backgroundScene, on: scene.name, verb: "send away") }
    }

    struct Close: ParsableCommand {
        static let configuration = CommandConfiguration(
            "close", "Close a scene for good.", discussion: "Done when the app has been told that the scene is gone.",
            example: "lifectl scene close org.example.Notes/scene-2")

        @OptionGroup var scene: SceneArgument
        @OptionGroup var options: GlobalOptions

        func run() throws {
            let name = try SceneName(scene.name)
            let text = Text.printable(name.text)
            try options.show(.closeScene, name.parameters, doing: "cannot close \(text)") { _, _ in
                "\(text) is closed\n"
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            "list", "List the scenes of an app, or of all apps.",
            example: "lifectl scene list org.example.Notes --json")

        @Argument(
            help: ArgumentHelp("The id of the app; without it, the scenes of all.", valueName: "app"),
            completion: .knownApps)
        var app: String?

        @Flag(help: "Print APP/SCENE only, one a line.")
        var ids = false

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard !(ids && options.json) else { throw ValidationError("--ids and --json exclude one another") }
        }

        func run() throws {
            let listed = ListedScenes(apps: try apps())
            try options.show(listed) { present in
                ids ? listed.scenes.map { "\(Text.printable($0.name.text))\n" }.joined() : present.scenes(listed.scenes)
            }
        }

        private func apps() throws -> [App] {
            let action = "cannot list the scenes"
            guard let app else { return try options.call(.list, doing: action).apps }
            // Describe fails for an unknown app; a filtered list would be empty.
            return [try options.call(.describe, AppParameters(id: app), doing: action).details.app]
        }
    }
}

extension CallOptions {
    /// Calls a method that is about one scene, and prints the state of the scene afterwards.
    ///
    /// - Parameter argument: The scene as APP/SCENE.
    func perform(_ method: ControlMethod<SceneParameters, SceneReply>, on argument: String, verb: String) throws {
        let name = try SceneName(argument)
        let action = "cannot \(verb) \(Text.printable(name.text))"
        try show(method, name.parameters, doing: action, waitingFor: name.app) {
            $0.sentence($1.scene, of: name.app)
        }
    }
}

extension ListedScene {
    var name: SceneName { SceneName(app, scene.id) }
}

extension ListedScenes {
    init(apps: [App]) {
        scenes = apps.flatMap { app in (app.scenes ?? []).map { ListedScene(app: app.id, scene: $0) } }
    }
}

/// A scene as `APP/SCENE`, with the known ones for the shell to complete.
struct SceneArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The scene, as APP/SCENE.", valueName: "scene"), completion: .knownScenes)
    var name: String
}

/// The name of a scene on the command line: `APP/SCENE`.
struct SceneName: Equatable {
    let app: String
    let scene: String

    init(_ argument: String) throws(Failure) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw Failure(
                status: .usage,
                message: "\(Text.printable(argument)) names no scene; it is APP/SCENE, as in org.example.Notes/main")
        }
        (app, scene) = (String(parts[0]), String(parts[1]))
    }

    init(_ app: String, _ scene: String) { (self.app, self.scene) = (app, scene) }

    var parameters: SceneParameters { SceneParameters(app: app, scene: scene) }

    var text: String { "\(app)/\(scene)" }

    /// Returns whether the text has the form of a scene's id and of its role.
    static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
                default: false
                }
            }
    }
}
