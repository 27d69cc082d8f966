// The types of `org.lifed`, field by field as its description has them.

/// The state of an app.
public enum State: String, Codable, Sendable, CaseIterable {
    case notRunning, inactive, active, background, suspended, terminating
}

/// The containment of an app's processes.
public enum Containment: String, Codable, Sendable, CaseIterable {
    case processGroup, cgroup
}

/// The end of an app.
public struct Exit: Codable, Sendable, Equatable {
    /// The state in which the end began.
    public var state: State
    /// The reason.
    public var reason: String
    /// The exit status of the main process, if it exited.
    @Nullable public var exitCode: Int64?
    /// The signal that ended the main process, if any.
    @Nullable public var signal: Int64?
    /// Microseconds since the epoch.
    public var time: Int64
    /// The choice of the app, if it was ended for its memory.
    @Nullable public var reclaim: Reclaim?

    package init(
        state: State, reason: String, exitCode: Int64?, signal: Int64?, time: Int64, reclaim: Reclaim? = nil
    ) {
        (self.state, self.reason, self.exitCode, self.signal) = (state, reason, exitCode, signal)
        (self.time, self.reclaim) = (time, reclaim)
    }
}

/// A process of an app that serves other apps, too, and is neither suspended nor ended with the app.
public struct Helper: Codable, Sendable, Equatable {
    /// The process.
    public var process: Process
    /// The app that started the process, if known.
    @Nullable public var app: String?

    package init(process: Process, app: String?) { (self.process, self.app) = (process, app) }
}

/// An app.
public struct App: Codable, Sendable, Equatable {
    /// The id.
    public var id: String
    /// The name for users.
    @Nullable public var name: String?
    /// The state.
    public var state: State
    /// The target state.
    public var target: State
    /// The reason of the state.
    public var reason: String
    /// A Boolean value that indicates whether the app is in the foreground.
    public var inFront: Bool
    /// A Boolean value that indicates whether the app is connected.
    public var linked: Bool
    /// A Boolean value that indicates whether the app has no manifest.
    public var adHoc: Bool
    /// The main process.
    @Nullable public var pid: Int64?
    /// The containment of the processes.
    @Nullable public var containment: Containment?
    /// The time of the last transition, in microseconds since the epoch.
    public var since: Int64
    /// The last end.
    @Nullable public var lastExit: Exit?
    /// The scenes in the order of their opening; nil for an app without scenes.
    @Nullable public var scenes: [Scene]?
    /// A Boolean value that indicates whether another program has stopped the main process.
    public var stoppedByOther: Bool

    package init(
        id: String, name: String?, state: State, target: State, reason: String, inFront: Bool, linked: Bool,
        adHoc: Bool, pid: Int64?, containment: Containment?, since: Int64, lastExit: Exit?, scenes: [Scene]? = nil,
        stoppedByOther: Bool = false
    ) {
        (self.id, self.name, self.state, self.target, self.reason) = (id, name, state, target, reason)
        (self.inFront, self.linked, self.adHoc, self.pid) = (inFront, linked, adHoc, pid)
        (self.containment, self.since, self.lastExit) = (containment, since, lastExit)
        (self.scenes, self.stoppedByOther) = (scenes, stoppedByOther)
    }
}

/// A process of an app's tree.
public struct Process: Codable, Sendable, Equatable {
    /// The process number.
    public var pid: Int64
    /// The number of the parent.
    public var parent: Int64
    /// The command line, or the name of a process without one.
    public var command: String
    /// The letter of proc_pid_stat(5).
    public var state: String
    /// The processor time, in microseconds.
    public var cpuTime: Int64

    package init(pid: Int64, parent: Int64, command: String, state: String, cpuTime: Int64) {
        (self.pid, self.parent, self.command, self.state, self.cpuTime) = (pid, parent, command, state, cpuTime)
    }
}

/// A process of an app that the daemon neither stops nor ends.
public struct UnheldProcess: Codable, Sendable, Equatable {
    /// The process number.
    public var pid: Int64
    /// The command line, or the name of a process without one.
    public var command: String
    /// The user of the process.
    @Nullable public var user: String?
    /// The reason why the daemon leaves the process alone.
    public var reason: String

    package init(pid: Int64, command: String, user: String?, reason: String) {
        (self.pid, self.command, self.user, self.reason) = (pid, command, user, reason)
    }
}

/// The kinds of assertions.
public enum HoldKind: String, Codable, Sendable, CaseIterable {
    case task, activity
}

/// An assertion: it keeps an app awake in the background.
public struct Hold: Codable, Sendable, Equatable {
    /// The kind.
    public var kind: HoldKind
    /// The number that the app chose.
    public var number: Int64
    /// The name of a task, or the mode of an activity.
    public var name: String
    /// The start, in microseconds since the epoch.
    public var since: Int64
    /// The end of a task's time, if it runs, in microseconds since the epoch.
    @Nullable public var until: Int64?

    package init(kind: HoldKind, number: Int64, name: String, since: Int64, until: Int64?) {
        (self.kind, self.number, self.name, self.since, self.until) = (kind, number, name, since, until)
    }
}

