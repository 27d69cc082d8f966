package import LifecycleTypes

/// One app, as a file in `apps.d` describes it.
///
/// A key is a property with its default, and a row of ``schema``, which says what the key means. The reader, the saved definition, the
/// keys of desktop entries and lifed.app(5) follow from the row. An optional key is nil if the file does not have it.
public struct Manifest: Hashable, Sendable {
    /// A signal that asks a process to end.
    public enum StopSignal: String, CaseIterable, Hashable, Sendable, TOMLValue {
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
    public enum StopMode: String, CaseIterable, Hashable, Sendable, TOMLValue {
        /// The main process, or the program that it wraps. The others are asked when it has ended.
        case main

        /// Every process.
        case all
    }

    /// A way to keep the processes of an app from running.
    public enum SuspendMethod: String, CaseIterable, Hashable, Sendable, TOMLValue {
        /// SIGSTOP to each process.
        case signal

        /// The cgroup freezer if the app has a cgroup, otherwise signals.
        case freezer

        /// Signals and the cgroup freezer.
        case both
    }

    /// The process whose end is the end of the app.
    public enum ExitPolicy: String, CaseIterable, Hashable, Sendable, TOMLValue {
        /// The main process. The daemon then asks the remaining processes to end.
        case main

        /// The last process: for programs that start another program and exit.
        case last
    }

    /// The rights of the app's processes on the control socket, if its user may use that socket.
    public enum Control: String, CaseIterable, Hashable, Sendable, TOMLValue {
        /// Its processes may ask about the app, end it and suspend it.
        case own = "self"

        /// Its processes have the rights of its user.
        case full
    }

    package var id: String
    package var name: String?
    package var command: [String]
    package var user: String?
    package var workingDirectory: String?
    package var environment: [String: String] = [:]

    package var suspend = SuspensionPolicy.auto
    package var suspendMethod = SuspendMethod.signal
    package var backgroundTime: Duration?
    package var backgroundModes: Set<String> = []
    package var callbacks = CallbackPolicy.auto
    package var launchTimeout: Duration?
    package var stopSignal = StopSignal.terminate
    package var stopMode = StopMode.main
    package var terminationTimeout: Duration?
    package var exitPolicy = ExitPolicy.main
    package var reclaimWhenSuspended: Bool?

    package var control = Control.own
    package var noNewPrivileges = false
    package var capabilities: Set<Capability>?
    package var writablePaths: [String]?
    package var privateTmp = false

    package var scenes = false
    package var sceneLimit = 1

    package var launchAtStart: LaunchPosition?
    package var restart = RestartPolicy.never
    package var onExit: ExitSuccessor?

    package var schemes: Set<String> = []
    package var mimeTypes: Set<String> = []

    /// The path of the file that describes the app.
    package var file: String

    /// The command as its desktop entry has it; nil if the manifest has a command of its own.
    package var exec: ExecLine?

    /// The app id or the class of the windows, if the desktop entry has one other than the id (`StartupWMClass`).
    package var windowClass: String?

    /// Creates an app with the given command, and otherwise the defaults.
    ///
    /// - Parameters:
    ///   - id: The id of the app.
    ///   - file: The path of the manifest.
    ///   - command: The command, the program first; never empty in a file.
    public init(id: String, file: String, command: [String]) {
        self.id = id
        self.file = file
        self.command = command
    }
}

extension Manifest {
    /// The keys of a manifest, in the order of lifed.app(5). `id` and `command` have no default in the file; ``ManifestReader`` handles
    /// both.
    package static let schema = Schema<Manifest>(sections: [program, lifeCycle, security, sceneKeys, launch, opening])

    /// The keys for scripts/manual.
    package static var manual: String { schema.manual(defaults: Manifest(id: "", file: "", command: [])) }

