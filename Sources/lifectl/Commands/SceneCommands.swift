import CommandLineTable
import ControlAPI
import LifecycleTypes

/// The commands about scenes.
enum SceneCommands {
    static func open(_ arguments: Arguments) throws(Failure) {
        let app = arguments.app
        let parameters = OpenSceneParameters(
            app: app, scene: arguments[.scene], role: arguments[.role], info: arguments[.info],
            background: arguments.trueOrNil(.background))
        try arguments.options.show(.openScene, parameters, doing: "cannot open a scene of \(app)") {
            $0.sentence($1.scene, of: app)
        }
    }

    static func close(_ arguments: Arguments) throws(Failure) {
        let name = try SceneName(arguments.required(.scene))
        try arguments.options.show(.closeScene, name.parameters, doing: "cannot close \(name.text)") { _, _ in
            "\(Text.printable(name.text)) is closed\n"
        }
    }

    static func list(_ arguments: Arguments) throws(Failure) {
        let listed = ListedScenes(apps: try apps(arguments))
        try arguments.options.show(listed) { present in
            arguments.has(.ids)
                ? listed.scenes.map { "\(Text.printable($0.name.text))\n" }.joined() : present.scenes(listed.scenes)
        }
    }

    private static func apps(_ arguments: Arguments) throws(Failure) -> [APIApp] {
        let action = "cannot list the scenes"
        guard let app = arguments[.app] else { return try arguments.options.call(.list, doing: action).apps }
        // Describe fails for an unknown app; a filtered list would be empty.
        return [try arguments.options.call(.describe, AppParameters(id: app), doing: action).details.app]
    }
}

extension CallOptions {
    /// Calls a method that is about one scene, and prints the state of the scene afterwards.
    ///
    /// - Parameter argument: The scene as APP/SCENE.
    func perform(
        _ method: ControlMethod<SceneParameters, SceneReply>, on argument: String, verb: String, to place: String
    ) throws(Failure) {
        let name = try SceneName(argument)
        let action = "cannot \(verb) \(name.text)\(place)"
        try show(method, name.parameters, doing: action, waitingFor: name.app) {
            $0.sentence($1.scene, of: name.app)
        }
    }
}

extension ListedScene {
    var name: SceneName { SceneName(app, scene.id) }
}

extension ListedScenes {
    init(apps: [APIApp]) {
        scenes = apps.flatMap { app in (app.scenes ?? []).map { ListedScene(app: app.id, scene: $0) } }
    }
}

/// The name of a scene on the command line: `APP/SCENE`.
struct SceneName: Equatable {
    let app: String
    let scene: String

    init(_ argument: String) throws(Failure) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, SceneID.isWord(String(parts[1])) else {
            throw Failure(
                .usage, "cannot find the scene \(argument)", "it is not APP/SCENE, where SCENE is \(Self.form)",
                remedy: "'lifectl scene list --ids' lists the scenes")
        }
        (app, scene) = (String(parts[0]), String(parts[1]))
    }

    init(_ app: String, _ scene: String) { (self.app, self.scene) = (app, scene) }

    var parameters: SceneParameters { SceneParameters(app: app, scene: scene) }

    var text: String { "\(app)/\(scene)" }

    /// The values of an option for a scene's id or its role.
    static let words = Values.checked(form, SceneID.isWord)
    private static let form = "1 to 64 letters, digits, '.', '_' and '-' of ASCII"
}
