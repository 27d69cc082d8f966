// The types of `org.lifed`, field by field as its description has them.

/// What an app is doing.
public enum State: String, Codable, Sendable, CaseIterable {
    case notRunning, inactive, active, background, suspended, terminating
}

/// How the processes of an app are held together.
public enum Containment: String, Codable, Sendable, CaseIterable {
    case processGroup, cgroup
}

/// How an app ended the last time.
public struct Exit: Codable, Sendable, Equatable {
    /// The state in which it was.
    public var state: State
    /// Why it ended.
    public var reason: String
    /// What its main process returned, if it did.
    @Nullable public var exitCode: Int64?
    /// The signal that ended its main process, if one did.
    @Nullable public var signal: Int64?
    /// Microseconds since the epoch.
    public var time: Int64
    /// Why it, and not another, where it was ended for its memory.
    @Nullable public var reclaim: Reclaim?

    /// An exit with all that is known of it.
    public init(
        state: State, reason: String, exitCode: Int64?, signal: Int64?, time: Int64, reclaim: Reclaim? = nil
    ) {
        self.state = state
        self.reason = reason
        self.exitCode = exitCode
        self.signal = signal
        self.time = time
        self.reclaim = reclaim
    }
}

/// A process that an app has started and that serves other apps too: it is neither suspended nor ended with the app.
public struct Helper: Codable, Sendable, Equatable {
    /// The process.
    public var process: Process
    /// The app that started it, where that is known.
    @Nullable public var app: String?

    /// A helper.
    public init(process: Process, app: String?) {
        self.process = process
        self.app = app
    }
}

/// An app that is described in a manifest, or that was started ad hoc.
public struct App: Codable, Sendable, Equatable {
    /// Its name for programs.
    public var id: String
    /// Its name for people.
    @Nullable public var name: String?
    /// Where it is.
    public var state: State
    /// Where it is on its way to.
    public var target: State
    /// Why it is where it is.
    public var reason: String
    /// Whether it is in front.
    public var inFront: Bool
    /// Whether it listens to its life cycle.
    public var linked: Bool
    /// Whether no manifest describes it.
    public var adHoc: Bool
    /// Its main process.
    @Nullable public var pid: Int64?
    /// How its processes are held together.
    @Nullable public var containment: Containment?
    /// Since when it is where it is, in microseconds since the epoch.
    public var since: Int64
    /// How it ended the last time.
    @Nullable public var lastExit: Exit?
    /// Its scenes, the first that was opened first; nil where the app has no life cycle for each of them.
    @Nullable public var scenes: [Scene]?
    /// Whether its main process is stopped though lifed does not want that.
    public var stoppedByOther: Bool

    /// An app with all that is known of it.
    public init(
        id: String, name: String?, state: State, target: State, reason: String, inFront: Bool, linked: Bool,
        adHoc: Bool, pid: Int64?, containment: Containment?, since: Int64, lastExit: Exit?, scenes: [Scene]? = nil,
        stoppedByOther: Bool = false
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.target = target
        self.reason = reason
        self.inFront = inFront
        self.linked = linked
        self.adHoc = adHoc
        self.pid = pid
        self.containment = containment
        self.since = since
        self.lastExit = lastExit
        self.scenes = scenes
        self.stoppedByOther = stoppedByOther
    }
}

/// One process of an app's tree, as the kernel shows it.
public struct Process: Codable, Sendable, Equatable {
    /// Its number.
    public var pid: Int64
    /// Its parent's number.
    public var parent: Int64
    /// Its command line, or its name where it has none.
    public var command: String
    /// The letter of proc_pid_stat(5).
    public var state: String
    /// Time on a processor, in microseconds.
    public var cpuTime: Int64

    /// A process with all that is shown of it.
    public init(pid: Int64, parent: Int64, command: String, state: String, cpuTime: Int64) {
        self.pid = pid
        self.parent = parent
        self.command = command
        self.state = state
        self.cpuTime = cpuTime
    }
}

/// A process of an app that the daemon neither stops nor ends.
public struct UnheldProcess: Codable, Sendable, Equatable {
    /// Its number.
    public var pid: Int64
    /// Its command line, or its name where it has none.
    public var command: String
    /// The user that it runs as.
    @Nullable public var user: String?
    /// The reason why it is left alone.
    public var reason: String

    /// A process with all that is shown of it.
    public init(pid: Int64, command: String, user: String?, reason: String) {
        self.pid = pid
        self.command = command
        self.user = user
        self.reason = reason
    }
}

/// What can keep an app awake in the background.
public enum HoldKind: String, Codable, Sendable, CaseIterable {
    case task, activity
}

/// What keeps an app awake in the background.
public struct Hold: Codable, Sendable, Equatable {
    /// What kind it is.
    public var kind: HoldKind
    /// The number that the app has given it.
    public var number: Int64
    /// A task's name, an activity's mode.
    public var name: String
    /// When it began, in microseconds since the epoch.
    public var since: Int64
    /// When a task's time ends, if it runs, in microseconds since the epoch.
    @Nullable public var until: Int64?

    /// A hold with all that is known of it.
    public init(kind: HoldKind, number: Int64, name: String, since: Int64, until: Int64?) {
        self.kind = kind
        self.number = number
        self.name = name
        self.since = since
        self.until = until
    }
}

