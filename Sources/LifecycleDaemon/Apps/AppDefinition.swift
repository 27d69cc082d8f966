import Configuration
import Glibc
import LifecycleCore
import Processes

/// The definition of an app: from a manifest, a desktop entry or a command.
@dynamicMemberLookup struct AppDefinition: Equatable {
    nonisolated enum User: Equatable {
        /// The daemon's own user.
        case daemon
        case named(String)
        /// The user who made the request.
        case numbered(UInt32)

        /// The number of the user; nil if only the name is known.
        var number: UInt32? {
            switch self {
            case .daemon: geteuid()
            case .numbered(let number): number
            case .named: nil
            }
        }
    }

    /// The values that few apps have.
    nonisolated struct Details: Equatable {
        var user = User.daemon
        /// The groups of the caller of an ad-hoc app, the first one first; empty if that is the daemon's own user.
        var groups: [UInt32] = []
        var workingDirectory: String?
        /// Additions to the environment of the app's user; for an ad-hoc app the whole environment of its caller.
        var environment: [String: String] = [:]
        /// The bound of the app's privileges: those of the caller of an ad-hoc app, or those of the manifest. Nil for no bound.
        var confinement: Confinement?
        /// The paths below which the app can write, besides its own directory and devices; nil for everywhere.
        var writablePaths: [String]?
        var exec: ExecLine?
        /// The app id of the windows, if it is another one than that of the app.
        var windowClass: String?
        var opens: Set<String> = []
        /// The app whose policy applies, if this one has no manifest.
        var model: String?
    }

    var name: String?
    var command: [String]
    /// The manifest or the desktop entry; nil for an ad-hoc app.
    var manifest: String?
    var policy: Policy
    private var details = Details()

    /// The bytes of the record in the saved state, if a client has passed the command; 0 for others.
    var savedSize = 0
    /// A Boolean value that indicates whether the app has a `/tmp` of its own.
    var hasPrivateTemporaryDirectory = false
    /// A Boolean value that indicates whether a desktop entry alone describes the app. It is read at each launch.
    var isFromEntry = false
    var suspendMethod = SuspendMethod.signal
    var stopSignal = Signal.terminate
    var stopMode = Manifest.StopMode.main
    var exitPolicy = Manifest.ExitPolicy.main
    var control = Manifest.Control.own
    /// A Boolean value that indicates whether the memory is reclaimed while the app is suspended; nil if the settings decide.
    var reclaimWhenSuspended: Bool?
    private(set) var isAdopted = false
    /// A Boolean value that indicates whether the processes are those of a unit of the desktop.
    private(set) var isFromUnit = false

    /// A value that few apps have.
    subscript<Value>(dynamicMember path: WritableKeyPath<Details, Value>) -> Value {
        get { details[keyPath: path] }
        set { details[keyPath: path] = newValue }
    }

    var isAdHoc: Bool { manifest == nil }

    /// - Parameter defaults: The policy of an app whose manifest sets nothing.
    init(manifest: Manifest, defaults: Policy) {
        name = manifest.name
        command = manifest.command
        self.manifest = manifest.file
        policy = Policy(manifest, defaults: defaults)
        details = Details(
            user: manifest.user.map { .named($0) } ?? .daemon, workingDirectory: manifest.workingDirectory,
            environment: manifest.environment, confinement: Confinement(manifest),
            writablePaths: manifest.writablePaths, exec: manifest.exec, windowClass: manifest.windowClass,
            opens: manifest.schemes.union(manifest.mimeTypes))
        hasPrivateTemporaryDirectory = manifest.privateTmp
        suspendMethod = SuspendMethod(manifest.suspendMethod)
        stopSignal = Signal(manifest.stopSignal)
        stopMode = manifest.stopMode
        exitPolicy = manifest.exitPolicy
        control = manifest.control
        reclaimWhenSuspended = manifest.reclaimWhenSuspended
        if manifest.exec?.takesURLs ?? Self.takesURLs(manifest.command) { policy.takesURLs = true }
    }

    init(entry: DesktopEntry, defaults: Policy) {
        self.init(manifest: entry.manifest, defaults: defaults)
        isFromEntry = true
    }

    init(adHoc command: [String], user: User, defaults: Policy) {
        self.command = command
        var policy = defaults
        policy.isTransient = true
        self.policy = policy
        self.user = user
    }
}