/// The details of an app.
public struct Details: Codable, Sendable, Equatable {
    /// The app, as in a list.
    public var app: App
    /// The program and its arguments.
    public var command: [String]
    /// The user of the app, unless it is the daemon's user.
    @Nullable public var user: String?
    /// The path of the manifest or the desktop entry.
    @Nullable public var manifest: String?
    /// A Boolean value that indicates whether the app was adopted.
    public var adopted: Bool
    /// The processes.
    public var processes: [Process]
    /// The callback whose answer is pending.
    @Nullable public var awaiting: String?
    /// The end of the background time, in microseconds since the epoch.
    @Nullable public var backgroundUntil: Int64?
    /// The assertions.
    public var holds: [Hold]
    /// The time of the next restart, in microseconds since the epoch.
    @Nullable public var restartAt: Int64?
    /// The number of ends in a row soon after the start.
    public var failures: Int64
    /// A Boolean value that indicates whether the restart limit is reached.
    public var givenUp: Bool
    /// The schedules of background work.
    public var schedules: [Schedule]
    /// The processes that the daemon neither stops nor ends; nil if there are none.
    @Nullable public var unheld: [UnheldProcess]?
    /// The reason why the control group is frozen, if it is.
    @Nullable public var frozen: String?
    /// The error of the last launch, if it failed.
    @Nullable public var launchFailure: String?
    /// The remedy for the error of the last launch.
    @Nullable public var launchRemedy: String?
    /// A Boolean value that indicates whether the app has ended and had no manifest, so that only its end is known.
    public var ended: Bool

    package init(
        app: App, command: [String], user: String?, manifest: String?, adopted: Bool = false, processes: [Process],
        awaiting: String?, backgroundUntil: Int64?, holds: [Hold], restartAt: Int64? = nil, failures: Int64 = 0,
        givenUp: Bool = false, schedules: [Schedule] = [], unheld: [UnheldProcess]? = nil,
        frozen: String? = nil, launchFailure: String? = nil, launchRemedy: String? = nil, ended: Bool = false
    ) {
        (self.app, self.command, self.user, self.manifest, self.adopted) = (app, command, user, manifest, adopted)
        (self.processes, self.awaiting, self.backgroundUntil) = (processes, awaiting, backgroundUntil)
        (self.holds, self.restartAt, self.failures, self.givenUp) = (holds, restartAt, failures, givenUp)
        (self.schedules, self.unheld, self.frozen, self.launchFailure) = (schedules, unheld, frozen, launchFailure)
        (self.launchRemedy, self.ended) = (launchRemedy, ended)
    }
}

/// A transition of an app.
public struct Transition: Codable, Sendable, Equatable {
    /// The id of the app.
    public var id: String
    /// The state before.
    public var from: State
    /// The state after.
    public var to: State
    /// The reason.
    public var reason: String
    /// Microseconds since the epoch.
    public var time: Int64
    /// The main process.
    @Nullable public var pid: Int64?
    /// The time to the answer of the callback that the transition waited for, in microseconds.
    @Nullable public var callback: Int64?

    package init(id: String, from: State, to: State, reason: String, time: Int64, pid: Int64?, callback: Int64?) {
        (self.id, self.from, self.to, self.reason, self.time) = (id, from, to, reason, time)
        (self.pid, self.callback) = (pid, callback)
    }
}

/// A mistake in the configuration, a manifest or a desktop entry.
public struct Problem: Codable, Sendable, Equatable {
    /// The file.
    public var file: String
    /// The line, counted from 1.
    @Nullable public var line: Int64?
    /// The mistake, and the expected value.
    public var message: String

    package init(file: String, line: Int64?, message: String) {
        (self.file, self.line, self.message) = (file, line, message)
    }
}

/// The status of the daemon.
public struct Status: Codable, Sendable, Equatable {
    /// The version.
    public var version: String
    /// The process number.
    public var pid: Int64
    /// `system` or `user`.
    public var instance: String
    /// The path of the socket.
    public var socket: String
    /// The start of the daemon, in microseconds since the epoch.
    public var started: Int64
    /// The foreground apps, the latest first.
    public var front: [String]
    /// The interruptions.
    public var interruptions: [String]
    /// The conditions under which no app is in the foreground: `locked`, `switched-away`, `asleep`.
    public var concealments: [String]
    /// The home app.
    @Nullable public var homeApp: String?
    /// The number of known apps.
    public var apps: Int64
    /// The number of apps that run.
    public var running: Int64
    /// The number of connected clients.
    public var clients: Int64
    /// A Boolean value that indicates whether the daemon writes to the journal.
    public var journal: Bool
    /// The problems of the configuration.
    public var problems: [Problem]

    package init(
        version: String, pid: Int64, instance: String, socket: String, started: Int64, front: [String],
        interruptions: [String], concealments: [String], homeApp: String?, apps: Int64, running: Int64, clients: Int64,
        journal: Bool,
        problems: [Problem]
    ) {
        (self.version, self.pid, self.instance, self.socket, self.started) = (version, pid, instance, socket, started)
        (self.front, self.interruptions, self.concealments) = (front, interruptions, concealments)
        (self.homeApp, self.apps, self.running, self.clients) = (homeApp, apps, running, clients)
        (self.journal, self.problems) = (journal, problems)
    }
}
