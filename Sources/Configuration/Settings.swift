/// What `lifed.toml` decides. Every setting has a default, so no file at all is a complete configuration.
public struct Settings: Hashable, Sendable {
    /// The app that comes forward when nothing is in front; nil for none.
    public var homeApp: String?

    /// How many apps may be in front at the same time.
    public var frontLimit = 1

    /// What holds the processes of an app together.
    public enum Containment: String, CaseIterable, Hashable, Sendable {
        /// A cgroup of its own, where the daemon can make one; else its process group.
        case auto

        /// Its process group.
        case processGroup
    }

    /// What holds the processes of an app together; read when the daemon starts.
    public var containment = Containment.auto

    /// What comes forward when the app in front ends.
    public enum OnExit: String, CaseIterable, Hashable, Sendable {
        /// The home app, where there is one.
        case home

        /// The app that was in front before it.
        case previous
    }

    /// Whether apps that can be seen stay awake.
    public enum Visible: String, CaseIterable, Hashable, Sendable {
        /// They do.
        case keep

        /// They sleep like any other app that is not in front.
        case ignore
    }

    /// What becomes of apps that are on the screen and not in front, where somebody tells which are.
    public var visible = Visible.keep

    /// Whether apps that can be heard stay awake.
    public enum Playing: String, CaseIterable, Hashable, Sendable {
        /// Those do whose manifest has the background mode audio.
        case declared

        /// All do.
        case keep

        /// They sleep like any other app that is not in front.
        case ignore
    }

    /// What becomes of apps that play and are not in front, where somebody tells which do.
    public var playing = Playing.declared

    /// What comes forward when the app in front ends and its manifest does not say.
    public var onExit = OnExit.home

    /// The app that opens what several could, by the scheme of a URL or the media type of a file, in lower case.
    public var defaults: [String: String] = [:]

    /// Which programs are put under management that somebody else has started; the first that fits counts.
    public var adopt: [AdoptRule] = []

    /// The terminal that desktop entries with `Terminal=true` are launched in, with what comes before their command; empty for
    /// none.
    public var terminal: [String] = []

    /// The programs that serve other apps as well as the app that started them, by the names of their files.
    public var helpers: Set<String> = [
        "dbus-daemon", "dbus-broker-launch", "dbus-broker", "dbus-launch", "at-spi-bus-launcher", "at-spi2-registryd",
        "gvfsd", "dconf-service", "gnome-keyring-daemon", "gpg-agent", "ssh-agent", "tmux", "screen", "adb",
        "wineserver", "wineserver64", "pipewire", "pipewire-pulse", "wireplumber", "pulseaudio",
    ]

    /// When memory is short, and what then happens.
    public var memory = Memory()

    /// What an app gets in each state.
    public var resources = Resources()

    /// How long things may take.
    public var timeouts = Timeouts()

    /// The rights of clients of the system instance.
    public struct Access: Hashable, Sendable {
        /// The groups whose members control the apps of all users. Their members also need the group `lifed`, which opens the
        /// socket.
        public var administrators: Set<String> = []

        /// The defaults.
        public init() {}
    }

    /// How much there may be of everything that others can make grow.
    public var limits = Limits()

    /// The rights of clients of the system instance.
    public var access = Access()

    /// The defaults.
    public init() {}
}

extension Settings {
    /// How long things may take, on the monotonic clock.
    public struct Timeouts: Hashable, Sendable {
        /// An app's answer to willResignActive; the next app waits this long at most.
        public var willResignActive = Duration.seconds(1)

        /// An app's answer to didEnterBackground; an app that misses it is killed.
        public var didEnterBackground = Duration.seconds(5)

        /// From SIGTERM to SIGKILL.
        public var willTerminate = Duration.seconds(5)

        /// The time in the background that an app without the library gets before it is stopped.
        public var background = Duration.seconds(5)

        /// From the start of an app's process to the end of its launch callbacks.
        public var launch = Duration.seconds(20)

        /// An app's answer to every other callback.
        public var callback = Duration.seconds(5)

        /// The time of an app's background tasks, all together, each time that it is in the background.
        public var task = Duration.seconds(30)

        /// From telling an app that its tasks' time is over to killing it.
        public var taskExpiration = Duration.seconds(5)

        /// From SIGSTOP until every process of a tree is seen stopped.
        public var stop = Duration.seconds(1)

        /// The defaults.
        public init() {}
    }

    /// A limit for processes and threads, as `TasksMax=` of systemd.resource-control(5).
    public enum ProcessLimit: Hashable, Sendable {
        /// At most so many.
        case number(Int)
        /// A share of what the machine can have, in percent.
        case percent(Int)
        /// As many as the machine can have.
        case unlimited
    }

    /// How much there may be of everything that others can make grow.
    public struct Limits: Hashable, Sendable {
        /// Connections to the control socket at the same time.
        public var clients = 1024

        /// The longest message that a client may send, in bytes.
        public var messageBytes = 1_048_576

        /// What may wait for a client that reads slowly, in bytes, before it is dropped.
        public var monitorBytes = 262_144

        /// What all clients together may make the daemon hold, in bytes, before the one that holds most is dropped.
        public var clientsBytes = 16_777_216

        /// Background tasks and activities that an app may have at the same time.
        public var tasks = 16

        /// Manifests that are read.
        public var apps = 10_000

        /// Processes and threads of each app.
        public var processes = ProcessLimit.percent(15)

        /// The defaults.
        public init() {}
    }
}
