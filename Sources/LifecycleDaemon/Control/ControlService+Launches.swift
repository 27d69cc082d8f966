import AppChannel
import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Varlink

/// The bytes that programs of clients may take in the saved state. The daemon writes all of it whenever its file is full, and
/// calls wait meanwhile.
enum StateShare {
    static let programLimit = 256 << 10
    /// For all programs of a member of the group `lifed`.
    static let memberLimit = 4 << 20
    /// For all programs of root, of the daemon's own user, or of an administrator.
    static let administratorLimit = 32 << 20
}

/// The calls that launch an app if it is not running.
extension ControlService {
    func launch(_ launch: LaunchParameters, for call: ClientCall) throws {
        let id = try launchable(launch.id, for: call.scope)
        let isAnswered = launch.wait == .answered
        try ask(.launch(id, background: launch.background ?? false, untilAnswered: isAnswered), for: call)
    }

    /// Restarts an app. The core keeps the launch until the app has ended. All objections come before the app is asked to end.
    func restart(_ restart: AppParameters, for call: ClientCall) throws {
        let id = try launchable(restart.id, for: call.scope)
        guard driver.isRunning(id) else { return try ask(.launch(id, background: false), for: call) }
        if let objection = rights.occupation(of: id, for: call.scope) { throw objection }
        if catalog[id]?.isAdHoc != false {
            throw ControlError(
                .refused, id: id.name, reason: "it has no manifest, so it cannot be launched again by its id",
                remedy: "end it with 'lifectl terminate' and use 'lifectl run' again")
        }
        try ask(.restart(id), for: call)
    }

    func run(_ run: RunParameters, for call: ClientCall) throws {
        guard run.command.first?.isEmpty == false else { throw ServiceError.invalidParameter("command") }
        if let directory = run.workingDirectory, !directory.hasPrefix("/") || directory.utf8.count >= PATH_MAX {
            throw ServiceError.invalidParameter("workingDirectory")
        }
        let id = run.id.map { AppID($0) } ?? catalog.definitions.freeID(for: run.command)
        try Self.check(id)
        guard !driver.isKnown(id) else {
            throw ControlError(
                .invalidApp, id: id.name, reason: "an app has this id", remedy: "choose another id with --id")
        }
        if run.background != true, let objection = rights.foregroundObjection(to: call.scope) {
            throw objection
        }
        // The app runs as the user who calls.
        let peer = call.connection.peer
        let isOther = peer.user != geteuid()
        if isOther, geteuid() != 0 {
            throw ControlError(
                .refused, id: id.name,
                reason: "the daemon belongs to another user, and cannot launch apps as user \(peer.user)",
                remedy: "run lifectl as user \(geteuid()), or use the system's daemon")
        }
        var definition = AppDefinition(
            adHoc: run.command, user: isOther ? .numbered(peer.user) : .daemon, defaults: catalog.defaults)
        if isOther { definition.groups = [peer.group] + peer.groups.filter { $0 != peer.group } }
        definition.environment = run.environment ?? [:]
        definition.workingDirectory = run.workingDirectory
        definition.callerConfinement = call.connection.confinement
        if let objection = stateObjection(to: definition, id, of: peer.user, call.scope) { throw objection }
        catalog.define(id, definition)
        try ask(.launch(id, background: run.background ?? false), for: call)
    }

    /// Returns the reason to refuse a program whose record would take too much of the saved state.
    private func stateObjection(
        to definition: AppDefinition, _ id: AppID, of user: UInt32, _ scope: ClientScope
    ) -> ControlError? {
        let size = definition.saved(id).bytes.count
        guard size <= StateShare.programLimit else {
            return ControlError(
                .refused, id: id.name,
                reason: "its command and environment take \(size) bytes in the saved state, and may take "
                    + "\(StateShare.programLimit)",
                remedy: "pass less of them, such as the path of a file")
        }
        return stateObjection(to: id, adding: size, of: user, scope)
    }

