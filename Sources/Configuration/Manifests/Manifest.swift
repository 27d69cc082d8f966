public import LifecycleTypes

/// One app, as a file in `apps.d` describes it.
public struct Manifest: Hashable, Sendable {
    /// A signal that asks a process to end.
    public enum StopSignal: String, CaseIterable, Hashable, Sendable {
        case terminate = "SIGTERM"
        case interrupt = "SIGINT"
        case quit = "SIGQUIT"
        case hangUp = "SIGHUP"
        case firstOfUser = "SIGUSR1"
        case secondOfUser = "SIGUSR2"
        case windowChange = "SIGWINCH"
        case power = "SIGPWR"
    }

    /// The processes that the stop signal asks to end at once.
    public enum StopMode: String, CaseIterable, Hashable, Sendable {
        /// The main process, or the program that it wraps. The others are asked when it has ended.
        case main

        /// Every process.
        case all
    }

    /// A way to keep the processes of an app from running.
    public enum SuspendMethod: String, CaseIterable, Hashable, Sendable {
        /// SIGSTOP to each process.
        case signal

        /// The cgroup freezer if the app has a cgroup, otherwise signals.
        case freezer

        /// Signals and the cgroup freezer.
        case both
    }

    /// The process whose end is the end of the app.
    public enum ExitPolicy: String, CaseIterable, Hashable, Sendable {
        /// The main process. The daemon then asks the remaining processes to end.
        case main

        /// The last process: for programs that start another program and exit.
        case last
    }

    /// The rights of the app's processes on the control socket, if its user may use that socket.
    public enum Control: String, CaseIterable, Hashable, Sendable {
        /// Its processes may ask about the app, end it and suspend it.
        case own = "self"

        /// Its processes have the rights of its user.
        case full
    }

    /// The id of the app, valid by the rule of ``AppIdentifier``.
    public var id: String

    /// The path of the file that describes the app.
    public var file: String

    /// The name for users; nil for the id.
    public var name: String?

    /// The program and its arguments, as written; never empty. The program gets the first as its name.
    public var command: [String]

    /// The command as its desktop entry has it; nil if the manifest has a command of its own.
    public var exec: ExecLine?

    /// The app id or the class of the windows, if the desktop entry has one other than the id (`StartupWMClass`).
    public var windowClass: String?

    /// The user that the app runs as; nil for the user of the daemon. Only the system instance accepts one.
    public var user: String?

    /// The working directory, an absolute path; nil for the default.
    public var workingDirectory: String?

    /// The variables that the daemon adds to the environment.
    public var environment: [String: String] = [:]

    /// The policy for the app in the background.
    public var suspend = SuspensionPolicy.auto

    /// The way in which the daemon keeps the processes from running.
    public var suspendMethod = SuspendMethod.signal

    /// The signal that asks the processes to end.
    public var stopSignal = StopSignal.terminate

    /// The processes that the stop signal asks to end at once.
    public var stopMode = StopMode.main

    /// A Boolean value that indicates whether no process of the app gains privileges by a program that it executes.
    public var noNewPrivileges = false

    /// The largest set of capabilities that the processes may have; nil for no bound.
    public var capabilities: Set<Capability>?

    /// The paths below which the app can write, besides its state directory and `/dev`; nil for everywhere.
    public var writablePaths: [String]?

    /// A Boolean value that indicates whether the app has a `/tmp` and a `/var/tmp` of its own. Only the system instance
    /// accepts true.
    public var privateTmp = false

    /// The process whose end is the end of the app.
    public var exitPolicy = ExitPolicy.main

    /// The policy for callbacks of the app.
    public var callbacks = CallbackPolicy.auto

    /// The rights of the processes on the control socket.
    public var control = Control.own

    /// The background modes whose activities keep the app running in the background, such as `audio`.
    public var backgroundModes: Set<String> = []

    /// The background time; nil for ``DaemonSettings/timeouts``.
    public var backgroundTime: Duration?

    /// The termination timeout, from SIGTERM to SIGKILL; nil for ``DaemonSettings/timeouts``.
    public var terminationTimeout: Duration?

    /// The time from the launch to the end of the launch callbacks; nil for ``DaemonSettings/timeouts``.
    public var launchTimeout: Duration?

    /// A Boolean value that indicates whether the scenes of the app have a life cycle of their own.
    public var scenes = false

