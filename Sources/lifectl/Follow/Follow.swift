import ArgumentParser
import ControlAPI
import LifecycleTypes

struct Follow: ParsableCommand {
    static let configuration = CommandConfiguration(
        "follow", "Bring to the front what has the focus on the screen, and keep awake what is seen or heard.",
        discussion: """
            Goes on until it is ended (Ctrl-C), and waits for sway, the X server or the sound server, and for lifed, when one \
            of them is started again. Windows of what is no app are left alone; where nothing has the focus, the home app \
            comes. What sway is asked is found by SWAYSOCK or in XDG_RUNTIME_DIR, the X server by DISPLAY; i3 is followed \
            as x11. audio is about what plays, and changes no focus.
            """, example: "lifectl follow sway --dry-run")

    enum Place: String, ExpressibleByArgument, CaseIterable {
        case sway, x11, audio
    }

    @Argument(help: ArgumentHelp("Whom to follow.", valueName: "source"))
    var place: Place

    @Flag(help: "Change nothing, and say what would be done.")
    var dryRun = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let name =
            switch place {
            case .sway: "sway"
            case .x11: "the X server"
            case .audio: "the sound server"
            }
        var run = FollowRun(options, place: place, name: name, isDryRun: dryRun) { () throws(Failure) in
            switch place {
            case .sway: try SwaySource.find(environment: Environment.current)
            case .x11: try X11Source()
            case .audio: try AudioSource()
            }
        }
        try run.run()
    }
}

/// The output of `lifectl follow`.
final class FollowReporter {
    private let options: GlobalOptions
    private var waiting: [Follower.Step] = []
    /// The apps whose ignored use was reported.
    private var reported: Set<String> = []

    init(options: GlobalOptions) { self.options = options }

    /// Notes a step of a dry run.
    func note(_ step: Follower.Step) { waiting.append(step) }

    func flush() throws {
        defer { waiting = [] }
        for step in waiting { try options.show(step.line) { _ in "would \(step.words)\n" } }
    }

    /// Writes a message to standard error, and ignores a failure.
    func complain(_ text: String) { try? StandardStream.error.write("lifectl: \(Text.printable(text))\n") }

    func noteIgnored(_ apps: [String], _ use: Use) {
        let why =
            switch use {
            case .visible: "is on the screen, and is not kept awake for that: lifed.toml says visible = \"ignore\""
            case .playing:
                "plays, and is not kept awake for that: its manifest has no background mode \"audio\", or lifed.toml says "
                    + "playing = \"ignore\""
            }
        for app in apps where reported.insert(app).inserted { complain("\(app) \(why)") }
    }
}

extension Follower.Step {
    /// The step as a predicate, behind "would".
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

    fileprivate var line: FollowStep {
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
