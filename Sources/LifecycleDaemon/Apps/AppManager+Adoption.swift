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
    /// Returns whether the launch that the core wants is of processes that run already.
    func isToBeAdopted(_ id: AppID) -> Bool {
        guard let definition = catalog[id] else { return false }
        return core.launch(of: id)?.reason == .adopt || (definition.isAdopted && definition.isAdHoc)
    }

    func adopt(_ id: AppID, _ app: AppIndex) {
        let candidate = candidates.removeValue(forKey: id)
        guard let definition = catalog[id], let process = candidate?.take() else {
            return spawnFailed(app, .notLaunchable)
        }
        catalog.saveDescription(of: id, definition)
        let launched = driver.app(app)?.launched
        guard processes.adopt(app, process, in: candidate?.unit, as: definition, launched: launched) else {
            return spawnFailed(app, .processEnded)
        }
        storeDescriptors(of: app)
        driver.append(.outcome(app, .spawned))
        connectAdopted(id, app)
        adoptions.append(id)
    }

    /// Ends the adoption when the app's processes have ended, or were never adopted.
    func endAdoption(of id: AppID) {
        candidates[id] = nil
        catalog.endAdoption(of: id)
    }

    /// Returns whether the app's processes go on without the daemon: it was adopted, and ends by request or with the
    /// daemon.
    func isToBeReleased(_ id: AppID) -> Bool {
        guard catalog[id]?.isAdopted == true, let reason = driver.app(id)?.reason else { return false }
        return reason == .release || reason == .shutdown
    }

    func release(_ app: AppIndex) {
        resources.giveBack(app)
        processes.release(app)
    }
}
