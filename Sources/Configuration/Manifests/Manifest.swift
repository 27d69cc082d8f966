/// One app, as a file in `apps.d` describes it.
public struct Manifest: Hashable, Sendable {
    /// The policy for an app in the background.
    public enum Suspension: String, CaseIterable, Hashable, Sendable {
        /// It is stopped when its time is over.
        case auto

        /// It keeps running.
        case never
    }

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

    /// A way to keep its processes from running.
    public enum SuspendMethod: String, CaseIterable, Hashable, Sendable {
        /// SIGSTOP to each.
        case signal

        /// The cgroup freezer, where the app has a cgroup; else signals.
        case freezer

        /// Both.
        case both
    }

    /// Which process decides when it has ended.
    public enum ExitPolicy: String, CaseIterable, Hashable, Sendable {
        /// The main process; helpers that are left then are asked to end.
        case main

        /// The last: for programs that start another and leave.
        case last
    }

    /// The policy for callbacks.
    public enum Callbacks: String, CaseIterable, Hashable, Sendable {
        /// When it says that it listens.
        case auto

        /// It must say so, and answer the launch callbacks before it is in use.
        case required

        /// Never.
        case none
    }

    /// The policy for restarts.
    public enum Restart: String, CaseIterable, Hashable, Sendable {
        case never

        /// After an exit status other than 0, or a signal.
        case onFailure = "on-failure"

        /// After every end that was not requested.
        case always
    }

    /// Where an app is when it is started with the daemon.
    public enum StartPlace: String, CaseIterable, Hashable, Sendable {
        case foreground, background
    }

    /// The rights of its processes on the control socket, if its user may use that.
    public enum Control: String, CaseIterable, Hashable, Sendable {
        /// Ask about the app, and end or suspend it.
        case own = "self"

        /// Everything that its user may.
        case full
    }

    /// The app's id, valid by the rule of ``AppIdentifier``.
    public var id: String

    /// The file that describes it.
    public var file: String

    /// The name for users; nil if the id must do.
    public var name: String?

    /// The program and its arguments, as written; never empty. The first is also what the program sees as its name.
    public var command: [String]

    /// The program's absolute path: `command[0]`, looked up in the search path where it is a bare name.
    public var program: String

    /// The command as the desktop entry has it that it is from; nil where the manifest has its own.
    public var exec: ExecLine?

    /// The app id or the class of its windows, if its desktop entry has one other than its id (StartupWMClass).
    public var windowClass: String?

    /// The user it runs as; nil for the daemon's own. Only the system instance accepts one.
    public var user: String?

    /// Where it is started, an absolute path; nil for the default.
    public var workingDirectory: String?

    /// The variables that are added to its environment.
    public var environment: [String: String] = [:]

    /// The policy for it in the background.
    public var suspend = Suspension.auto

    /// The way in which its processes are kept from running.
    public var suspendMethod = SuspendMethod.signal

    /// The signal that asks its processes to end.
    public var stopSignal = StopSignal.terminate

    /// A Boolean value that indicates whether none of its processes gains privileges by a program that it executes.
    public var noNewPrivileges = false

    /// The most that its processes may have of the capabilities; nil for no bound.
    public var capabilities: Set<Capability>?

    /// Below which its processes can write, besides its state directory and `/dev`; nil for everywhere.
    public var writablePaths: [String]?

    /// A Boolean value that indicates whether it has a `/tmp` and a `/var/tmp` of its own. Only the system instance accepts it.
    public var privateTmp = false

    /// Which process decides when it has ended.
    public var exitPolicy = ExitPolicy.main

    /// The policy for its callbacks.
    public var callbacks = Callbacks.auto

    /// The rights of its processes on the control socket.
    public var control = Control.own

    /// The kinds of activity that may hold it in the background, such as audio.
    public var backgroundModes: Set<String> = []

    /// Its time in the background before it is stopped; nil for ``Settings/Timeouts/background``.
    public var backgroundTime: Duration?

    /// From SIGTERM to SIGKILL; nil for ``Settings/Timeouts/termination``.
    public var terminationTimeout: Duration?

    /// From its start to the end of its launch callbacks; nil for ``Settings/Timeouts/launch``.
    public var launchTimeout: Duration?

    /// A Boolean value that indicates whether its scenes have a life cycle of their own.
    public var scenes = false

    /// The number of its scenes that may be in the foreground at once; 1…16.
    public var sceneLimit = 1

    /// The policy for its restarts.
    public var restart = Restart.never

    /// The app that is activated when it ends in the foreground; nil for ``Settings/onExit``.
    public var onExit: Settings.OnExit?

    /// Where it is when it is started with the daemon; nil where it is not.
    public var launchAtStart: StartPlace?

    /// A Boolean value that indicates whether its memory is given back while it is suspended; nil for
    /// ``Settings/Memory/reclaimWhenSuspended``.
    public var reclaimWhenSuspended: Bool?

    /// The schemes of the URLs that it opens, in lower case, such as https.
    public var schemes: Set<String> = []

    /// The media types of the files that it opens, in lower case, such as text/plain.
    public var mimeTypes: Set<String> = []

    /// When it is woken, and for what.
    public var schedules: [Schedule] = []

    /// An app with nothing but its command.
    public init(id: String, file: String, command: [String], program: String) {
        self.id = id
        self.file = file
        self.command = command
        self.program = program
    }
}

extension Manifest {
    /// Every key of a manifest. `id` and `command` have no default in the file; ``ManifestReader`` sees to both.
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
        Key("schedule", .schedules, \.schedules),
    ])

    /// The keys that a desktop entry can have, too. The entry's own keys replace the others, or an entry must not set them: the
    /// user it runs as, its schedule, and its rights over other apps.
    static let entryKeys: Set<String> = [
        "suspend", "suspendMethod", "stopSignal", "noNewPrivileges", "capabilities", "exitPolicy", "callbacks",
        "backgroundModes", "backgroundTime", "terminationTimeout", "launchTimeout", "scenes", "sceneLimit", "restart",
        "onExit", "reclaimWhenSuspended",
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
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
