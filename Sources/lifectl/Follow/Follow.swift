import CommandLineTable
import ControlAPI
import LifecycleTypes

/// `lifectl follow`
enum Follow {
    enum SourceKind: String, CaseIterable {
        case sway, wayland, gnome, x11, audio

        func find(_ environment: [String: String]) throws(Failure) -> any Source {
            switch self {
            case .sway: try SwaySource.find(environment: environment)
            case .wayland: try WindowProgram(.wayland)
            case .gnome: try WindowProgram(.gnome)
            case .x11: try WindowProgram(.x11)
            case .audio: try AudioSource()
            }
        }
    }

    static func run(_ arguments: Arguments) throws(Failure) {
        let kind = arguments.word(.source, of: SourceKind.self)
        var run = try FollowRun(
            arguments.options, sourceName: kind?.rawValue ?? "the windows", isDryRun: arguments.has(.dryRun)
        ) { () throws(Failure) in
            let environment = Environment.current
            guard let kind else { return try WindowSources.find(environment: environment) }
            return try kind.find(environment)
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

    func flush() throws(Failure) {
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
    /// The step as a predicate, after "would".
    var words: String {
        switch self {
        case .find(let key): "find the app of \(key.owner.words)"
        case .use(let use, let apps):
            "report what \(use.words): \(apps.isEmpty ? "nothing" : apps.joined(separator: ", "))"
        case .focus(let app, let item): "bring \(app) to the foreground (\(item.words))"
        case .home: "go home: no window has the focus, or no foreground app is visible"
        case .leave(let item): "ignore a window of no app (\(item.words))"
        }
    }

    fileprivate var line: FollowStep {
        switch self {
        case .find(let key): .init(action: "find", process: key.owner.process, appID: key.owner.claimedApp)
        case .use(let use, let apps): .init(action: "use", use: use, apps: apps)
        case .focus(let app, let item):
            .init(
                action: "focus", app: app, process: item.key.owner.process, title: item.title,
                appID: item.key.owner.claimedApp)
        case .home: .init(action: "home")
        case .leave(let item):
            .init(
                action: "leave", process: item.key.owner.process, title: item.title, appID: item.key.owner.claimedApp)
        }
    }
}

extension Item {
    fileprivate var words: String {
        title.isEmpty ? key.owner.words : "\(key.owner.words), \(Text.printable(title))"
    }
}

extension Item.Owner {
    fileprivate var words: String {
        switch self {
        case .unknown: "no process of this machine"
        case .process(let process), .claimedProcess(let process): "process \(process)"
        case .claimedApp(let id): "app id \(Text.printable(id))"
        }
    }

    /// The app id; nil if there is a process, or neither.
    fileprivate var claimedApp: String? {
        if case .claimedApp(let id) = self { id } else { nil }
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
        case .relaunched: "was launched once more"
        case .unfollowed: "is not followed"
        }
    }

    /// The reason why the configuration lets the daemon suspend an app in spite of the use; nil if it cannot.
    fileprivate var whyIgnored: String? {
        switch self {
        case .visible: "is visible, and is suspended all the same: lifed.toml says visible = \"ignore\""
        case .playing:
            "plays sound, and is suspended all the same: its manifest has no background mode \"audio\", or lifed.toml says "
                + "playing = \"ignore\""
        case .pointed, .called, .awaited, .unread, .relaunched, .unfollowed: nil
        }
    }
}