extension Policy {
    /// The policy of a manifest.
    ///
    /// - Parameter defaults: The policy of an app whose manifest sets nothing.
    fileprivate init(_ manifest: Manifest, defaults: Policy) {
        self = defaults
        suspend = manifest.suspend
        callbacks = manifest.callbacks
        backgroundModes = manifest.backgroundModes
        scenes = manifest.scenes
        sceneLimit = manifest.sceneLimit
        restart = manifest.restart
        launchAtStart = manifest.launchAtStart
        if let successor = manifest.onExit { onExit = successor }
        if let time = manifest.backgroundTime { timeouts.background = time }
        if let time = manifest.terminationTimeout { timeouts.termination = time }
        if let time = manifest.launchTimeout { timeouts.launch = time }
    }
}

extension AppDefinition {
    /// Applies the policy of another app, but not its command.
    mutating func follow(_ other: AppDefinition) {
        guard !other.isAdHoc else { return }
        policy = other.policy
        policy.isTransient = true
        suspendMethod = other.suspendMethod
        stopSignal = other.stopSignal
        stopMode = other.stopMode
        control = other.control
        details.windowClass = other.windowClass
        reclaimWhenSuspended = other.reclaimWhenSuspended
        if isFromUnit { self = adoptedFromUnit } else if isAdopted { self = adopted }
    }

    /// The definition for adopted processes, which connect themselves if they do, and are not launched again.
    var adopted: AppDefinition {
        var definition = self
        definition.isAdopted = true
        definition.policy.isAdopted = true
        if policy.callbacks == .required { definition.policy.callbacks = .auto }
        definition.policy.scenes = false
        // A program that hands over to its helpers does not end them.
        if isAdHoc { definition.exitPolicy = .last }
        return definition
    }

    /// The definition for the processes of a unit of the desktop. Without a manifest, sound keeps the app running.
    var adoptedFromUnit: AppDefinition {
        var definition = isAdopted ? self : adopted
        definition.isFromUnit = true
        definition.exitPolicy = .last
        if isAdHoc || isFromEntry { definition.policy.backgroundModes.insert(KeptUses.playingMode) }
        return definition
    }
}

extension Settings {
    init(_ settings: DaemonSettings) {
        self.init()
        foregroundLimit = settings.foregroundLimit
        homeApp = settings.homeApp.map { AppID($0) }
        suspendedLimit = settings.memory.suspendedLimit
        keptUses.visible = settings.visible == .keep
        keptUses.playing = settings.playing
        timeouts = settings.timeouts
    }
}

extension Confinement {
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

extension EndOrder {
    init(_ mode: Manifest.StopMode) {
        switch mode {
        case .main: self = .mainFirst
        case .all: self = .together
        }
    }
}

extension SuspendMethod {
    init(_ method: Manifest.SuspendMethod) {
        switch method {
        case .signal: self = .signal
        case .freezer: self = .freezer
        case .both: self = .both
        }
    }
}

// A manifest or a desktop entry may have gone, or be broken, when the app is restored.
extension AppDefinition: SavedTable {
    /// Reads a record. If nothing else describes the app, the daemon forgets it with its last process.
    init?(saved record: SavedRecord, defaults: Policy) {
        self.init(adHoc: [], user: .daemon, defaults: defaults)
        restore(record)
        guard !command.isEmpty else { return nil }
    }

    mutating func code(with coder: inout some SavedCoder) {
        // Each use of the property would copy all of them.
        var details = details
        coder.text("name", &name)
        coder.list("argument", &command)
        details.user = coder.item("user", details.user == .daemon ? nil : details.user) ?? .daemon
        let isAdopted = coder.flag("adopted", isAdopted)
        coder.text("like", &details.model)
        coder.text("working-directory", &details.workingDirectory)
        coder.item("confinement", &details.confinement)
        coder.text("window-class", &details.windowClass)
        let entry = coder.text("entry", isFromEntry ? manifest : nil)
        let variables = coder.list("environment", details.environment.map { "\($0.key)=\($0.value)" }.sorted())
        details.groups = coder.list("group", details.groups.map { String($0) }).compactMap { UInt32($0) }
        let file = coder.text("manifest", isFromEntry ? nil : manifest)
        if coder.isReading {
            (manifest, isFromEntry) = (entry ?? file, entry != nil)
            for variable in variables.map({ $0.halves(around: "=") }) where variable.count == 2 {
                details.environment[variable[0]] = variable[1]
            }
        }
        codeDescription(&details, with: &coder)
        guard coder.isReading else { return }
        self.details = details
        policy.takesURLs = takesURLs
        if isAdopted { self = adopted }
    }

