import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The definitions of all apps that can be launched or run, and the configuration and the desktop entries that they come from.
///
/// Each change of a definition is saved, and appended to the inbox of the core.
final class AppCatalog {
    private(set) var definitions = AppDefinitions()
    /// The policy of an app whose definition sets nothing.
    private(set) var defaults = Policy()
    /// The apps that open types and schemes, by these.
    private(set) var defaultApps: [String: String] = [:]
    /// The desktop entries that can be launched without a manifest; nil in the system instance.
    private(set) var entries: DesktopEntries?
    private var adoptRules: [AdoptRule] = []
    private var reclaimsWhenSuspended = false
    /// The core's settings as they are configured.
    private var settings = Settings()
    private let accounts: UserAccounts
    private let driver: CoreDriver
    private let exits: ExitHistory
    private let log: any JournalSink

    init(
        entries: DesktopEntries?, accounts: UserAccounts, driver: CoreDriver, exits: ExitHistory, log: any JournalSink
    ) {
        self.entries = entries
        self.accounts = accounts
        self.driver = driver
        self.exits = exits
        self.log = log
    }

    subscript(id: AppID) -> AppDefinition? { definitions[id] }

    // MARK: Users

    /// Returns the number of a user; nil if the account cannot be looked up.
    func number(of user: AppDefinition.User) -> UInt32? {
        switch user {
        case .daemon: geteuid()
        case .numbered(let number): number
        case .named(let name): try? accounts.account(of: name).userID
        }
    }

    /// Returns whether two definitions have the same user. One whose account cannot be looked up is nobody's.
    private func haveSameUser(_ one: AppDefinition, _ other: AppDefinition) -> Bool {
        number(of: one.user).map { $0 == number(of: other.user) } ?? false
    }

    /// Returns the user of an app, also of one that has ended and was forgotten, if the journal entries about the apps of that user
    /// have a limit: neither root nor the daemon's own user has one.
    func member(behind app: AppID) -> UInt32? {
        let user = self[app].map { number(of: $0.user) } ?? exits.ended[app]?.user
        return user == 0 || user == geteuid() ? nil : user
    }

    /// Returns the bytes in the saved state of the programs that clients run as a user.
    func savedSize(of user: UInt32) -> Int { definitions.savedSize { number(of: $0) == user } }

    // MARK: Ids

    /// Returns whether a manifest or a command describes the app, or it runs.
    func isDescribed(_ id: AppID) -> Bool {
        guard driver.isKnown(id) || self[id] != nil else { return false }
        return driver.isRunning(id) || self[id]?.isFromEntry != true
    }

    /// Returns whether another launch can have the id: only a manifest uses it, or nothing does.
    func isFree(_ id: AppID) -> Bool {
        guard let definition = self[id] else { return !driver.isKnown(id) }
        return driver.isKnown(id) && !driver.isRunning(id) && !definition.isAdHoc
    }

    /// Returns the desktop entry of an app; nil if there is none that can be launched, or it cannot be read for now.
    func entry(of id: AppID) -> DesktopEntry? {
        if case .entry(let entry)? = try? entries?.find(id.name) { entry } else { nil }
    }

    /// Returns whether the memory of the app is reclaimed while it is suspended.
    func isReclaimedWhenSuspended(_ id: AppID) -> Bool { self[id]?.reclaimWhenSuspended ?? reclaimsWhenSuspended }

    // MARK: Definitions

    /// Makes an app known. No other app has the id.
    func define(_ id: AppID, _ definition: AppDefinition) {
        insert(definition, as: id)
        driver.append(.define(id, definition.policy))
    }

    private func insert(_ definition: AppDefinition, as id: AppID) {
        var definition = definition
        let record = definition.saved(id)
        definition.savedSize = definition.isAdHoc ? record.bytes.count : 0
        definitions.insert(definition, as: id)
        driver.store.save(.definition, record, of: id)
    }

    /// Makes an app of a desktop entry known, as the entry is now.
    func define(_ id: AppID, _ entry: DesktopEntry) {
        for problem in entry.problems { log.write(LogEntry(problem)) }
        define(id, definition(of: entry))
        recallExit(of: id)
    }

    func definition(of entry: DesktopEntry) -> AppDefinition { AppDefinition(entry: entry, defaults: defaults) }

    /// Tells the core of the policy of an app.
    private func publish(_ id: AppID) {
        if let policy = self[id]?.policy { driver.append(.define(id, policy)) }
    }

    private func recallExit(of id: AppID) {
        if let exit = exits.last.recall(id) { driver.append(.remember(id, exit)) }
    }

    /// Saves what a manifest or a desktop entry says about an app that runs: neither may be there at the next start.
    func saveDescription(of id: AppID, _ definition: AppDefinition) {
        guard !definition.isAdHoc || definition.model != nil else { return }
        driver.store.save(.definition, definition.saved(id), of: id)
    }

    /// Forgets the definition of an app that the core has forgotten. The manifest that has waited for the id applies then.
    func forget(_ id: AppID) {
        if let definition = definitions.endOccupation(of: id) {
            driver.append(.define(id, definition.policy))
            driver.append(.configure(usableSettings))
        } else {
            definitions.remove(id)
        }
    }

    // MARK: Adopted apps

    func rule(for process: RunningProcess) -> AdoptRule? {
        adoptRules.first {
            $0.matches(executable: process.executable, name: process.name, arguments: process.commandLine)
        }
    }