    private static let program = KeySection<Manifest>(
        "Program",
        [
            Key(
                "id", .identifier, \.id,
                """
                The id of the app: 1 to 128 letters A-Z and a-z, digits, dots, underscores and hyphens. The first is
                neither a dot nor a hyphen. The default is the name of the file without `.toml`.
                """),
            Key(
                "name", .title, \.name,
                """
                The name for users: a string of 1 to 256 characters without control characters. The default is the id.
                """),
            Key(
                "command", .command, \.command,
                """
                The program and its arguments: an array of strings, which no shell reads. The program is an absolute
                path, or a name that is looked up in `PATH`. The launch of a program that does not exist fails; `lifed
                --check`, or `lifed --user --check`, reports it before. At the launch of an app, the URL to open
                replaces an argument `%u` or `%U`, and the app is not told of it again. An app that must connect
                (`callbacks = "required"`) gets it over its connection instead. The path of the file to open replaces
                `%f` or `%F`.
                """),
            Key(
                "user", .userName, \.user,
                """
                The name of the user whom the app runs as, as `User=` in systemd.exec(5). Only the system's daemon
                accepts the key. It looks the user and the groups of the user up when it reads the configuration: run
                `lifectl reload` after a change of them. The default is the daemon's own user, which is root for the
                system's daemon.
                """),
            Key(
                "workingDirectory", .absolutePath, \.workingDirectory,
                """
                An absolute path, without ~ and variables. The default is the home directory of the user, and `/` for
                root.
                """),
            Key(
                "environment", .environment, \.environment,
                """
                A table of strings: variables that are added to the environment of the app.
                """),
        ])

    private static let lifeCycle = KeySection<Manifest>(
        "Life cycle",
        [
            Key(
                "suspend", .choice, \.suspend, inEntries: true,
                """
                The behavior in the background. With "auto", the daemon stops all processes of the app when its
                background time has expired and it holds no assertion. With "never", the app keeps running.
                """),
            Key(
                "suspendMethod", .choice, \.suspendMethod, inEntries: true,
                """
                The method of suspension. "signal" sends SIGSTOP to each process. "freezer" freezes the control group of
                the app, which no process notices. "both" does both, and resists a SIGCONT of another program. An app
                without a control group gets signals. A new value applies from the next launch on.
                """),
            Key(
                "backgroundTime", .duration, \.backgroundTime, inEntries: true,
                """
                A duration: the time in the background of an app that is not connected. The default is
                `timeouts.background` of lifed.toml(5).
                """),
            Key(
                "backgroundModes", .words, \.backgroundModes, inEntries: true,
                """
                The activities that may keep the app running in the background, such as "audio": an array of at most 64
                words of a-z, 0-9 and hyphens. Each begins an assertion, which lasts as long as the activity.
                """),
            Key(
                "callbacks", .choice, \.callbacks, inEntries: true,
                """
                The callbacks of lifecycle-protocol(7). With "auto", the app gets them if it connects. With "required",
                the app becomes active only after it has answered the launch callbacks. With "none", it gets none.
                """),
            Key(
                "launchTimeout", .duration, \.launchTimeout, inEntries: true,
                """
                A duration: the time from the start of the process to the end of the launch callbacks. The default is
                `timeouts.launch`.
                """),
            Key(
                "stopSignal", .choice, \.stopSignal, inEntries: true,
                """
                The signal that asks the processes to end: "SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1",
                "SIGUSR2", "SIGWINCH" or "SIGPWR". An app that uses a client library needs the default, which the
                library turns into `willTerminate`.
                """),
            Key(
                "stopMode", .choice, \.stopMode, inEntries: true,
                """
                The processes that get the stop signal first. With "main", the main process gets it first, because it
                may need the others to save. The others get it when the main process has ended. If the main process only
                runs another program, that program takes its place. This applies to bwrap(1) and flatpak(1), and to a
                shell that has a command in the foreground or a single child. A shell that handles the signal gets it
                together with its foreground command, or alone if it has none. With "all", every process gets the signal
                at once.
                """),
            Key(
                "terminationTimeout", .duration, \.terminationTimeout, inEntries: true,
                """
                A duration: the time from the stop signal to SIGKILL, for all processes together. If another program
                signals a suspended app, the app has this time to end; after that, lifed assumes that it has survived
                the signal. For an app with scenes, it begins with `sceneDidDisconnect`. A stop of the service waits as
                long, also if `TimeoutStopSec=` of the unit is shorter. The default is `timeouts.termination`.
                """),
            Key(
                "exitPolicy", .choice, \.exitPolicy, inEntries: true,
                """
                The end of the app. With "main", the app ends with its main process, and the daemon terminates the other
                processes. With "last", it ends with its last process, as for a command that starts a program and exits.
                """),
            Key(
                "reclaimWhenSuspended", .boolean, \.reclaimWhenSuspended, inEntries: true,
                """
                True or false: whether the daemon reclaims the memory of the suspended app. The default is
                `memory.reclaimWhenSuspended`.
                """),
        ])

