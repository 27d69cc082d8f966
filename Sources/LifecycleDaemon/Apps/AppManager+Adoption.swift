import LifecycleCore
import Processes

/// The adoption of programs that the daemon has not started.
extension AppManager {
    /// Returns whether the launch that the core wants is of processes that run already.
    func isToBeAdopted(_ id: AppID) -> Bool {
        guard let definition = catalog[id] else { return false }
        return core.launch(of: id)?.reason == .adopt || (definition.isAdopted && definition.isAdHoc)
    }

    func adopt(_ id: AppID, _ app: AppIndex) {
        guard let definition = catalog[id] else { return spawnFailed(app, .notLaunchable) }
        catalog.saveDescription(of: id, definition)
        if let objection = processes.adopt(app, as: definition, launched: driver.app(app)?.launched) {
            return spawnFailed(app, objection)
        }
        channels.storeDescriptors(of: app)
        driver.append(.outcome(app, .spawned))
        channels.connectAdopted(id, app)
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