    /// Makes the app of a process known, under a free id. The manifest of the id applies.
    ///
    /// - Parameter model: The app whose policy applies if the id has no manifest.
    func defineAdopted(_ id: AppID, _ process: RunningProcess, name: String?, like model: AppID?) {
        if self[id] == nil {
            let user: AppDefinition.User = process.users[0] == geteuid() ? .daemon : .numbered(process.users[0])
            var definition = AppDefinition(adHoc: process.commandLine, user: user, defaults: defaults)
            definition.name = name
            definition.model = model?.name
            if let model = model.flatMap({ self[$0] }) { definition.follow(model) }
            insert(definition.adopted, as: id)
        } else {
            definitions.beginAdoption(of: id)
        }
        publish(id)
    }

    /// Makes the app of a unit of the desktop known: by its manifest, its desktop entry, or the command of its main process.
    ///
    /// - Returns: False if another app has the id.
    func defineUnit(_ id: AppID, found process: RunningProcess) -> Bool {
        if let definition = self[id], definition.isAdHoc { return false }
        if self[id] == nil, let entry = entry(of: id) { define(id, entry) }
        if self[id] == nil {
            var definition = AppDefinition(adHoc: process.commandLine, user: .daemon, defaults: defaults)
            definition.name = (try? entries?.facts(of: id.name))??.name
            insert(definition.adoptedFromUnit, as: id)
            publish(id)
        } else {
            keepAsUnit(id)
        }
        return true
    }

    /// Applies the policy of apps of the desktop to an adopted app.
    func keepAsUnit(_ id: AppID) {
        definitions.beginAdoption(of: id, isUnit: true)
        publish(id)
    }

    /// Ends the adoption when the app's processes have ended, or were never adopted.
    func endAdoption(of id: AppID) {
        if let definition = definitions.endAdoption(of: id) { driver.append(.define(id, definition.policy)) }
    }

    // MARK: Configuration

    /// Applies a configuration. Running apps stay as they are.
    func apply(_ configuration: LoadedConfiguration) {
        let before = definitions
        let gone = read(configuration)
        for (id, definition) in definitions.all where driver.isRunning(id) && before[id] != definition {
            saveDescription(of: id, definition)
        }
        defineAll(except: gone)
        for id in gone.sorted() { driver.append(.forget(id)) }
        driver.append(.configure(usableSettings))
    }

    /// - Returns: The apps that nothing describes any more.
    private func read(_ configuration: LoadedConfiguration) -> Set<AppID> {
        let all = configuration.settings
        settings = Settings(all)
        defaults.timeouts = settings.timeouts
        defaults.onExit = all.onExit
        defaults.assertionLimit = all.limits.tasks
        defaultApps = all.defaults
        entries?.terminal = all.terminal
        adoptRules = all.adopt
        reclaimsWhenSuspended = all.memory.reclaimWhenSuspended
        accounts.update(definitions.userNames.union(configuration.manifests.compactMap(\.user)))
        let gone = definitions.apply(configuration.manifests, defaults: defaults, haveSameUser: haveSameUser) { id in
            entry(of: id).map(definition)
        }
        for id in definitions.occupiedIDs.sorted() {
            log.write(
                .warning,
                "cannot use the manifest of \(id): a program of another user has this id; using it when that has ended")
        }
        return gone
    }

    /// The settings, without a home app whose id a program of another user has.
    var usableSettings: Settings {
        var usable = settings
        if let home = usable.homeApp, definitions.isOccupied(home) { usable.homeApp = nil }
        return usable
    }

    /// Tells the core of every app that is described, and of its exit in an earlier boot.
    func defineAll(except gone: Set<AppID> = []) {
        let described = definitions.all.filter { !gone.contains($0.key) }
        // Most of a configuration that is read again says nothing new.
        for (id, definition) in described where !driver.isRunning(id, with: definition.policy) {
            driver.append(.define(id, definition.policy))
        }
        exits.last.withList { for (id, _) in described { recallExit(of: id) } }
    }
}

// MARK: - Restoration

extension AppCatalog {
    /// Reads the configuration, and the definitions of the apps of the previous daemon. The core learns of them by ``defineAll(except:)``.
    func restore(_ saved: SavedState, _ configuration: LoadedConfiguration) {
        _ = read(configuration)
        var isUserNamed = false
        for id in saved.apps(with: .definition) {
            // Requests for an app that was never launched ended with the previous daemon.
            guard saved[.app, id] != nil, let record = saved[.definition, id] else { continue }
            // Most manifests are as they were, and need not be read twice.
            if self[id]?.saved(id) == record { continue }
            guard let definition = AppDefinition(saved: record, defaults: defaults) else {
                log.write(
                    .warning, "cannot restore the definition of \(id): the saved text is not valid; doing without it")
                continue
            }
            restore(definition, savedSize: record.bytes.count, as: id)
            if case .named? = self[id]?.user { isUserNamed = true }
        }
        // No definition is saved of an app of a desktop entry that does not run: it is as its entry says now.
        for id in saved.apps(with: .app) where self[id] == nil && saved[.definition, id] == nil {
            if let entry = entry(of: id) { definitions.insert(definition(of: entry), as: id) }
        }
        if isUserNamed { accounts.update(definitions.userNames) }
    }

    private func restore(_ saved: AppDefinition, savedSize: Int, as id: AppID) {
        var definition = saved
        if definition.isAdHoc { definition.savedSize = savedSize }
        if let described = self[id] {
            if definition.isAdHoc, !haveSameUser(definition, described) { definitions.occupy(id, by: definition) }
            return
        }
        if definition.isFromEntry, let entry = entry(of: id) { definition = self.definition(of: entry) }
        if let model = definition.model.flatMap({ self[AppID($0)] }) { definition.follow(model) }
        definitions.insert(definition, as: id)
    }

    /// Notes that the processes of a restored app were adopted.
    func restoreAdoption(of id: AppID, isUnit: Bool) { definitions.beginAdoption(of: id, isUnit: isUnit) }
}
