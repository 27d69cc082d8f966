import ControlAPI

/// What a person names a scene by: `APP/SCENE`.
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

    init(_ app: String, _ scene: String) {
        (self.app, self.scene) = (app, scene)
    }

    var parameters: SceneParameters { SceneParameters(app: app, scene: scene) }

    var text: String { "\(app)/\(scene)" }

    /// Whether a text has the form of a scene's id and of its role, so that a mistake is told in words before it is sent.
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
