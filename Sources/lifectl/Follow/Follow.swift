import CommandLineTable
import ControlAPI
import LifecycleTypes

/// `lifectl follow`
enum Follow {
    enum Place: String, CaseIterable {
        case sway, x11, audio
    }

    static func run(_ arguments: Arguments) throws {
        guard let place = arguments.word(.source, of: Place.self) else { return }
        let name =
            switch place {
            case .sway: "sway"
            case .x11: "the X server"
            case .audio: "the sound server"
            }
        let isDryRun = arguments.has(.dryRun)
        var run = FollowRun(arguments.options, place: place, name: name, isDryRun: isDryRun) { () throws(Failure) in
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
    private let options: CallOptions
    private var waiting: [Follower.Step] = []
    /// The apps whose ignored use was reported.
    private var reported: Set<String> = []

    init(options: CallOptions) { self.options = options }

    /// Notes a step of a dry run.
    func note(_ step: Follower.Step) { waiting.append(step) }

    func flush() throws {
        defer { waiting = [] }
        for step in waiting { try options.show(step.line) { _ in "would \(step.words)\n" } }
    }

    /// Writes a message to standard error, and ignores a failure.
    func complain(_ text: String) { try? StandardStream.error.write("lifectl: \(Text.printable(text))\n") }

    func noteIgnored(_ apps: [String], _ use: Use) {
        guard let why = use.whyIgnored else { return }
        for app in apps where reported.insert(app).inserted { complain("\(app) \(why)") }
    }
}

extension Follower.Step {
    /// The step as a predicate, behind "would".
    var words: String {
        switch self {
        case .find(let key): "find the app of process \(key.process ?? 0)"
        case .use(let use, let apps):
            "report what \(use.words): \(apps.isEmpty ? "nothing" : apps.joined(separator: ", "))"
        case .focus(let app, let item): "bring \(app) to the foreground (\(item.words))"
        case .home: "go home: no window has the focus, or no foreground app is visible"
        case .leave(let item): "ignore a window of no app (\(item.words))"
        }
    }

    fileprivate var line: FollowStep {
        switch self {
        case .find(let key): .init(action: "find", process: key.process)
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
        case .visible: "is visible"
        case .pointed: "has the pointer"
        case .playing: "plays sound"
        case .called: "is called"
        case .awaited: "holds a lock that a process waits for"
        case .unread: "has many events to read"
        }
    }

    /// The reason why the configuration lets the daemon suspend an app in spite of the use; nil if it cannot.
    fileprivate var whyIgnored: String? {
        switch self {
        case .visible: "is visible, and is suspended all the same: lifed.toml says visible = \"ignore\""
        case .playing:
            "plays sound, and is suspended all the same: its manifest has no background mode \"audio\", or lifed.toml says "
                + "playing = \"ignore\""
        case .pointed, .called, .awaited, .unread: nil
        }
    }
}
