import CommandLineTable
import ControlAPI

extension VerbGroup {
    /// The verbs that decide which apps and scenes are in the foreground.
    static let foreground = VerbGroup(
        title: "Foreground",
        verbs: [
            Verb(
                name: "focus", summary: "Bring a running app, or one of its scenes, to the front.",
                details: """
                    Done when the app is active, or the scene APP/SCENE is; without a scene, an app that has several \
                    shows the ones that were in front last.
                    """,
                example: "lifectl focus org.example.Clock", parameters: [.app, .wait], run: AppAction.focus.perform),
            Verb(
                name: "home", summary: "Send what is in front away, and bring the home app forward.",
                example: "lifectl home"
            ) { arguments in
                try arguments.options.show(.home, doing: "cannot go home") { present, reply in
                    reply.app.map(present.sentence) ?? "nothing is in front\n"
                }
            },
            Verb(
                name: "interrupt", summary: "Begin or end an interruption, such as a call or an alert.",
                details: """
                    The foreground app is inactive until every interruption has ended. Another app that becomes the \
                    foreground app meanwhile is inactive, too.
                    """,
                example: "lifectl interrupt begin --name call",
                groups: [.interruptions]),
            Verb(
                name: "scene", summary: "Open, show, hide and close the scenes of an app, and list them.",
                details: "A scene is a window, as a rule, of an app whose manifest says scenes = true.",
                example: "lifectl scene open org.example.Notes",
                groups: [.scenes]),
        ])

    /// The verbs behind `interrupt`.
    private static let interruptions = VerbGroup(
        title: "Commands",
        verbs: [
            Verb(
                name: "begin", summary: "Make what is in front inactive.",
                example: "lifectl interrupt begin --name call",
                parameters: [.interruption]
            ) { arguments in
                let words = arguments.interruption
                let parameters = BeginInterruptionParameters(name: arguments[.name])
                try arguments.options.show(.beginInterruption, parameters, doing: "cannot begin \(words)") {
                    _, _ in "\(words) has begun\n"
                }
            },
            Verb(
                name: "end",
                summary: "Make the foreground app active again, or the app that answers the interruption.",
                example: "lifectl interrupt end --name call --answer org.example.Phone",
                parameters: [
                    .interruption,
                    .option(.answer, "app", "Make this app the foreground app in the same step."),
                ]
            ) { arguments in
                let words = arguments.interruption
                let parameters = EndInterruptionParameters(
                    name: arguments[.name], answer: arguments[.answer])
                try arguments.options.show(.endInterruption, parameters, doing: "cannot end \(words)") {
                    _, _ in "\(words) has ended\n"
                }
            },
        ])

    /// The verbs behind `scene`.
    private static let scenes = VerbGroup(
        title: "Commands",
        verbs: [
            Verb(
                name: "open", summary: "Open a scene of an app, in front.",
                details: """
                    The app is launched if need be. A scene that is there already is shown again. Done when the \
                    scene is where it is to be.
                    """,
                example: "lifectl scene open org.example.Notes --info '{\"note\": 4}'",
                parameters: [
                    .app,
                    .option(.scene, "id", "The scene. (default: a new one)", SceneName.words),
                    .option(.role, "role", "What the scene is for. (default: window)", SceneName.words),
                    .option(.info, "text", "What the scene is to show, in words that the app understands."),
                    .flag(.background, "Open the scene without showing it."),
                ], run: Scenes.open),
            Verb(
                name: "focus", summary: "Bring a scene to the front.",
                details: "Done when the scene is active.",
                example: "lifectl scene focus org.example.Notes/main", parameters: [.scene]
            ) { arguments in
                try arguments.options.perform(.focusScene, on: arguments.required(.scene), verb: "focus")
            },
            Verb(
                name: "background", summary: "Send a scene out of sight.",
                details: "Done when the scene is in the background.",
                example: "lifectl scene background org.example.Notes/main", parameters: [.scene]
            ) { arguments in
                try arguments.options.perform(
                    .backgroundScene, on: arguments.required(.scene), verb: "send away")
            },
            Verb(
                name: "close", summary: "Close a scene for good.",
                details: "Done when the app has been told that the scene is gone.",
                example: "lifectl scene close org.example.Notes/scene-2", parameters: [.scene],
                run: Scenes.close),
            Verb(
                name: "list", summary: "List the scenes of an app, or of all apps.",
                example: "lifectl scene list org.example.Notes --json",
                parameters: [
                    .argument(
                        .app, "The id of the app; without it, the scenes of all.", .apps, isRequired: false),
                    .flag(.ids, "Print APP/SCENE only, one a line."),
                ], excluding: [[.ids, .json]], run: Scenes.list),
        ])
}

extension Parameter {
    fileprivate static let interruption = Parameter.option(.name, "name", "Tells several interruptions apart.")
}

extension Arguments {
    /// The interruption in a sentence.
    fileprivate var interruption: String {
        self[.name].map { "the interruption \(Text.printable($0))" } ?? "the interruption"
    }
}
