import ArgumentParser
import ControlAPI

extension SceneCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the scenes of an app, or of all apps.",
            discussion: "Example: lifectl scene list org.example.Notes --json")

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

        /// A single app is asked for by name, so that one that is not there is an error.
        private func apps() throws -> [App] {
            var session = try Session(options, doing: "cannot list the scenes")
            guard let app else { return try session.call(.list).apps }
            return [try session.call(.describe, AppParameters(id: app)).details.app]
        }
    }
}

/// What `lifectl scene list` shows: the scenes of several apps, each with its app.
struct ListedScenes: Encodable {
    struct Entry: Encodable {
        let app: String
        let scene: Scene

        var name: SceneName { SceneName(app, scene.id) }

        private enum CodingKeys: String, CodingKey { case app }

        /// As one object: what a scene has, and the app beside it.
        func encode(to encoder: any Encoder) throws {
            try scene.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(app, forKey: .app)
        }
    }

    let scenes: [Entry]

    init(apps: [App]) {
        scenes = apps.flatMap { app in (app.scenes ?? []).map { Entry(app: app.id, scene: $0) } }
    }
}