    /// Returns the reason to refuse a program because of the others that the user has in the saved state.
    func stateObjection(to id: AppID, adding size: Int, of user: UInt32, _ scope: ClientScope) -> ControlError? {
        let limit = scope == .everything ? StateShare.administratorLimit : StateShare.memberLimit
        let present = catalog.savedSize(of: user)
        guard present + size > limit else { return nil }
        return ControlError(
            .refused, id: id.name,
            reason: "the programs of user \(user) take \(present) bytes in the saved state, this one would take "
                + "\(size), and all together may take \(limit)",
            remedy: "end some of them, or pass a smaller environment")
    }

    func open(_ open: OpenParameters, for call: ClientCall) throws {
        // First: to find the type of a file takes long for a name of many parts.
        guard let url = URLText(open.url), AppEvent.openURL(url.text, type: nil, source: nil).fitsALine else {
            throw ServiceError.invalidParameter("url")
        }
        if let type = open.type, !MediaType.isValid(type) {
            throw ControlError(
                .refused, id: open.id, reason: "\(type) is not a media type", remedy: "name one such as text/html")
        }
        let type = open.type ?? (url.fileName.map { MediaTypes.shared.type(ofFile: $0) })
        let event = AppEvent.openURL(url.text, type: type, source: call.connection.client.app?.name)
        guard event.fitsALine else { throw ServiceError.invalidParameter(open.type == nil ? "url" : "type") }
        let id =
            if let name = open.id {
                try launchable(name, for: call.scope)
            } else {
                try handler(for: url, type: type, call.scope)
            }
        try ask(.deliver(id, event), for: call)
    }

    func continueActivity(_ activity: ContinueActivityParameters, for call: ClientCall) throws {
        guard !activity.type.isEmpty else { throw ServiceError.invalidParameter("type") }
        let event = AppEvent.continueActivity(type: activity.type, info: activity.info ?? "")
        guard event.fitsALine else { throw ServiceError.invalidParameter("info") }
        try ask(.deliver(launchable(activity.id, for: call.scope), event), for: call)
    }

    func wake(_ wake: WakeParameters, for call: ClientCall) throws {
        guard WakeParameters.isKind(wake.kind) else { throw ServiceError.invalidParameter("kind") }
        let payload = wake.payload ?? ""
        guard AppEvent.performTask(kind: wake.kind, payload: payload).fitsALine else {
            throw ServiceError.invalidParameter("payload")
        }
        try ask(.wake(launchable(wake.id, for: call.scope), kind: wake.kind, payload: payload), for: call)
    }

    func openScene(_ wanted: OpenSceneParameters, for call: ClientCall) throws {
        let scene = try wanted.scene.map { name throws(ServiceError) in try SceneID(parameter: name) }
        if let role = wanted.role, !SceneID.isWord(role) { throw ServiceError.invalidParameter("role") }
        // The channel has a line of text for it.
        if let info = wanted.info, info.utf8.count > SceneText.infoLimit || info.utf8.contains(0) {
            throw ServiceError.invalidParameter("info")
        }
        let opening = SceneOpening(scene: scene, role: wanted.role, info: wanted.info)
        let app = try launchable(wanted.app, for: call.scope)
        try ask(.openScene(app, opening, background: wanted.background ?? false), for: call)
    }

    // MARK: Apps that can be launched

    static func check(_ id: AppID) throws(ControlError) {
        guard !AppIdentifier.isValid(id.name) else { return }
        throw ControlError(
            .invalidApp, id: id.name, reason: "this is not an id", remedy: "an id is \(AppIdentifier.form)")
    }

