import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes

/// A process held until it belongs to an app.
final class AdoptionCandidate {
    private var process: PinnedProcess?
    /// The group of the unit that the process is in, if that holds the app.
    let unit: UnitGroup?

    init(_ process: consuming PinnedProcess, unit: UnitGroup? = nil) {
        self.process = consume process
        self.unit = unit
    }

    func take() -> PinnedProcess? { process.take() }
}

/// The adoption of programs that the daemon has not started.
extension AppManager {
    func rule(for process: RunningProcess) -> AdoptRule? {
        adoptRules.first {
            $0.matches(executable: process.executable, name: process.name, arguments: process.commandLine)
        }
    }

    /// Returns whether another launch can have the id: only a manifest uses it, or nothing does.
    func isFree(_ id: AppID) -> Bool {
        guard isKnown(id) else { return catalog[id] == nil }
        return !isRunning(id) && catalog[id]?.isAdHoc == false
    }

    /// Makes the app of a process known, under a free id. The manifest of the id applies.
    ///
    /// - Parameter model: The app whose policy applies if the id has no manifest.
    func defineAdopted(_ id: AppID, _ process: RunningProcess, name: String?, like model: AppID?) {
        if catalog[id] == nil {
            let user: AppDefinition.User = process.users[0] == geteuid() ? .daemon : .numbered(process.users[0])
            var definition = AppDefinition(adHoc: process.commandLine, user: user, defaults: defaults)
            definition.name = name
            definition.model = model?.name
            if let model = model.flatMap({ catalog[$0] }) { definition.follow(model) }
            insert(definition.adopted, as: id)
        } else {
            catalog.beginAdoption(of: id)
        }
        publish(id)
    }

    /// Tells the core of the policy of an app.
    private func publish(_ id: AppID) {
        guard let policy = catalog[id]?.policy else { return }
        driver.append(.define(id, policy))
        handleInputs()
    }

    /// Makes the app of a unit of the desktop known: by its manifest, its desktop entry, or the command of its main process.
    ///
    /// - Returns: False if another app has the id.
    func defineUnit(_ id: AppID, found process: RunningProcess) -> Bool {
        if let definition = catalog[id], definition.isAdHoc { return false }
        if catalog[id] == nil, let entry = entry(of: id) { define(id, entry) }
        if catalog[id] == nil {
            var definition = AppDefinition(adHoc: process.commandLine, user: .daemon, defaults: defaults)
            definition.name = (try? entries?.facts(of: id.name))??.name
            insert(definition.adoptedFromUnit, as: id)
        } else {
            catalog.beginAdoption(of: id, isUnit: true)
        }
        publish(id)
        return true
    }

    /// Applies the policy of apps of the desktop to an adopted app.
    func keepAsUnit(_ id: AppID) {
        catalog.beginAdoption(of: id, isUnit: true)
        publish(id)
    }

    /// Returns whether the launch that the core wants is of processes that run already.
    func isToBeAdopted(_ id: AppID) -> Bool {
        guard let definition = catalog[id] else { return false }
        return core.launch(of: id)?.reason == .adopt || (definition.isAdopted && definition.isAdHoc)
    }

    func adopt(_ id: AppID, _ app: AppIndex) {
        let candidate = candidates.removeValue(forKey: app)
        guard let definition = catalog[id], let process = candidate?.take() else {
            return spawnFailed(app, .notLaunchable)
        }
        saveDescription(of: id, definition)
        let launched = self.app(app)?.launched
        guard processes.adopt(app, process, in: candidate?.unit, as: definition, launched: launched) else {
            return spawnFailed(app, .processEnded)
        }
        storeDescriptors(of: app)
        driver.append(.outcome(app, .spawned))
        connectAdopted(id, app)
        adoptions.append(id)
    }

    /// Ends the adoption when the app's processes have ended, or were never adopted.
    func endAdoption(of id: AppID, _ app: AppIndex) {
        candidates[app] = nil
        if let definition = catalog.endAdoption(of: id) { driver.append(.define(id, definition.policy)) }
    }

    /// Returns whether the app's processes go on without the daemon: it was adopted, and ends by request or with the
    /// daemon.
    func isToBeReleased(_ id: AppID) -> Bool {
        guard catalog[id]?.isAdopted == true, let reason = app(id)?.reason else { return false }
        return reason == .release || reason == .shutdown
    }

    func release(_ app: AppIndex) {
        resources.giveBack(app)
        processes.release(app)
    }
}
