import ControlAPI

/// What a person or a journal is told of following.
final class FollowReporter {
    /// One line of `--dry-run --json`.
    struct Line: Codable {
        var action: String
        @Nullable var app: String? = nil
        @Nullable var process: Int64? = nil
        @Nullable var title: String? = nil
        @Nullable var use: Use? = nil
        @Nullable var apps: [String]? = nil
    }

    private let options: GlobalOptions
    private var waiting: [Follower.Step] = []
    /// Those of whom it was said already that they are not kept awake.
    private var said: Set<String> = []

    init(options: GlobalOptions) { self.options = options }

    /// Takes note of what would be done.
    func note(_ step: Follower.Step) { waiting.append(step) }

    func flush() throws {
        defer { waiting = [] }
        for step in waiting { try options.show(step.line) { _ in "would \(step.words)\n" } }
    }

    /// Says something on standard error. Nobody has to read that.
    func complain(_ text: String) { try? StandardStream.error.write("lifectl: \(Text.printable(text))\n") }

    func noteIgnored(_ apps: [String], _ use: Use) {
        let why =
            switch use {
            case .visible: "is on the screen, and is not kept awake for that: lifed.toml says visible = \"ignore\""
            case .playing:
                "plays, and is not kept awake for that: its manifest has no background mode \"audio\", or lifed.toml says "
                    + "playing = \"ignore\""
            }
        for app in apps where said.insert(app).inserted { complain("\(app) \(why)") }
    }
}

extension Follower.Step {
    /// What is done, behind "would".
    var words: String {
        switch self {
        case .find(let process): "find the app of process \(process)"
        case .use(let use, let apps):
            "say what \(use.words): \(apps.isEmpty ? "nothing" : apps.joined(separator: ", "))"
        case .focus(let app, let item): "focus \(app) (\(item.words))"
        case .home: "go home: nothing has the focus, or nothing of what is in front is on the screen"
        case .leave(let item): "leave alone what is no app's (\(item.words))"
        }
    }

    fileprivate var line: FollowReporter.Line {
        switch self {
        case .find(let process): .init(action: "find", process: process)
        case .use(let use, let apps): .init(action: "use", use: use, apps: apps)
        case .focus(let app, let item):
            .init(action: "focus", app: app, process: item.key.process, title: item.title)
        case .home: .init(action: "home")
        case .leave(let item): .init(action: "leave", process: item.key.process, title: item.title)
        }
    }
}

extension Item {
    fileprivate var words: String {
        let process = key.process.map { "process \($0)" } ?? "no process of this machine"
        return title.isEmpty ? process : "\(process), \(Text.printable(title))"
    }
}

extension Use {
    fileprivate var words: String {
        switch self {
        case .visible: "is on the screen"
        case .playing: "plays"
        }
    }
}
