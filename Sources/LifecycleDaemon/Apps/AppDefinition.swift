import Configuration
import Glibc
import LifecycleCore
import Processes

/// What is started when an app is launched: from a manifest, or from somebody's command.
struct AppDefinition {
    /// The user that an app runs as.
    enum User: Equatable {
        /// The daemon's own.
        case daemon
        /// The one of this name.
        case named(String)
        /// The one with this number, who made the request.
        case numbered(UInt32)
    }

    var name: String?
    var command: [String]
    var user = User.daemon
    var workingDirectory: String?
    /// What is added to the environment of the app's user; for an ad-hoc app it is all that its caller had.
    var environment: [String: String] = [:]
    /// The most that the app may have: of an ad-hoc app what its caller had, of another what its manifest says; nil for no bound.
    var confinement: Confinement?
    /// The manifest, or the desktop entry, that it came from; nil for an ad-hoc app.
    var manifest: String?
    /// Whether it came from a desktop entry alone, which is read when it is launched.
    var isFromEntry = false
    /// The command as a desktop entry has it; nil where it is not from one.
    var exec: ExecLine?
    var policy: Policy
    var suspendMethod = SuspendMethod.signal
    var stopSignal = Signal.terminate
    var exitPolicy = Manifest.ExitPolicy.main
    var control = Manifest.Control.own
    /// Whether its memory is given back while it is suspended; nil where the settings decide.
    var reclaimWhenSuspended: Bool?

    /// The schemes and media types that it opens.
    var opens: Set<String> = []

    /// Whether its processes are not of the daemon's making.
    private(set) var isAdopted = false

    /// The app whose manifest says how this one is managed, where it has none of its own.
    var model: String?

    var isAdHoc: Bool { manifest == nil }

    /// - Parameter defaults: What holds for an app whose manifest does not say otherwise.
    init(manifest: Manifest, defaults: Policy) {
        name = manifest.name
        command = manifest.command
        user = manifest.user.map { .named($0) } ?? .daemon
        workingDirectory = manifest.workingDirectory
        environment = manifest.environment
        self.manifest = manifest.file
        suspendMethod = SuspendMethod(manifest.suspendMethod)
        stopSignal = Signal(manifest.stopSignal)
        confinement = Confinement(manifest)
        exitPolicy = manifest.exitPolicy
        exec = manifest.exec
        control = manifest.control
        reclaimWhenSuspended = manifest.reclaimWhenSuspended
        policy = defaults
        policy.suspend = manifest.suspend == .never ? .never : .auto
        policy.callbacks = Policy.Callbacks(manifest.callbacks)
        policy.backgroundModes = manifest.backgroundModes
        policy.scenes = manifest.scenes
        policy.sceneLimit = manifest.sceneLimit
        policy.restart = RestartPolicy(manifest.restart)
        policy.launchAtStart = manifest.launchAtStart.map { StartPlace($0) }
        if let successor = manifest.onExit { policy.onExit = ExitSuccessor(successor) }
        opens = manifest.schemes.union(manifest.mimeTypes)
        policy.takesURLs = takesURLs
        if let time = manifest.backgroundTime { policy.timeouts.background = time }
        if let time = manifest.terminateTimeout { policy.timeouts.willTerminate = time }
        if let time = manifest.launchTimeout { policy.timeouts.launch = time }
    }

    /// An app that a desktop entry describes, and no manifest.
    init(entry: DesktopEntry, defaults: Policy) {
        self.init(manifest: entry.manifest, defaults: defaults)
        isFromEntry = true
    }

    init(adHoc command: [String], user: User, defaults: Policy) {
        self.command = command
        self.user = user
        policy = defaults
        policy.isTransient = true
    }
}

extension AppDefinition {
    /// Is managed as another app is, apart from how that is started.
    mutating func follow(_ other: AppDefinition) {
        guard !other.isAdHoc else { return }
        policy = other.policy
        policy.isTransient = true
        suspendMethod = other.suspendMethod
        stopSignal = other.stopSignal
        control = other.control
        reclaimWhenSuspended = other.reclaimWhenSuspended
        if isAdopted { self = adopted }
    }

    /// The same for processes that run already: nobody can tell them anything, and they are not started again.
    var adopted: AppDefinition {
        var definition = self
        definition.isAdopted = true
        definition.policy.isAdopted = true
        definition.policy.callbacks = .none
        definition.policy.scenes = false
        // A program that hands over to its helpers is not to take them along when it ends.
        if isAdHoc { definition.exitPolicy = .last }
        return definition
    }
}

extension Confinement {
    /// What a manifest forbids its app; nil for nothing.
    fileprivate init?(_ manifest: Manifest) {
        guard manifest.noNewPrivileges || manifest.capabilities != nil else { return nil }
        self.init(
            boundingSet: manifest.capabilities.map(Capability.bits) ?? .max,
            hasNoNewPrivileges: manifest.noNewPrivileges)
    }
}

extension Signal {
    init(_ signal: Manifest.StopSignal) {
        let number =
            switch signal {
            case .terminate: SIGTERM
            case .interrupt: SIGINT
            case .quit: SIGQUIT
            case .hangUp: SIGHUP
            case .firstOfUser: SIGUSR1
            case .secondOfUser: SIGUSR2
            case .windowChange: SIGWINCH
            case .power: SIGPWR
            }
        self.init(rawValue: number)
    }
}

extension Policy.Callbacks {
    init(_ callbacks: Manifest.Callbacks) {
        self =
            switch callbacks {
            case .auto: .auto
            case .required: .required
            case .none: .none
            }
    }
}

extension RestartPolicy {
    init(_ restart: Manifest.Restart) {
        self =
            switch restart {
            case .never: .never
            case .onFailure: .onFailure
            case .always: .always
            }
    }
}

extension ExitSuccessor {
    init(_ onExit: Configuration.Settings.OnExit) {
        self =
            switch onExit {
            case .home: .home
            case .previous: .previous
            }
    }
}

extension KeptUses {
    init(_ settings: Configuration.Settings) {
        self.init()
        visible = settings.visible == .keep
        playing =
            switch settings.playing {
            case .declared: .declared
            case .keep: .keep
            case .ignore: .ignore
            }
    }
}

extension StartPlace {
    init(_ place: Manifest.StartPlace) {
        self =
            switch place {
            case .foreground: .foreground
            case .background: .background
            }
    }
}

extension SuspendMethod {
    init(_ method: Manifest.SuspendMethod) {
        self =
            switch method {
            case .signal: .signal
            case .freezer: .freezer
            case .both: .both
            }
    }
}