/// An app in detail.
public struct Details: Codable, Sendable, Equatable {
    /// What a list has of it.
    public var app: App
    /// Its program and arguments.
    public var command: [String]
    /// The user that it runs as, where that is not the daemon's.
    @Nullable public var user: String?
    /// The file that describes it.
    @Nullable public var manifest: String?
    /// Whether it ran before it was put under management.
    public var adopted: Bool
    /// Its processes.
    public var processes: [Process]
    /// The callback that it has not answered yet.
    @Nullable public var awaiting: String?
    /// When its time in the background ends, in microseconds since the epoch.
    @Nullable public var backgroundUntil: Int64?
    /// What keeps it in the background.
    public var holds: [Hold]
    /// When it is started again after it ended by itself, in microseconds since the epoch.
    @Nullable public var restartAt: Int64?
    /// How often in a row it has ended by itself soon after its start.
    public var failures: Int64
    /// Whether it has ended so often that it is not started again by itself.
    public var givenUp: Bool
    /// When it is woken, and for what.
    public var schedules: [Schedule]
    /// Those of its processes that the daemon neither stops nor ends; nil if there are none.
    @Nullable public var unheld: [UnheldProcess]?
    /// Why its control group is frozen, if it is.
    @Nullable public var frozen: String?
    /// Why its latest launch failed, if it did.
    @Nullable public var launchFailure: String?
    /// What the user can do, so that it can be launched.
    @Nullable public var launchRemedy: String?
    /// Whether it has ended and had no manifest: how it ended is all that is left of it.
    public var ended: Bool

    /// The details of an app.
    public init(
        app: App, command: [String], user: String?, manifest: String?, adopted: Bool = false, processes: [Process],
        awaiting: String?, backgroundUntil: Int64?, holds: [Hold], restartAt: Int64? = nil, failures: Int64 = 0,
        givenUp: Bool = false, schedules: [Schedule] = [], unheld: [UnheldProcess]? = nil,
        frozen: String? = nil, launchFailure: String? = nil, launchRemedy: String? = nil, ended: Bool = false
    ) {
        self.app = app
        self.command = command
        self.user = user
        self.manifest = manifest
        self.adopted = adopted
        self.processes = processes
        self.awaiting = awaiting
        self.backgroundUntil = backgroundUntil
        self.holds = holds
        self.restartAt = restartAt
        self.failures = failures
        self.givenUp = givenUp
        self.schedules = schedules
        self.unheld = unheld
        self.frozen = frozen
        self.launchFailure = launchFailure
        self.launchRemedy = launchRemedy
        self.ended = ended
    }
}

/// One change of an app's state.
public struct Transition: Codable, Sendable, Equatable {
    /// Which app.
    public var id: String
    /// The state that it left.
    public var from: State
    /// The state that it is in now.
    public var to: State
    /// Why.
    public var reason: String
    /// Microseconds since the epoch.
    public var time: Int64
    /// Its main process.
    @Nullable public var pid: Int64?
    /// How long it took to answer the callback that was waited for, in microseconds.
    @Nullable public var callback: Int64?

    /// A change with all that is known of it.
    public init(id: String, from: State, to: State, reason: String, time: Int64, pid: Int64?, callback: Int64?) {
        self.id = id
        self.from = from
        self.to = to
        self.reason = reason
        self.time = time
        self.pid = pid
        self.callback = callback
    }
}

/// A mistake in a file that people write.
public struct Problem: Codable, Sendable, Equatable {
    /// The file.
    public var file: String
    /// The line, counted from 1.
    @Nullable public var line: Int64?
    /// What is wrong, and what was expected.
    public var message: String

    /// A problem with its place.
    public init(file: String, line: Int64?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }
}

/// The daemon itself.
public struct Status: Codable, Sendable, Equatable {
    /// Its version.
    public var version: String
    /// Its process.
    public var pid: Int64
    /// `system` or `user`.
    public var instance: String
    /// Where it listens.
    public var socket: String
    /// When it started, in microseconds since the epoch.
    public var started: Int64
    /// The apps in front, the latest first.
    public var front: [String]
    /// The interruptions under way.
    public var interruptions: [String]
    /// Why nothing is in sight, if so: `locked`, `switched-away`, `asleep`.
    public var concealments: [String]
    /// The app that is in front when nothing else is.
    @Nullable public var homeApp: String?
    /// How many apps are known.
    public var apps: Int64
    /// How many of them run.
    public var running: Int64
    /// How many clients are connected.
    public var clients: Int64
    /// Whether it writes to the journal.
    public var journal: Bool
    /// What is wrong with the configuration.
    public var problems: [Problem]

    /// The status of a daemon.
    public init(
        version: String, pid: Int64, instance: String, socket: String, started: Int64, front: [String],
        interruptions: [String], concealments: [String], homeApp: String?, apps: Int64, running: Int64, clients: Int64,
        journal: Bool,
        problems: [Problem]
    ) {
        self.version = version
        self.pid = pid
        self.instance = instance
        self.socket = socket
        self.started = started
        self.front = front
        self.interruptions = interruptions
        self.concealments = concealments
        self.homeApp = homeApp
        self.apps = apps
        self.running = running
        self.clients = clients
        self.journal = journal
        self.problems = problems
    }
}
