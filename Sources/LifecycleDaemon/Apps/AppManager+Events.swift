import AppChannel
import Configuration
import LifecycleCore
import Processes
import Systemd

// MARK: - Channels

extension AppManager {
    func deliver(_ delivery: Delivery, to app: AppIndex) {
        let time = delivery.launch?.previous.map { exits.seconds(of: $0, driver.id(of: app)) }
        let scene = delivery.scene.flatMap { driver.app(app)?.scenes[$0.scene] }
        let message = CallbackMessage(delivery, now: driver.now, previousTime: time, scene: scene)
        channels.send(message, sequence: delivery.sequence, to: app)
    }

    func answer(_ number: UInt64, of app: AppIndex, _ refusal: AssertionRefusal?) {
        if let refusal {
            return channels.send(.refused(AssertionID(number), reason: RefusalReason(refusal)), to: app)
        }
        let isTask = driver.app(app)?.heldAssertions.contains { $0.number == number && $0.kind == .task } ?? false
        let end = isTask ? core.taskTimeEnd(of: driver.id(of: app)) : nil
        channels.send(.granted(AssertionID(number), timeLeftMilliseconds: end.map(millisecondsLeft)), to: app)
    }

    func millisecondsLeft(until end: Instant) -> Int64 {
        let now = driver.now
        return end > now ? end.duration(since: now).wholeMilliseconds : 0
    }
}

// MARK: - Launches and their ends

extension AppManager {
    func spawn(_ id: AppID, _ app: AppIndex) {
        if isRestoring, processes.isRunning(app) { return driver.append(.outcome(app, .spawned)) }
        if let objection = store.makeRoom() { return spawnFailed(app, objection) }
        if isToBeAdopted(id) { return adopt(id, app) }
        guard let definition = catalog[id] else { return spawnFailed(app, .manifestRemoved) }
        catalog.saveDescription(of: id, definition)
        do throws(DaemonError) {
            let output = try launcher.output(of: id, definition)
            let machine = driver.app(app)
            let channel =
                definition.callbacks == .none ? nil : channels.open(app, launched: machine?.launched)
            let request = try launcher.request(
                for: id, definition, launch: launchFields(of: id), url: machine?.argumentURL, output: output,
                channel: channel)
            // A state that the last launch did not restore is of that launch, and stays.
            if machine?.lastExit?.restoreFailure == .restoring {
                launcher.setStateAside(of: id)
                exits.last.noteStateSetAside(of: id)
            }
            processes.spawn(app, request, as: definition, launched: machine?.launched) {
                channels.storeDescriptors(of: app)
                return store.objection
            }
            extendLifetime(output)
            extendLifetime(channel)
        } catch {
            spawnFailed(app, .preparation(error))
        }
    }

    func spawnFailed(_ app: AppIndex, _ why: StartFailure) {
        driver.append(.outcome(app, .spawnFailed(SystemFailure(why))))
    }

    private func launchFields(of id: AppID) -> LaunchFields {
        guard let launch = core.launch(of: id) else { return LaunchFields(reason: Reason.launch.rawValue) }
        return LaunchFields(launch, previousTime: launch.previous.map { exits.seconds(of: $0, id) })
    }

    func terminate(_ id: AppID, _ app: AppIndex) {
        if isToBeReleased(id) { return release(app) }
        // The previous daemon may have sent SIGTERM, and a second one makes many programs give up at once.
        if isRestoring, processes.isAskedToEnd(app) { return }
        let definition = catalog[id]
        let order = definition.map { EndOrder($0.stopMode) }
        processes.terminate(app, definition.map { Signal($0.stopSignal) } ?? .terminate, order ?? .mainFirst)
    }

    func forget(_ id: AppID, _ app: AppIndex, _ exit: ExitRecord?, _ reclaimed: ReclaimRecord?) {
        let dropped = exit.map { exits.recordEnd(of: id, catalog[id], $0, reclaimed) } ?? []
        catalog.forget(id)
        exits.last.forget(id)
        processes.forgetLastPID(of: app)
        channels.forget(app)
        launcher.removeEmptyStateDirectory(of: id)
        removeOutput(of: dropped + [id])
    }

    /// Removes the output of those of the apps that the daemon has forgotten, with their ends.
    func removeOutput(of ids: [AppID]) {
        for id in ids where catalog[id] == nil && exits.ended[id] == nil { launcher.removeOutput(of: id) }
    }
}