    /// Writes or reads what a manifest says, which is not saved of an app that follows none: the settings may change meanwhile.
    private mutating func codeDescription(_ details: inout Details, with coder: inout some SavedCoder) {
        guard coder.isReading || !isAdHoc || details.model != nil else { return }
        coder.word("suspend-method", &suspendMethod, unless: .signal)
        let signal = coder.number("stop-signal", stopSignal == .terminate ? nil : UInt64(stopSignal.rawValue))
        stopSignal = signal.flatMap(Signal.init(saved:)) ?? stopSignal
        coder.word("stop-mode", &stopMode, unless: .main)
        coder.word("exit-policy", &exitPolicy, unless: .main)
        coder.word("control", &control, unless: .own)
        let reclaims = coder.number("reclaim-when-suspended", reclaimWhenSuspended.map { $0 ? 1 : 0 })
        coder.flag("private-tmp", &hasPrivateTemporaryDirectory)
        let limitsWrites = coder.flag("limits-writes", details.writablePaths != nil)
        let writablePaths = coder.list("writable-path", details.writablePaths ?? [])
        let opens = coder.list("opens", details.opens.sorted())
        var policy = policy
        policy.code(with: &coder)
        guard coder.isReading else { return }
        self.policy = policy
        reclaimWhenSuspended = reclaims.map { $0 == 1 }
        details.writablePaths = limitsWrites ? writablePaths : nil
        details.opens = Set(opens)
    }
}

extension Policy {
    /// Writes or reads what a manifest says.
    fileprivate mutating func code(with coder: inout some SavedCoder) {
        coder.word("suspend", &suspend, unless: .auto)
        coder.word("callbacks", &callbacks, unless: .auto)
        backgroundModes = Set(coder.list("background-mode", backgroundModes.sorted()))
        coder.flag("scenes", &scenes)
        let limit = coder.number("scene-limit", sceneLimit == 1 ? nil : UInt64(sceneLimit))
        sceneLimit = limit.flatMap { Int(exactly: $0) } ?? sceneLimit
        coder.word("restart", &restart, unless: .never)
        coder.word("launch-at-start", &launchAtStart)
        coder.word("on-exit", &onExit, unless: .home)
        timeouts.background = coder.time("background-time", timeouts.background)
        timeouts.termination = coder.time("termination-timeout", timeouts.termination)
        timeouts.launch = coder.time("launch-timeout", timeouts.launch)
    }
}

nonisolated extension SavedCoder {
    /// Writes or reads a word that is left out if it is the usual one, which a new definition has.
    fileprivate mutating func word<Word: RawRepresentable<String> & Equatable>(
        _ name: StaticString, _ value: inout Word, unless usual: Word
    ) {
        value = word(name, value == usual ? nil : value) ?? value
    }

    /// Writes or reads a time in microseconds.
    fileprivate mutating func time(_ name: StaticString, _ time: Duration) -> Duration {
        number(name, UInt64(clamping: time.wholeMicroseconds)).flatMap { Int64(exactly: $0) }
            .map { .microseconds($0) } ?? time
    }
}

nonisolated extension Signal {
    init?(saved number: UInt64) {
        guard let number = Int32(exactly: number), number > 0, number < 65 else { return nil }
        self.init(rawValue: number)
    }
}

nonisolated extension AppDefinition.User: SavedItem {
    static func code(
        _ item: AppDefinition.User?, with parts: inout some PartCoder & ~Copyable
    ) -> AppDefinition.User? { parts.rest(item?.text).map { AppDefinition.User(text: $0) } }
}

nonisolated extension AppDefinition.User {
    fileprivate var text: String? {
        switch self {
        case .daemon: nil
        case .named(let name): "name:" + name
        case .numbered(let number): "number:\(number)"
        }
    }

    fileprivate init(text: String) {
        let parts = text.halves(around: ":")
        switch (parts.first, parts.last) {
        case ("number", let value?) where UInt32(value) != nil:
            self = UInt32(value).map { .numbered($0) } ?? .named(text)
        case ("name", let value?) where parts.count == 2: self = .named(value)
        // No user has such a name, and the launch fails; the daemon's own user would be wrong.
        default: self = .named("unreadable:\(text)")
        }
    }
}

nonisolated extension String {
    /// Splits at the first separator. By bytes: a separator and a combining accent after it are one character.
    fileprivate func halves(around separator: Unicode.Scalar) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
