import AppChannel
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The channels of the running apps: who the apps are is certain, because each got its end from the daemon.
final class AppChannels {
    private let loop: EventLoop
    private let log: LifecycleLog
    private let report: (AppID, AppMessage) -> Void
    private var connections: [AppID: AppConnection] = [:]
    /// The apps that had a channel of this daemon which ended; cleared by the next launch.
    private var ended: Set<AppID> = []
    /// Those of them whose channel the daemon has closed; they are not expected back.
    private var dismissed: Set<AppID> = []

    /// Told when what is kept of a channel has changed.
    var onChange: (AppID, ChannelState) -> Void = { _, _ in }

    /// Whether an app that has lost its channel is expected to come back.
    var isAwaited: (AppID) -> Bool = { _ in false }
    /// Whether an app runs and has not said hello, perhaps because the daemon that would have heard it was killed.
    var isFirstHelloDue: (AppID) -> Bool = { _ in false }
    /// Told when an app has a channel that nobody keeps yet.
    var onReturn: (AppID) -> Void = { _ in }

    /// - Parameter report: Told what the apps say.
    init(loop: EventLoop, log: LifecycleLog, report: @escaping (AppID, AppMessage) -> Void) {
        self.loop = loop
        self.log = log
        self.report = report
    }

    /// Makes a channel for a launch.
    ///
    /// - Returns: The app's end, to be inherited, or nil where no channel can be had; the app then does without.
    func open(_ id: AppID) -> Descriptor? {
        close(id)
        ended.remove(id)
        dismissed.remove(id)
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        let appsEnd = Descriptor(owning: ends[1])
        adopt(Descriptor(owning: ends[0]), of: id, state: ChannelState())
        return appsEnd
    }

    /// Takes the daemon's end of a channel that another daemon has had.
    func adopt(_ descriptor: consuming Descriptor, of id: AppID, state: ChannelState) {
        connections[id] = try? AppConnection(descriptor, state: state, loop: loop) { [weak self] event in
            self?.take(event, from: id)
        }
    }

    /// Has an app whose channel was taken over say again what may have been lost on the way: one that hears a second
    /// welcome repeats what holds it.
    func welcomeAgain(_ id: AppID) {
        guard let version = state(of: id)?.version else { return }
        send(.welcome(version: version, appID: id.name), to: id)
    }

    /// Takes the connection of an app that has lost its channel. One that has a channel needs no other.
    func admit(_ descriptor: consuming Descriptor, of id: AppID) {
        if connections[id] == nil { adopt(descriptor, of: id, state: ChannelState()) }
    }

    /// Forgets the channel of an app that is gone.
    func close(_ id: AppID) {
        connections.removeValue(forKey: id)?.close()
    }

    func send(_ message: MessageToApp, to id: AppID) {
        connections[id]?.send(message)
    }

    func send(_ callback: CallbackMessage, sequence: UInt64, to id: AppID) {
        connections[id]?.send(.callback(callback), sequence: sequence)
    }

    /// The daemon's end of an app's channel, for keeping it open elsewhere.
    func number(of id: AppID) -> Int32? { connections[id]?.number }

    /// What is kept of the app's channel.
    func state(of id: AppID) -> ChannelState? { connections[id]?.state }

    private func take(_ event: AppConnection.Event, from id: AppID) {
        switch event {
        case .message(.hello(let version, let resume)): greet(id, version: version, resume: resume)
        case .message(let message):
            if let message = AppMessage(message) { report(id, message) }
        case .mistake(let mistake, let count): log.write(mistake: mistake, count: count, by: id)
        case .changed: if let state = state(of: id) { onChange(id, state) }
        case .closed:
            // A channel that was closed because its app is gone is none any more.
            guard let connection = connections.removeValue(forKey: id) else { return }
            ended.insert(id)
            if connection.isDismissed { dismissed.insert(id) }
            report(id, .closed)
        }
    }

    private func greet(_ id: AppID, version: Int64, resume: SequenceNumber?) {
        let isFirst = resume == nil || (resume?.rawValue == 0 && !ended.contains(id) && isFirstHelloDue(id))
        // It may have been dismissed, or have had no channel from the beginning.
        guard isFirst || (isAwaited(id) && !dismissed.contains(id)) else {
            send(.goodbye(reason: .notExpected), to: id)
            return close(id)
        }
        send(.welcome(version: min(version, AppProtocol.version), appID: id.name), to: id)
        if isFirst {
            // The channel was made again, and is not kept yet.
            if resume != nil { onReturn(id) }
            return report(id, .hello)
        }
        guard let resume else { return }
        onReturn(id)
        report(id, .back(lastSequence: UInt64(clamping: resume.rawValue)))
    }
}