    /// Returns the app of a name. Reads its desktop entry, unless the app runs.
    ///
    /// - Throws: An error with a remedy, if nothing of the name can be launched.
    func launchable(_ name: String, for scope: ClientScope) throws(ControlError) -> AppID {
        if catalog.isDescribed(AppID(name)) { return AppID(name) }
        let id = AppID(DesktopEntries.id(in: name))
        if catalog.isDescribed(id) { return id }
        guard AppIdentifier.isValid(id.name) else { throw Self.invalidName(name) }
        guard let entries = catalog.entries else {
            throw unusableManifest(of: id, for: scope) ?? ControlError(Refusal.noSuchApp(AppID(name)))
        }
        switch try ControlError.reading({ () throws(LoadFailure) in try entries.find(id.name) }) {
        case .entry(let entry): catalog.define(id, entry)
        case .unusable(let problem):
            throw ControlError(
                .launchFailed, id: id.name, reason: "its desktop entry cannot be used: \(problem)",
                remedy: "or write a manifest")
        case nil:
            throw unusableManifest(of: id, for: scope)
                ?? ControlError(
                    .noSuchApp, id: id.name,
                    reason:
                        "there is neither a manifest of this id nor a desktop entry \(id).desktop in \(entries.places)",
                    remedy: "list the apps with 'lifectl list --available'")
        }
        return id
    }

    private func unusableManifest(of id: AppID, for scope: ClientScope) -> ControlError? {
        let file = "/apps.d/\(id).toml"
        let ownProblem = problems.first { $0.file.hasSuffix(file) }
        guard let problem = ownProblem ?? problems.first(where: { $0.file.hasSuffix("/apps.d") }) else { return nil }
        let kind = ownProblem == nil ? ControlError.Kind.noSuchApp : .launchFailed
        let fact = ownProblem == nil ? "not all manifests can be used" : "its manifest cannot be used"
        // The problem may quote a line of another user's manifest.
        if case .member = scope {
            return ControlError(
                kind, id: id.name, reason: fact,
                remedy: "ask an administrator to correct it")
        }
        let place = problem.line.map { "\(problem.file):\($0)" } ?? problem.file
        return ControlError(
            kind, id: id.name, reason: "\(fact): \(place): \(problem.message)",
            remedy: "correct it, then run 'lifectl reload'")
    }

    private static func invalidName(_ name: String) -> ControlError {
        // The user may have given the path of an entry.
        let file = String(name.split(separator: "/").last ?? "")
        let entry =
            name.contains("/") && file.hasSuffix(".desktop") && AppIdentifier.isValid(file)
            ? "run 'lifectl launch \(file)' for a desktop entry, or " : ""
        return ControlError(
            .noSuchApp, id: name, reason: "this is not an id",
            remedy: "\(entry)list the apps with 'lifectl list --available'")
    }

    /// Returns the app that opens a URL: one of a manifest, or else one of a desktop entry.
    private func handler(for url: URLText, type: String?, _ scope: ClientScope) throws(ControlError) -> AppID {
        var apps = Dictionary(
            uniqueKeysWithValues: catalog.definitions.all.lazy.filter { !$0.value.isFromEntry }
                .map { ($0.key, $0.value) })
        // A default app comes first, also among apps with manifests.
        let defaultEntries = Set(catalog.defaultApps.values.map { AppID($0) }).filter { id in
            apps[id] == nil && catalog.entry(of: id) != nil
        }
        let choices = try ControlError.reading { () throws(LoadFailure) in
            try catalog.entries?.associations.choices(for: URLHandlers.types(for: url, type: type)) ?? [:]
        }
        do throws(ControlError) {
            let handlers = URLHandlers(
                apps: apps, defaults: catalog.defaultApps, choices: choices, defaultEntries: defaultEntries)
            return try launchable(handlers.app(for: url, type: type).name, for: scope)
        } catch {
            guard error.kind == .noSuchApp, let entries = catalog.entries else { throw error }
            let all = try ControlError.reading { () throws(LoadFailure) in try entries.all() }
            for case (let id, .entry(let entry)) in all where apps[AppID(id)] == nil {
                apps[AppID(id)] = catalog.definition(of: entry)
            }
        }
        let handlers = URLHandlers(apps: apps, defaults: catalog.defaultApps, choices: choices)
        return try launchable(handlers.app(for: url, type: type).name, for: scope)
    }
}

extension SceneID {
    init(parameter name: String) throws(ServiceError) {
        guard let scene = SceneID(name) else { throw .invalidParameter("scene") }
        self = scene
    }
}
