public import LifecycleTypes

/// The settings of `lifed.toml`. Every setting has a default, so no file at all is a complete configuration.
public struct DaemonSettings: Hashable, Sendable {
    /// The app that is activated when no app is in the foreground; nil for none.
    public var homeApp: String?

    /// The number of apps that may be in the foreground at the same time.
    public var foregroundLimit = 1

    /// A way to hold the processes of an app together.
    public enum Containment: String, CaseIterable, Hashable, Sendable {
        /// A cgroup of its own if the daemon can make one, otherwise a keeper.
        case auto

        /// A parent of its own.
        case keeper
    }

    /// The way in which the processes of an app are held together; read when the daemon starts.
    public var containment = Containment.auto

    /// The policy for visible apps in the background.
    public enum Visible: String, CaseIterable, Hashable, Sendable {
        /// Visible apps keep running.
        case keep

        /// The daemon suspends visible apps like any other background app.
        case ignore
    }

    /// The policy for visible apps in the background, if a client reports which are visible.
    public var visible = Visible.keep

    /// The policy for audible apps in the background, if a client reports which are audible.
    public var playing = PlayingPolicy.declared

    /// The app that is activated when the foreground app ends and its manifest does not decide.
    public var onExit = ExitSuccessor.home

    /// The app that opens URLs of a scheme or files of a media type, in lower case, that several apps could open.
    public var defaults: [String: String] = [:]

    /// The programs to adopt; the first rule that fits counts.
    public var adopt: [AdoptRule] = []

    /// The terminal that launches desktop entries with `Terminal=true`, with the arguments before their command; empty for
    /// none.
    public var terminal: [String] = []

    /// The programs that serve other apps as well as the app that started them, by the names of their files.
    public var helpers: Set<String> = [
        "dbus-daemon", "dbus-broker-launch", "dbus-broker", "dbus-launch", "at-spi-bus-launcher", "at-spi2-registryd",
        "gvfsd", "dconf-service", "gnome-keyring-daemon", "gpg-agent", "dirmngr", "ssh-agent", "tmux", "screen", "adb",
        "epmd", "wineserver", "wineserver64", "pipewire", "pipewire-pulse", "wireplumber", "pulseaudio",
    ]

    /// The apps of the desktop that are managed.
    public var desktop = Desktop()

    /// The rules for a shortage of memory.
    public var memory = Memory()

    /// The resources of an app in each state.
    public var resources = Resources()

    /// The time limits of the life cycle, such as that of a launch.
    public var timeouts = Timeouts()

    /// The rights of clients of the system instance.
    public struct Access: Hashable, Sendable {
        /// The groups whose members control the apps of all users. Their members also need the group `lifed`, which opens the
        /// socket.
        public var administrators: Set<String> = []
    }

    /// The limits of everything that clients and apps can make grow.
    public var limits = Limits()

    /// The rights of clients of the system instance.
    public var access = Access()

    /// Creates the defaults.
    public init() {}
}

extension DaemonSettings {
    /// A limit for processes and threads, as `TasksMax=` of systemd.resource-control(5).
    public enum ProcessLimit: Hashable, Sendable {
        /// A number of processes and threads.
        case number(Int)
        /// A share of the largest number that the machine allows, in percent.
        case percent(Int)
        /// The largest number that the machine allows.
        case unlimited
    }

    /// The limits of everything that clients and apps can make grow.
    public struct Limits: Hashable, Sendable {
        /// The largest number of connections to the control socket at the same time.
        public var clients = 1024

        /// The longest message that a client may send, in bytes.
        public var messageBytes = 1_048_576

        /// The output, in bytes, that may wait for a slow client before the daemon disconnects it.
        public var monitorBytes = 262_144

        /// The memory, in bytes, that all clients together may make the daemon hold before it disconnects the client
        /// that holds most.
        public var clientsBytes = 16_777_216

        /// The largest number of background tasks and activities of an app at the same time.
        public var tasks = 16

        /// The largest number of manifests that are read.
        public var apps = 10_000

        /// The largest number of processes and threads of each app.
        public var processes = ProcessLimit.percent(15)
    }
}

extension DaemonSettings {
    /// The resources of an app's processes in each state.
    public struct Resources: Hashable, Sendable {
        /// The resources of an active app.
        public var active = State()

