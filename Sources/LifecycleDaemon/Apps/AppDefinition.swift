import Configuration
import Glibc
import LifecycleCore
import Processes

/// The definition of an app: its manifest, or what a desktop entry or a command says instead of one, and what no file can say.
///
/// A rule reads a key of the manifest here, by its name. What the core needs of the keys is its ``policy``.
@dynamicMemberLookup nonisolated struct AppDefinition: Equatable, Sendable {
    enum Source: String, CaseIterable, TOMLValue {
        case manifest
        /// A desktop entry alone, which is read at each launch.
        case entry
        /// A command of a client, or of processes that were adopted.
        case command
    }

    enum User: Equatable {
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

    /// The manifest; for an app without one, what is known of its keys. An ad-hoc app has the whole environment of its caller.
    var manifest: Manifest
    private(set) var source: Source
    /// The policy of an app whose manifest sets nothing.
    var defaults: Policy
    /// The user of an ad-hoc app; nil if that is the daemon's own.
    private var userID: UInt32?
    /// The groups of that user, the first one first; empty for the daemon's own user.
    var groups: [UInt32] = []
    /// The bound of the privileges of an ad-hoc app: those of its caller. Nil for no bound.
    var callerConfinement: Confinement?
    /// The app whose policy applies, if this one has no manifest.
    var model: String?
    private(set) var isAdopted = false
    /// True if the processes are those of a unit of the desktop.
    private(set) var isFromUnit = false
    /// True if the app is forgotten with its last process, because nothing else describes it.
    private var isTransient = false
    /// The bytes of the record in the saved state, if a client has passed the command; 0 for others.
    var savedSize = 0

    /// A key of the manifest.
    subscript<Value>(dynamicMember key: WritableKeyPath<Manifest, Value>) -> Value {
        get { manifest[keyPath: key] }
        set { manifest[keyPath: key] = newValue }
    }

    /// - Parameter defaults: The policy of an app whose manifest sets nothing.
    init(manifest: Manifest, defaults: Policy) {
        (self.manifest, self.defaults) = (manifest, defaults)
        source = .manifest
    }

    init(entry: DesktopEntry, defaults: Policy) {
        self.init(manifest: entry.manifest, defaults: defaults)
        source = .entry
    }

    init(adHoc command: [String], user: User, defaults: Policy) {
        self.init(manifest: Manifest(id: "", file: "", command: command), defaults: defaults)
        source = .command
        isTransient = true
        switch user {
        case .daemon: break
        case .named(let name): manifest.user = name
        case .numbered(let number): userID = number
        }
    }
}

// MARK: - What follows from the keys

nonisolated extension AppDefinition {
    var isAdHoc: Bool { source == .command }
    var isFromEntry: Bool { source == .entry }
    /// The file of the manifest or the desktop entry; nil for an ad-hoc app.
    var file: String? { isAdHoc ? nil : manifest.file }
    var user: User { manifest.user.map { .named($0) } ?? userID.map { .numbered($0) } ?? .daemon }
    var opens: Set<String> { manifest.schemes.union(manifest.mimeTypes) }
    var confinement: Confinement? { callerConfinement ?? Confinement(manifest) }

    /// The command, with the places of what is opened. An ad-hoc command stays as it is.
    var line: ExecLine { manifest.exec ?? ExecLine(manifest.command, hasCodes: !isAdHoc) }

    /// A program that hands over to its helpers does not end them.
    var exitPolicy: Manifest.ExitPolicy { isFromUnit || (isAdopted && isAdHoc) ? .last : manifest.exitPolicy }

    /// The part of the definition by which the core decides.
    var policy: Policy {
        var policy = defaults
        policy.suspend = manifest.suspend
        policy.callbacks = manifest.callbacks
        policy.backgroundModes = manifest.backgroundModes
        policy.scenes = manifest.scenes && !isAdopted
        policy.sceneLimit = manifest.sceneLimit
        policy.restart = manifest.restart
        policy.launchAtStart = manifest.launchAtStart
        policy.takesURLs = line.takesURLs
        policy.isTransient = isTransient
        policy.isAdopted = isAdopted
        if let successor = manifest.onExit { policy.onExit = successor }
        if let time = manifest.backgroundTime { policy.timeouts.background = time }
        if let time = manifest.terminationTimeout { policy.timeouts.termination = time }
        if let time = manifest.launchTimeout { policy.timeouts.launch = time }
        // Adopted processes connect themselves, if they do.
        if isAdopted, policy.callbacks == .required { policy.callbacks = .auto }
        // Without a manifest, sound keeps an app of the desktop running.
        if isFromUnit, source != .manifest { policy.backgroundModes.insert(KeptUses.playingMode) }
        return policy
    }

    /// The definition for adopted processes, which are not launched again.
    var adopted: AppDefinition {
        var definition = self
        definition.isAdopted = true
        return definition
    }

    /// The definition for the processes of a unit of the desktop.
    var adoptedFromUnit: AppDefinition {
        var definition = adopted
        definition.isFromUnit = true
        return definition
    }

    /// Applies the manifest of another app, but not its command.
    mutating func follow(_ other: AppDefinition) {
        guard !other.isAdHoc else { return }
        let own = manifest
        manifest = other.manifest
        (manifest.id, manifest.file, manifest.name, manifest.exec) = (own.id, own.file, own.name, nil)
        (manifest.command, manifest.environment, manifest.user) = (own.command, own.environment, own.user)
        (manifest.workingDirectory, manifest.schemes, manifest.mimeTypes) = (own.workingDirectory, [], [])
    }
}

nonisolated extension Settings {
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

nonisolated extension Confinement: TOMLValue {
    fileprivate init?(_ manifest: Manifest) {
        guard manifest.noNewPrivileges || manifest.capabilities != nil else { return nil }
        self.init(
            boundingSet: manifest.capabilities.map(Capability.bits) ?? .max,
            hasNoNewPrivileges: manifest.noNewPrivileges)
    }

    package var toml: String { text.toml }
}

nonisolated extension Signal {
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

nonisolated extension EndOrder {
    init(_ mode: Manifest.StopMode) {
        switch mode {
        case .main: self = .mainFirst
        case .all: self = .together
        }
    }
}

nonisolated extension SuspendMethod {
    init(_ method: Manifest.SuspendMethod) {
        switch method {
        case .signal: self = .signal
        case .freezer: self = .freezer
        case .both: self = .both
        }
    }
}

// MARK: - Saving

nonisolated extension AppDefinition {
    /// What no manifest says. A process may also have a command and an environment that no manifest can have.
    private static let processKeys: [Key<AppDefinition>] = [
        Key("command", .texts, \.manifest.command, "The command, or the arguments of the adopted process."),
        Key("environment", .variables, \.manifest.environment, "The environment."),
        Key("saved.source", .choice, \.source, "The kind of file that describes the app."),
        Key("saved.file", .text, \.manifest.file, "That file."),
        Key("saved.windowClass", .text, \.manifest.windowClass, "StartupWMClass of the desktop entry."),
        Key("saved.userID", .id, \.userID, "The user who has passed the command."),
        Key("saved.groups", .ids, \.groups, "The groups of that user."),
        Key("saved.confinement", .confinement, \.callerConfinement, "The bound of the caller's privileges."),
        Key("saved.like", .text, \.model, "The app whose policy applies."),
        Key("saved.adopted", .boolean, \.isAdopted, "Whether the processes were adopted."),
    ]

    /// The keys of a saved definition: those of a manifest, and the others.
    private static let schema = Schema<AppDefinition>(
        keys: processKeys
            + Manifest.schema.keys.filter { key in !processKeys.contains { $0.path == key.path } }
            .map { $0.within(\.manifest) })

    /// Returns the record for the next daemon: the text of a manifest.
    func saved(_ id: AppID) -> SavedRecord {
        let initial = AppDefinition(adHoc: [], user: .daemon, defaults: defaults)
        var definition = self
        definition.manifest.id = id.name
        return SavedRecord(["manifest": Self.schema.text(of: definition, unlike: initial)])
    }

    /// Reads a record; nil for one with a mistake, which could give the app rights that it must not have. If nothing else describes the
    /// app, the daemon forgets it with its last process.
    init?(saved record: SavedRecord, defaults: Policy) {
        self.init(adHoc: [], user: .daemon, defaults: defaults)
        guard let text = record["manifest"], let document = try? TOMLDocument(text),
            Self.schema.apply(document, of: "", to: &self).problems.isEmpty, !manifest.command.isEmpty
        else { return nil }
    }
}

nonisolated extension Kind<String> {
    fileprivate static let text = Kind("a string", \.text)
}

nonisolated extension Kind<[String]> {
    fileprivate static let texts = Kind("an array of strings") { $0.list { $0.text } }
}

nonisolated extension Kind<[String: String]> {
    fileprivate static let variables = Kind("a table of strings") { node in
        guard case .table(let table) = node else { return nil }
        let texts = table.compactMapValues(\.text)
        return texts.count == table.count ? texts : nil
    }
}

nonisolated extension Kind<UInt32> {
    fileprivate static let id = Kind("the number of a user", \.id)
}

nonisolated extension Kind<[UInt32]> {
    fileprivate static let ids = Kind("an array of the numbers of groups") { $0.list { $0.id } }
}

nonisolated extension Kind<Confinement> {
    fileprivate static let confinement = Kind("a confinement") { $0.text.map { Confinement(text: $0) } }
}

nonisolated extension TOMLNode {
    fileprivate var id: UInt32? { if case .integer(let number) = self { UInt32(exactly: number) } else { nil } }

    fileprivate func list<Element>(_ read: (TOMLNode) -> Element?) -> [Element]? {
        guard case .array(let nodes) = self else { return nil }
        let elements = nodes.compactMap(read)
        return elements.count == nodes.count ? elements : nil
    }
}
