import LifecycleCore
import Processes
import Systemd

/// The admission of processes that connect to the socket for apps.
extension AppChannels {
    /// A process that has connected for an app, whose channel may have ended without notice: what was sent on it is handled before.
    struct Arrival {
        let peer: PeerConnection
        let app: AppIndex
        let resumes: Bool
        var reads = 0
        var hasReadAll = false
    }

    /// The number of reads for an app that goes on sending.
    private static let readLimit = 8

    /// Accepts a connection: of an app without a channel, or of an app that the daemon does not manage yet.
    ///
    /// - Parameter resumes: Whether the hello of the process resumes a channel.
    func admit(_ peer: PeerConnection, resumes: Bool = false) {
        switch processes.owner(of: peer.credentials.process) {
        case .app(let id):
            guard let app = core.index(of: id), peer.lives else { return }
            guard mayConnect(peer.credentials.process, as: app) else { return unmanaged.add(peer) }
            arrivals.append(Arrival(peer: peer, app: app, resumes: resumes))
        case .noApp: unmanaged.add(peer)
        case .unknown: break
        }
    }

    /// Reads from a process that awaits its admission.
    func admit(_ connection: Int32, _ ready: IOEvents) {
        if let peer = unmanaged.read(connection, ready) { admit(peer, resumes: true) }
    }

    /// Reads once for each process that has arrived, or admits it if there is no more. The inputs of the round before are handled.
    func admitArrivals() {
        let present = arrivals
        arrivals = []
        for var arrival in present {
            guard !arrival.hasReadAll else {
                settle(arrival)
                continue
            }
            arrival.reads += 1
            // The end of the channel is an input, too.
            arrival.hasReadAll = !readMore(of: arrival.app) || arrival.reads == Self.readLimit
            arrivals.append(arrival)
        }
    }

    private func settle(_ arrival: Arrival) {
        guard !isOpen(arrival.app) else { return unmanaged.add(arrival.peer) }
        guard arrival.resumes || !isExpected(of: arrival.app, other: arrival.peer.credentials.process) else {
            return unmanaged.add(arrival.peer, awaitsHello: true)
        }
        connect(arrival.peer, to: arrival.app)
    }

    private func connect(_ peer: PeerConnection, to app: AppIndex, isNew: Bool = false) {
        guard let descriptor = peer.takeDescriptor() else { return }
        connect(descriptor, of: app, connectedBy: peer.credentials.process, isNew: isNew)
    }

    /// Returns whether another process of the app had the channel, and can reconnect.
    private func isExpected(of app: AppIndex, other process: ProcessID) -> Bool {
        guard core.app(app)?.isReconnecting == true, let previous = previousProcesses[app], previous != process,
            let status = try? ProcessStatus(of: previous), !status.isZombie
        else { return false }
        // The number may belong to a later process.
        return processes.owner(of: previous) == .app(core.id(of: app))
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
        guard let machine = core.app(app), machine.policy.callbacks != .none else { return false }
        guard let main = processes.pid(of: app), main != process else { return true }
        do throws(Errno) {
            // The end of the main process may not have been seen yet.
            guard let status = try ProcessStatus(of: main), !status.isZombie else { return true }
            return try status.session == ProcessStatus(of: process)?.session
        } catch {
            return false
        }
    }
}
