import AppChannel
import Configuration
import LifecycleCore
import Processes
import Systemd

// MARK: - Channels

extension AppManager: ChannelDelegate {
    /// Accepts a connection to the socket for apps: of an app without a channel, or of an app that the daemon does not manage yet.
    ///
    /// - Parameter resumes: A Boolean value that indicates whether the hello of the process resumes a channel.
    func admit(_ peer: PeerConnection, resumes: Bool = false) {
        let process = peer.credentials.process
        switch processes.owner(of: process) {
        case .app(let id):
            guard let app = driver.index(of: id), peer.lives else { return }
            guard mayConnect(process, as: app), !hasChannelAfterReading(app) else { return unmanaged.add(peer) }
            guard resumes || !isExpected(of: app, other: process) else {
                return unmanaged.add(peer, awaitsHello: true)
            }
            connect(peer, to: app)
        case .noApp: unmanaged.add(peer)
        case .unknown: break
        }
    }

    /// Returns whether the app has a channel, having handled what it has sent so far: the end of the channel may follow.
    private func hasChannelAfterReading(_ app: AppIndex) -> Bool {
        var left = Self.readLimit
        while left > 0, channels.readMore(of: app, asking: self) {
            handleInputs()
            left -= 1
        }
        // The end of the channel is an input, too.
        handleInputs()
        return channels.isOpen(app)
    }

    /// The number of reads in one round of the loop, for an app that goes on sending.
    private static let readLimit = 8

    private func connect(_ peer: PeerConnection, to app: AppIndex, isNew: Bool = false) {
        guard let descriptor = peer.takeDescriptor() else { return }
        channels.admit(descriptor, of: app, connectedBy: peer.credentials.process, isNew: isNew)
    }

    /// Returns whether another process of the app had the channel, and can reconnect.
    private func isExpected(of app: AppIndex, other process: ProcessID) -> Bool {
        guard isReconnecting(app), let previous = channels.previousProcess(of: app), previous != process,
            let status = ProcessStatus(of: previous), !status.isZombie
        else { return false }
        // The number may belong to a later process.
        return processes.owner(of: previous) == .app(driver.id(of: app))
    }

    /// Gives an app that was adopted just now the channel on which its main process waits, or else another of its processes.
    func connectAdopted(_ id: AppID, _ app: AppIndex) {
        let isOfApp = { [self] in processes.owner(of: $0) == .app(id) && mayConnect($0, as: app) }
        let main = processes.pid(of: app)
        guard let peer = unmanaged.take(where: { $0 == main && isOfApp($0) }) ?? unmanaged.take(where: isOfApp) else {
            return
        }
        connect(peer, to: app, isNew: true)
    }

    /// Returns whether a process of the app speaks for it: the main process, or one in its session while it runs. A program in
    /// a terminal, which has a session of its own, does not.
    func mayConnect(_ process: ProcessID, as app: AppIndex) -> Bool {
        guard let definition = catalog[driver.id(of: app)], definition.callbacks != .none else { return false }
        // The end of the main process may not have been seen yet.
        guard let main = processes.pid(of: app), main != process, let status = ProcessStatus(of: main), !status.isZombie
        else { return true }
        return status.session == ProcessStatus(of: process)?.session
    }

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

    func isAdopted(_ app: AppIndex) -> Bool { catalog[driver.id(of: app)]?.isAdopted ?? false }
    func member(behind app: AppID) -> UInt32? { catalog.member(behind: app) }

    func isReconnecting(_ app: AppIndex) -> Bool { driver.app(app)?.isReconnecting ?? false }

    func isFirstHelloDue(_ app: AppIndex) -> Bool {
        guard let app = driver.app(app) else { return false }
        return app.state.isAlive && !app.isConnected && app.policy.callbacks != .none
    }

    func replaceStoredDescriptors(of app: AppIndex) {
        guard let launch = processes.launch(of: app) else { return }
        DescriptorStore.discard(DescriptorStore.name(of: launch.token), log: log.sink)
        storeDescriptors(of: app)
    }

    /// Has the service manager hold the pidfd and the channel of an app for the next daemon.
    func storeDescriptors(of app: AppIndex) {
        guard let launch = processes.launch(of: app) else { return }
        let descriptors = [launch.pidfd, channels.number(of: app)].compactMap { $0 }
        DescriptorStore.store(descriptors, for: launch.token, log: log.sink)
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
                storeDescriptors(of: app)
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
