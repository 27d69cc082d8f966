import AppChannel
import LifecycleCore
import Processes
import Systemd

// MARK: - Launches and their ends

extension AppManager: ProcessDelegate {
    func spawn(_ id: AppID, _ app: AppIndex) {
        if isRestoring, processes.isRunning(app) { return driver.handle(.outcome(app, .spawned)) }
        if let objection = store.makeRoom() { return spawnFailed(app, objection) }
        if isToBeAdopted(id) { return adopt(id, app) }
        guard let definition = catalog[id] else { return spawnFailed(app, .command("its manifest was removed")) }
        saveDescription(of: id, definition)
        do throws(DaemonError) {
            let output = try launcher.output(of: id)
            let machine = self.app(app)
            let channel =
                definition.policy.callbacks == .none ? nil : channels.open(app, launched: machine?.launched)
            let request = try launcher.request(
                for: id, definition, launch: launchFields(of: id, app), url: machine?.argumentURL, output: output,
                channel: channel)
            processes.spawn(app, request, as: definition, launched: machine?.launched) {
                storeDescriptors(of: app)
                return store.objection
            }
            extendLifetime(output)
            extendLifetime(channel)
        } catch {
            spawnFailed(app, StartFailure(error))
        }
    }

    func spawnFailed(_ app: AppIndex, _ why: StartFailure) { driver.handle(.outcome(app, .spawnFailed(why))) }

    private func launchFields(of id: AppID, _ app: AppIndex) -> LaunchFields {
        guard let launch = core.launch(of: id) else { return LaunchFields(reason: Reason.launch.rawValue) }
        return LaunchFields(launch, previousTime: launch.previous.map { exits.seconds(of: $0, app) })
    }

    func terminate(_ id: AppID, _ app: AppIndex) {
        if isToBeReleased(id) { return release(app) }
        // A former daemon may have sent SIGTERM, and a second one makes many programs give up at once.
        if isRestoring, processes.isAskedToEnd(app) { return }
        processes.terminate(app, catalog[id]?.stopSignal ?? .terminate)
    }

    func forget(_ id: AppID, _ app: AppIndex, _ exit: ExitRecord?, _ reclaimed: ReclaimRecord?) {
        if let exit { exits.recordEnd(of: id, app, catalog[id], exit, reclaimed) }
        catalog.remove(id)
        exits.last.forget(id, app)
        processes.forgetLastPID(of: app)
        channels.forget(app)
        launcher.removeEmptyStateDirectory(of: id)
        store.retryWithLess()
    }

    func launchEnded(_ token: LaunchToken) {
        DescriptorStore.discard(DescriptorStore.name(of: token), log: log.log)
    }

    func leavesRunning(_ id: AppID, _ processes: String) {
        log.log.write(
            .warning, "cannot end \(id) whole: this daemon may not end \(processes); the app ends without them")
    }

    func cannotWatch(_ id: AppID, _ error: Processes.Errno) {
        log.log.write(
            .warning, "cannot watch the processes of \(id): \(error); looking at such processes in intervals")
    }
}
