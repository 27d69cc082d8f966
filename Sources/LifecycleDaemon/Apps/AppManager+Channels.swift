import AppChannel
import LifecycleCore
import Processes

// MARK: - Channels

extension AppManager: ChannelDelegate {
    /// Accepts a connection to the socket for apps: of an app without a channel, or of an app that the daemon does not manage yet.
    func admit(_ peer: PeerConnection) {
        let process = peer.credentials.process
        switch processes.owner(of: process) {
        case .app(let id) where mayConnect(process, as: id):
            guard let app = index(of: id), peer.lives, let descriptor = peer.takeDescriptor() else { return }
            channels.admit(descriptor, of: app)
        case .app, .noApp: unmanaged.add(peer)
        case .unknown: break
        }
    }

    /// Gives an app that was adopted just now the channel on which one of its processes waits.
    func connectAdopted(_ id: AppID, _ app: AppIndex) {
        let peer = unmanaged.take { process in
            processes.owner(of: process) == .app(id) && mayConnect(process, as: id)
        }
        if let descriptor = peer?.takeDescriptor() { channels.admit(descriptor, of: app, isNew: true) }
    }

    /// Returns whether a process of the app speaks for it. In an adopted app, a process of another session, such as a
    /// program in a terminal, does not.
    private func mayConnect(_ process: ProcessID, as id: AppID) -> Bool {
        guard let policy = catalog[id]?.policy, policy.callbacks != .none else { return false }
        guard catalog[id]?.isAdopted == true, let main = processes.pid(of: index(of: id)), main != process else {
            return true
        }
        return ProcessStatus(of: main).map { $0.session == ProcessStatus(of: process)?.session } ?? false
    }

    func deliver(_ delivery: Delivery, to app: AppIndex) {
        let time = delivery.launch?.previous.map { exits.seconds(of: $0, app) }
        let scene = delivery.scene.flatMap { self.app(app)?.scenes[$0.scene] }
        let message = CallbackMessage(delivery, now: driver.now, previousTime: time, scene: scene)
        channels.send(message, sequence: delivery.sequence, to: app)
    }

    func answer(_ number: UInt64, of app: AppIndex, _ refusal: AssertionRefusal?) {
        if let refusal {
            return channels.send(.refused(AssertionID(number), reason: RefusalReason(refusal)), to: app)
        }
        let isTask = self.app(app)?.heldAssertions.contains { $0.number == number && $0.kind == .task } ?? false
        let end = isTask ? core.taskTimeEnd(of: driver.id(of: app)) : nil
        channels.send(.granted(AssertionID(number), timeLeftMilliseconds: end.map(millisecondsLeft)), to: app)
    }

    func millisecondsLeft(until end: Instant) -> Int64 {
        let now = driver.now
        return end > now ? end.duration(since: now).wholeMilliseconds : 0
    }

    func isAdopted(_ app: AppIndex) -> Bool { catalog[driver.id(of: app)]?.isAdopted ?? false }

    func isReconnecting(_ app: AppIndex) -> Bool { self.app(app)?.isReconnecting ?? false }

    func isFirstHelloDue(_ app: AppIndex) -> Bool {
        guard let app = self.app(app) else { return false }
        return app.state.isAlive && !app.isConnected && app.policy.callbacks != .none
    }

    func replaceStoredDescriptors(of app: AppIndex) {
        guard let launch = processes.launch(of: app) else { return }
        DescriptorStore.discard(DescriptorStore.name(of: launch.token), log: log.log)
        storeDescriptors(of: app)
    }

    /// Has the service manager hold the pidfd and the channel of an app for a successor.
    func storeDescriptors(of app: AppIndex) {
        guard let launch = processes.launch(of: app) else { return }
        let descriptors = [launch.pidfd, channels.number(of: app)].compactMap { $0 }
        DescriptorStore.store(descriptors, for: launch.token, log: log.log)
    }
}
