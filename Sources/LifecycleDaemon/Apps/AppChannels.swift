import AppChannel
import CLinux
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Tells the channels about the apps, and learns that a lost channel is back.
protocol ChannelDelegate: AnyObject {
    /// A Boolean value that indicates whether the app has lost its channel and is expected to reconnect.
    func isReconnecting(_ id: AppID) -> Bool
    /// A Boolean value that indicates whether the app runs and has not said hello. A former daemon may have lost it.
    func isFirstHelloDue(_ id: AppID) -> Bool
    /// Stores the descriptors of a reconnected app for a successor.
    func storeDescriptors(of id: AppID)
}

/// The channels of the running apps. Each app has inherited its end from the daemon, so its identity is certain.
final class AppChannels {
    weak var delegate: (any ChannelDelegate)?

    private let loop: EventLoop
    private let log: LifecycleLog
    private let core: any InputHandler
    private let store: any StateStore
    private var connections: [AppID: AppConnection] = [:]
    /// Apps whose channel has ended since their launch.
    private var ended: Set<AppID> = []
    /// Apps whose channel the daemon has closed since their launch; they may not reconnect.
    private var dismissed: Set<AppID> = []

    init(loop: EventLoop, log: LifecycleLog, core: any InputHandler, store: any StateStore) {
        self.loop = loop
        self.log = log
        self.core = core
        self.store = store
    }

    /// - Returns: The app's end; nil if there is none, and the app runs without.
    func open(_ id: AppID) -> Descriptor? {
        close(id)
        ended.remove(id)
        dismissed.remove(id)
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        let appsEnd = Descriptor(owning: ends[1])
        restore(Descriptor(owning: ends[0]), of: id, state: ChannelState())
        return appsEnd
    }

    func restore(_ descriptor: consuming Descriptor, of id: AppID, state: ChannelState) {
        connections[id] = try? AppConnection(descriptor, state: state, loop: loop) { [weak self] event in
            self?.handle(event, of: id)
        }
    }

    /// Accepts the connection of an app that has lost its channel. An app with a channel keeps that.
    func admit(_ descriptor: consuming Descriptor, of id: AppID) {
        if connections[id] == nil { restore(descriptor, of: id, state: ChannelState()) }
    }

    /// Welcomes a restored app again. A second welcome makes the app repeat its assertions, which may have been lost.
    ///
    /// - Returns: The last callback that was written to the channel; nil if the app has no channel.
    func welcomeAgain(_ id: AppID) -> UInt64? {
        guard let state = state(of: id) else { return nil }
        if let version = state.version { send(.welcome(version: version, appID: id.name), to: id) }
        return state.toldSequence
    }

    func close(_ id: AppID) { connections.removeValue(forKey: id)?.close() }
    func send(_ message: MessageToApp, to id: AppID) { connections[id]?.send(message) }

    func send(_ callback: CallbackMessage, sequence: UInt64, to id: AppID) {
        connections[id]?.send(.callback(callback), sequence: sequence)
    }

    func number(of id: AppID) -> Int32? { connections[id]?.number }
    func state(of id: AppID) -> ChannelState? { connections[id]?.state }

    private func report(_ message: AppMessage, from id: AppID) { core.handle(.message(id, message)) }

    private func handle(_ event: AppConnection.Event, of id: AppID) {
        switch event {
        case .message(.hello(let version, let resume)): greet(id, version: version, resume: resume)
        case .message(let message): report(AppMessage(message), from: id)
        case .mistake(let mistake, let count): log.write(mistake: mistake, count: count, by: id)
        case .changed: if let state = state(of: id) { store.save(.channel, state.saved(id)) }
        case .closed:
            // Nothing is reported of a channel that the daemon closed because its app has ended.
            guard let connection = connections.removeValue(forKey: id) else { return }
            ended.insert(id)
            if connection.isDismissed { dismissed.insert(id) }
            report(.closed, from: id)
        }
    }

    private func greet(_ id: AppID, version: Int64, resume: SequenceNumber?) {
        let isDue = resume?.rawValue == 0 && !ended.contains(id) && delegate?.isFirstHelloDue(id) == true
        let isFirst = resume == nil || isDue
        guard isFirst || (delegate?.isReconnecting(id) == true && !dismissed.contains(id)) else {
            send(.goodbye(reason: .notExpected), to: id)
            return close(id)
        }
        send(.welcome(version: min(version, AppProtocol.version), appID: id.name), to: id)
        guard let resume else { return report(.hello, from: id) }
        delegate?.storeDescriptors(of: id)
        report(isFirst ? .hello : .reconnected(lastSequence: UInt64(clamping: resume.rawValue)), from: id)
    }
}

/// The progress of the conversation on an app's channel.
struct ChannelState: Equatable {
    /// The version of the protocol; nil before the app has said hello.
    var version: Int64?
    var mistakes = 0
    /// The number of the last callback that was written to the socket.
    var toldSequence: UInt64 = 0

    var hasSaidHello: Bool { version != nil }
}

extension ChannelState {
    func saved(_ id: AppID) -> SavedRecord {
        SavedRecord([
            "id": id.name, "version": version.map { String($0) }, "mistakes": mistakes > 0 ? String(mistakes) : nil,
            "told": String(toldSequence),
        ])
    }

    init(_ record: SavedRecord) {
        version = record["version"].flatMap { Int64($0) }
        mistakes = record["mistakes"].flatMap { Int($0) }.map { min(max(0, $0), AppConnection.mistakeLimit) } ?? 0
        toldSequence = record["told"].flatMap { UInt64($0) } ?? 0
    }
}

/// The socket on which apps reconnect whose channel was lost with a former daemon.
///
/// The kernel identifies the process that connects. A process of no app gets no answer.
final class ReturnSocket {
    private let path: String
    private let descriptor: Descriptor
    private let admit: (consuming Descriptor, ProcessID) -> Void
    private let loop: EventLoop
    private var source: IOSource?
    private var retry: TimerSource?

    /// The pause after a failure to accept, in microseconds.
    private static let retryDelay: UInt64 = 250_000
    private static let batchSize = 16

    /// - Parameter admit: Called with a connection while its process cannot be reaped, so that the pid stays its own.
    init(
        at path: String, mode: mode_t, loop: EventLoop, admit: @escaping (consuming Descriptor, ProcessID) -> Void
    ) throws {
        self.path = path
        self.admit = admit
        self.loop = loop
        descriptor = try UnixListener.open(at: path, mode: mode)
        source = try loop.watch(descriptor: descriptor.rawValue, events: .readable) { [weak self] _ in self?.accept() }
        retry = try loop.timer { [weak self] in self?.source?.isEnabled = true }
    }

    func close() {
        source?.cancel()
        _ = unsafe unlink(path)
    }

    private func accept() {
        for _ in 0..<Self.batchSize {
            let number = linux_accept(descriptor.rawValue)
            switch -number {
            case ...0: identify(Descriptor(owning: number))
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            default: return pause()
            }
        }
    }

    /// Stops accepting for a while: without a descriptor or memory the socket stays readable, and the loop would spin.
    private func pause() {
        source?.isEnabled = false
        retry?.arm(atMicroseconds: loop.freshNow + Self.retryDelay)
    }

    private func identify(_ connection: consuming Descriptor) {
        let number = connection.rawValue
        guard let peer = PeerCredentials(of: number), let process = PeerProcess(of: number, number: peer.process),
            process.lives
        else { return }
        admit(connection, peer.process)
        extendLifetime(process)
    }
}