    private static let security = KeySection<Manifest>(
        "Security",
        [
            Key(
                "control", .choice, \.control,
                """
                The rights of the app's processes on the control socket. With "self", they may ask for the state of this
                app, suspend it and terminate it. With "full", they have all rights of their user, as launchers, shells
                and terminals need.
                """),
            Key(
                "noNewPrivileges", .boolean, \.noNewPrivileges, inEntries: true,
                """
                True or false: whether a program that the app executes can gain no privileges, as sudo(8) does.
                """),
            Key(
                "capabilities", .capabilities, \.capabilities, inEntries: true,
                """
                An array of names from capabilities(7), such as `["CAP_NET_BIND_SERVICE"]`: the most that the app may
                have, also as root. `[]` is none. Without the key, there is no bound. A daemon without `CAP_SETPCAP`,
                such as a user's daemon, cannot reduce the bounding set, and sets `noNewPrivileges` instead.
                """),
            Key(
                "writablePaths", .paths, \.writablePaths,
                """
                An array of absolute paths of existing files and directories, such as `["/var/lib/kiosk"]`. The app can
                write below these paths, in its state directory, to the files in `/dev`, and with `privateTmp` in its
                temporary directories. It can only read all other files, also as root. With `[]`, only the state
                directory and `/dev` are left. Without the key, the permissions of the files decide.

                Landlock protects only the contents and names of files. An app can still change the mode, the owner, the
                times and the extended attributes of a file outside of these paths if the file belongs to its user, or
                if the app runs as root. To prevent that, give the app a `user` of its own.

                The daemon follows symbolic links at the launch. The key implies `noNewPrivileges`, and the app can
                neither mount nor leave its mount namespace: the sandboxes of browsers and of bwrap(1) fail. A program
                with shared memory of shm_open(3) needs `/dev/shm`. The key needs Landlock of Linux 6.2: see
                landlock(7). Without Landlock, or if a path does not exist, the launch fails.
                """),
            Key(
                "privateTmp", .boolean, \.privateTmp,
                """
                True or false: whether the app has its own `/tmp` and `/var/tmp`. Both are in memory, use at most 10 %
                of it each, are empty at each launch, and end with the last process. The app reaches an X server only by
                its abstract socket. It does not reach its state directory if the daemon's state directory is below
                `/tmp` or `/var/tmp`. Another program of the same user can reach them as `/proc/PID/root/tmp`. To
                separate two apps from each other, give each a `user` of its own, or set `writablePaths` for both:
                Landlock then keeps each out of the other's processes. The app runs in a mount namespace of its own. New
                mounts elsewhere appear in it, and its own mounts do not appear elsewhere. A capability such as
                `CAP_SYS_ADMIN` lets the app leave the namespace. Only the system's daemon accepts the key.
                """),
        ])

    private static let sceneKeys = KeySection<Manifest>(
        "Scenes",
        [
            Key(
                "scenes", .boolean, \.scenes, inEntries: true,
                """
                True or false: whether each scene of the app, as a rule a window, has a life cycle of its own. An app
                has at most 32 scenes. Without the key, or beyond the limit, lifed ignores and logs a request of the app
                to open a scene; the app gets no answer.
                """),
            Key(
                "sceneLimit", .integer(in: 1...16), \.sceneLimit, inEntries: true,
                """
                An integer from 1 to 16: the number of scenes that can be in the foreground at the same time.
                """),
        ])

    private static let launch = KeySection<Manifest>(
        "Launch and restart",
        [
            Key(
                "launchAtStart", .choice, \.launchAtStart,
                """
                "foreground" or "background": the place in which the app is launched when the daemon starts. Without the
                key, the daemon does not launch it.
                """),
            Key(
                "restart", .choice, \.restart, inEntries: true,
                """
                The ends after which the daemon launches the app again: "never", "on-failure" (an exit status other than
                0, or a signal) or "always". An end by request does not count. If a signal from another program ends a
                suspended app, that counts with "always" only. After ten ends in a row within a minute of the launch
                each, the app reaches the restart limit, and the daemon stops restarting it.
                """),
            Key(
                "onExit", .choice, \.onExit, inEntries: true,
                """
                The app that comes to the foreground when this one ends in the foreground: "home" or "previous". The
                default is `onExit` of lifed.toml(5).
                """),
        ])

    private static let opening = KeySection<Manifest>(
        "URLs and files",
        [
            Key(
                "schemes", .schemes, \.schemes,
                """
                The schemes of URLs that the app opens, without the colon: an array of at most 256 strings.
                """),
            Key(
                "mimeTypes", .mimeTypes, \.mimeTypes,
                """
                The media types of files that the app opens, such as "text/html" or "image/*": an array of at most 256
                strings.
                """),
        ])
}