        /// The resources of an inactive app in the foreground.
        public var inactive: State = {
            var state = State()
            state.oomScoreAdjustment = 100
            return state
        }()

        /// The resources of an app that runs in the background.
        public var background: State = .inBackground(oomScoreAdjustment: 300)

        /// The resources of a suspended app. Those for running processes are the values of the background, so that nothing
        /// needs to be written for them.
        public var suspended: State = .inBackground(oomScoreAdjustment: 600)
    }
}

extension DaemonSettings.Resources {
    /// The resources of an app's processes in one state; nil for the value that each has of its own.
    public struct State: Hashable, Sendable {
        /// `cpu.weight`, 1 to 10000, where 100 is the default of the kernel.
        public var cpuWeight: Int?

        /// `io.weight`, 1 to 10000, where 100 is the default of the kernel.
        public var ioWeight: Int?

        /// `memory.low`, in bytes: the memory that the kernel leaves to the app as long as it finds memory elsewhere.
        public var memoryLow: Int?

        /// The number that is added to the nice value of each thread, -20 to 19, if processor time cannot be weighted.
        public var nice: Int?

        /// The I/O priority, if I/O cannot be weighted.
        public var ioPriority: IOPriority?

        /// `oom_score_adj`, -1000 to 1000. A value below 0 lowers the own value of a process, others raise it.
        public var oomScoreAdjustment: Int?

        /// The delay that may be added to timers, so that they can be put together.
        public var timerSlack: Duration?

        fileprivate static func inBackground(oomScoreAdjustment: Int) -> State {
            var state = State()
            state.cpuWeight = 20
            state.ioWeight = 20
            state.nice = 10
            state.ioPriority = .bestEffort(7)
            state.oomScoreAdjustment = oomScoreAdjustment
            state.timerSlack = .milliseconds(50)
            return state
        }
    }

    /// The classes of ioprio_set(2), with their levels, of which 0 comes first and 7 last.
    public enum IOPriority: Hashable, Sendable {
        case realTime(Int)
        case bestEffort(Int)
        case idle
    }
}

extension DaemonSettings {
    /// The rules for a shortage of memory.
    public struct Memory: Hashable, Sendable {
        /// The share of the window in which some process waited for memory, in percent. From this share on, the daemon warns
        /// apps.
        public var warning = 10

        /// The share of the window in which all processes that could have run waited, in percent. From this share on, the
        /// daemon ends apps.
        public var critical = 30

        /// The window of both shares: from 500 ms to 10 s. Without privileges the kernel takes multiples of 2 s only.
        public var window = Duration.seconds(2)

        /// The available memory of the machine, in bytes, below which the daemon ends apps at any pressure; 0 for none.
        public var minimumAvailable = 64 << 20

        /// The share of the machine's memory, in percent: the daemon ends apps when less is available, free swap space
        /// included. 0 for none.
        public var reserve = 8

        /// The number of apps that may be suspended at the same time; 0 for any number.
        public var suspendedLimit = 0

        /// A Boolean value that indicates whether the memory of apps is reclaimed while they are suspended.
        public var reclaimWhenSuspended = false

        /// Creates the defaults.
        public init() {}
    }
}

extension DaemonSettings {
    /// The app units of the user's systemd to manage. The system's daemon ignores them.
    public struct Desktop: Hashable, Sendable {
        /// The apps to manage, besides those of `deny`.
        public enum Manage: String, CaseIterable, Hashable, Sendable {
            /// No app.
            case none

            /// The apps of `allow`.
            case listed

            /// All apps except those that the session depends on, terminals, and apps that the session starts.
            case all
        }

        /// The apps to manage.
        public var manage = Manage.none

        /// Patterns as in glob(7) for the desktop ids of apps that are managed, also if the rules for all apps leave them out.
        public var allow: [String] = []

        /// Patterns for the desktop ids of apps that are not managed. They come before `allow`.
        public var deny: [String] = []

        /// A Boolean value that indicates whether the user is notified of an app that the daemon has ended.
        public var notifications = true

        /// Creates the defaults.
        public init() {}
    }
}

/// The kind of daemon that reads the configuration.
public enum Instance: Sendable {
    /// The daemon of the machine, which may launch apps as any user.
    case system

    /// The daemon of a user.
    case user
}
