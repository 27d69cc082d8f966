import Configuration
import ControlAPI
import LifecycleCore
import Varlink

// What can be launched, described by manifests or by desktop entries.
extension ControlService {
    /// Asks for something that launches an app if need be, under any name that it can be launched by.
    func withApp(_ name: String, _ call: Call, _ connection: ControlConnection, _ request: (AppID) -> Request) {
        do throws(ControlError) {
            ask(request(try launchable(name)), call, connection)
        } catch {
            connection.send(error.reply, to: call.id)
        }
    }

    /// The app of a name. A desktop entry is read now, unless the app runs already.
    ///
    /// - Throws: What a person can do about it, where nothing of this name can be launched.
    func launchable(_ name: String) throws(ControlError) -> AppID {
        if manager.isDescribed(AppID(name)) { return AppID(name) }
        let id = AppID(DesktopEntries.id(in: name))
        if manager.isDescribed(id) { return id }
        guard AppIdentifier.isValid(id.name) else { throw Self.noID(name) }
        guard let entries = manager.entries else {
            throw unusableManifest(of: id) ?? ControlError(Refusal.noSuchApp(AppID(name)))
        }
        switch entries.find(id.name) {
        case .entry(let entry): manager.define(id, entry)
        case .unusable(let problem):
            throw ControlError(
                .launchFailed, id: id.name, reason: "its desktop entry cannot be used: \(problem)",
                remedy: "Change the entry, or describe the app in a manifest.")
        case nil:
            throw unusableManifest(of: id)
                ?? ControlError(
                    .noSuchApp, id: id.name,
                    reason: "there is no manifest of this id, and no desktop entry \(id).desktop in \(entries.places)",
                    remedy: "'lifectl apps' shows what can be launched.")
        }
        return id
    }

    /// That there is a manifest, and why it was left out.
    private func unusableManifest(of id: AppID) -> ControlError? {
        let file = "/apps.d/\(id).toml"
        guard let problem = problems.first(where: { $0.file.hasSuffix(file) }) else { return nil }
        let place = problem.line.map { "\(problem.file):\($0)" } ?? problem.file
        return ControlError(
            .launchFailed, id: id.name, reason: "its manifest cannot be used: \(place): \(problem.message)",
            remedy: "Change that, and then 'lifectl reload'.")
    }

    private static func noID(_ name: String) -> ControlError {
        // Who has an entry before them gives its path.
        let file = String(name.split(separator: "/").last ?? "")
        let entry =
            name.contains("/") && AppIdentifier.isValid(file) ? "'lifectl launch \(file)' launches an entry; " : ""
        return ControlError(
            .noSuchApp, id: name, reason: "this is not an id",
            remedy: "\(entry)'lifectl apps' shows what can be launched.")
    }

    /// The app that opens a URL: one that a manifest describes, if there is one, and else one that a desktop entry does.
    func handler(for url: URLText, type: String?) throws(ControlError) -> AppID {
        var apps = manager.catalog.definitions.filter { !$0.value.isFromEntry }
        // Who is the default counts also where manifests have others.
        for name in Set(manager.defaultApps.values) where apps[AppID(name)] == nil {
            guard case .entry(let entry) = manager.entries?.find(name) else { continue }
            apps[AppID(name)] = manager.definition(of: entry)
        }
        let choices = manager.entries?.associations.choices(for: URLHandlers.types(for: url, type: type)) ?? [:]
        let missing: ControlError
        do throws(ControlError) {
            let handlers = URLHandlers(apps: apps, defaults: manager.defaultApps, choices: choices)
            let id = try handlers.app(for: url, type: type)
            return try launchable(id.name)
        } catch {
            missing = error
        }
        guard missing.kind == .noSuchApp, let entries = manager.entries else { throw missing }
        for case (let id, .entry(let entry)) in entries.all() where apps[AppID(id)] == nil {
            apps[AppID(id)] = manager.definition(of: entry)
        }
        let handlers = URLHandlers(apps: apps, defaults: manager.defaultApps, choices: choices)
        return try launchable(handlers.app(for: url, type: type).name)
    }

    func tellApps(_ call: Call, to connection: ControlConnection) throws(ServiceError) {
        let wanted: AppsParameters = try call.parameters()
        connection.send(Varlink.Reply(AppsReply(apps: presentation.launchable(all: wanted.all ?? false))), to: call.id)
    }
}

extension AppManager {
    /// Whether something but a desktop entry describes an app, or nothing needs to, because it runs.
    fileprivate func isDescribed(_ id: AppID) -> Bool {
        guard let app = core.knownApps[id] else { return false }
        return app.isRunning || catalog[id]?.isFromEntry != true
    }

    func definition(of entry: DesktopEntry) -> AppDefinition { AppDefinition(entry: entry, defaults: defaults) }

    /// Makes an app of a desktop entry known, as its entry has it now. It stays known until a reload finds no entry.
    func define(_ id: AppID, _ entry: DesktopEntry) {
        for problem in entry.problems { log.log.write(LogEntry(problem)) }
        let definition = definition(of: entry)
        insert(definition, as: id)
        keeper.keep(.definition, definition.saved(id))
        driver.give(.define(id, definition.policy))
        recallExit(of: id)
    }

    /// An app of a daemon that is gone, as its desktop entry has it now; nil where it has none.
    func entryDefinition(_ id: AppID, saved record: SavedRecord) -> AppDefinition? {
        guard record["entry"] != nil, case .entry(let entry) = entries?.find(id.name) else { return nil }
        return definition(of: entry)
    }
}

extension Presentation {
    /// What can be launched; with `all` what cannot, too, or what menus leave out.
    func launchable(all: Bool) -> [Launchable] {
        var apps: [Launchable] = []
        for (id, definition) in manager.catalog.definitions where !definition.isAdHoc && !definition.isFromEntry {
            apps.append(
                Launchable(
                    id: id.name, name: definition.name, source: .manifest, file: definition.manifest ?? "",
                    running: isRunning(id.name)))
        }
        let described = Set(apps.map(\.id))
        for (id, finding) in manager.entries?.all() ?? [:] where !described.contains(id) {
            let app = launchable(id, finding)
            if all || (app.shown && app.problem == nil) { apps.append(app) }
        }
        return apps.sorted { $0.id < $1.id }
    }

    private func launchable(_ id: String, _ finding: DesktopEntries.Finding) -> Launchable {
        switch finding {
        case .entry(let entry):
            Launchable(
                id: id, name: entry.manifest.name, source: .desktopEntry, file: entry.manifest.file,
                running: isRunning(id), shown: entry.isShown)
        case .unusable(let problem):
            Launchable(
                id: id, name: nil, source: .desktopEntry, file: problem.file, running: isRunning(id), shown: false,
                problem: problem.description)
        }
    }

    private func isRunning(_ id: String) -> Bool { manager.core.knownApps[AppID(id)]?.isRunning ?? false }
}