    /// The largest number of foreground scenes of the app; 1…16.
    public var sceneLimit = 1

    /// The policy for restarts of the app.
    public var restart = RestartPolicy.never

    /// The app that the daemon activates when this app ends in the foreground; nil for ``DaemonSettings/onExit``.
    public var onExit: ExitSuccessor?

    /// The state in which the daemon launches the app when it starts; nil if it does not.
    public var launchAtStart: LaunchPosition?

    /// A Boolean value that indicates whether the memory of the app is reclaimed while it is suspended; nil for
    /// ``DaemonSettings/Memory/reclaimWhenSuspended``.
    public var reclaimWhenSuspended: Bool?

    /// The schemes of the URLs that the app opens, in lower case, such as https.
    public var schemes: Set<String> = []

    /// The media types of the files that the app opens, in lower case, such as text/plain.
    public var mimeTypes: Set<String> = []

    /// Creates an app with the given command, and otherwise the defaults.
    ///
    /// - Parameters:
    ///   - id: The id of the app.
    ///   - file: The path of the manifest.
    ///   - command: The command, the program first; never empty.
    public init(id: String, file: String, command: [String]) {
        self.id = id
        self.file = file
        self.command = command
    }
}

extension Manifest {
    /// The keys of a manifest. `id` and `command` have no default in the file; ``ManifestReader`` handles both.
    static let schema = Schema<Manifest>(keys: [
        Key("id", .identifier, \.id),
        Key("name", .title, \.name),
        Key("command", .command, \.command),
        Key("user", .userName, \.user),
        Key("workingDirectory", .absolutePath, \.workingDirectory),
        Key("environment", .environment, \.environment),
        Key("suspend", .choice, \.suspend),
        Key("suspendMethod", .choice, \.suspendMethod),
        Key("stopSignal", .choice, \.stopSignal),
        Key("stopMode", .choice, \.stopMode),
        Key("noNewPrivileges", .boolean, \.noNewPrivileges),
        Key("writablePaths", .paths, \.writablePaths),
        Key("privateTmp", .boolean, \.privateTmp),
        Key("capabilities", .capabilities, \.capabilities),
        Key("exitPolicy", .choice, \.exitPolicy),
        Key("callbacks", .choice, \.callbacks),
        Key("control", .choice, \.control),
        Key("backgroundModes", .words, \.backgroundModes),
        Key("backgroundTime", .duration, \.backgroundTime),
        Key("terminationTimeout", .duration, \.terminationTimeout),
        Key("launchTimeout", .duration, \.launchTimeout),
        Key("scenes", .boolean, \.scenes),
        Key("sceneLimit", .integer(in: 1...16), \.sceneLimit),
        Key("restart", .choice, \.restart),
        Key("onExit", .choice, \.onExit),
        Key("launchAtStart", .choice, \.launchAtStart),
        Key("reclaimWhenSuspended", .boolean, \.reclaimWhenSuspended),
        Key("schemes", .schemes, \.schemes),
        Key("mimeTypes", .mimeTypes, \.mimeTypes),
    ])

    /// The keys that a desktop entry can have, too. For the others, the entry has keys of its own, or must not set them: the
    /// user, and the rights over other apps.
    static let entryKeys: Set<String> = [
        "suspend", "suspendMethod", "stopSignal", "stopMode", "noNewPrivileges", "capabilities", "exitPolicy",
        "callbacks", "backgroundModes", "backgroundTime", "terminationTimeout", "launchTimeout", "scenes", "sceneLimit",
        "restart", "onExit", "reclaimWhenSuspended",
    ]
}

/// The rule for the names that apps go by.
///
/// An id appears in file names, cgroup names, journal fields and on the command line, so it must be safe in all of them.
public enum AppIdentifier {
    /// The longest id, in bytes.
    public static let maximumLength = 128

    /// The rule in words, to follow "is".
    public static let form = "1 to \(maximumLength) of A-Z a-z 0-9 . _ -, starting with neither . nor -"

    /// The rule in words, to follow "expected".
    public static let rule = "an app id (\(form))"

    /// Returns whether a text can be an app's id.
    public static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= maximumLength else { return false }
        guard first != UInt8(ascii: "."), first != UInt8(ascii: "-") else { return false }
        return bytes.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: byte.isLetterOrDigit
        }
    }
}
