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
    /// A Boolean value that indicates whether the daemon adopted the app.
    func isAdopted(_ id: AppID) -> Bool
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
    /// Apps whose next hello is their first: they connected before they were adopted.
    private var newlyAdopted: Set<AppID> = []

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

    /// Accepts the connection of an app without a channel. An app with a channel keeps that.
    ///
    /// - Parameter isNew: A Boolean value that indicates whether the app was adopted after it had connected.
    func admit(_ descriptor: consuming Descriptor, of id: AppID, isNew: Bool = false) {
        guard connections[id] == nil else { return }
        if isNew { newlyAdopted.insert(id) }
        restore(descriptor, of: id, state: ChannelState())
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
        case .changed: if let state = state(of: id) { store.save(state, of: id) }
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
        let isFirst = resume == nil || isDue || newlyAdopted.remove(id) != nil
        guard isFirst || (delegate?.isReconnecting(id) == true && !dismissed.contains(id)) else {
            send(.goodbye(reason: .notExpected), to: id)
            return close(id)
        }
        send(.welcome(version: min(version, AppProtocol.version), appID: id.name), to: id)
        // The descriptors of a launched app are stored at its launch.
        if resume != nil || delegate?.isAdopted(id) == true { delegate?.storeDescriptors(of: id) }
        guard !isFirst, let resume else { return report(.hello, from: id) }
        report(.reconnected(lastSequence: UInt64(clamping: resume.rawValue)), from: id)
    }
}

/// The progress of the conversation on an app's channel.
nonisolated struct ChannelState: Equatable {
    /// The version of the protocol; nil before the app has said hello.
    var version: Int64?
    var mistakes = 0
    /// The number of the last callback that was written to the socket.
    var toldSequence: UInt64 = 0

    var hasSaidHello: Bool { version != nil }
}

nonisolated extension ChannelState {
    func saved(_ id: AppID) -> SavedRecord {
        SavedRecord([
            "id": id.name, "version": version.map { String($0) }, "mistakes": mistakes > 0 ? String(mistakes) : nil,
            "told": String(toldSequence),
        ])
    }

    /// Adds the state to a slot of the state file.
    func write(of id: AppID, to slot: inout SlotWriter) {
        var saved = SavedChannel(app: id, self)
        saved.code(with: &slot)
    }

    /// Returns the state in a slot, and its app; nil if the bytes are none.
    nonisolated static func read(_ bytes: ArraySlice<UInt8>) -> (AppID, ChannelState)? {
        var reader = SlotReader(bytes)
        var saved = SavedChannel()
        saved.code(with: &reader)
        guard let app = saved.app, !app.name.isEmpty else { return nil }
        var state = ChannelState()
        state.version = saved.version.flatMap { Int64(exactly: $0) }
        state.mistakes = min(Int(clamping: saved.mistakes ?? 0), AppConnection.mistakeLimit)
        state.toldSequence = saved.toldSequence ?? 0
        return (app, state)
    }

    init(_ record: SavedRecord) {
        version = record["version"].flatMap { Int64($0) }
        mistakes = record["mistakes"].flatMap { Int($0) }.map { min(max(0, $0), AppConnection.mistakeLimit) } ?? 0
        toldSequence = record["told"].flatMap { UInt64($0) } ?? 0
    }
}

/// The progress of a conversation as it is saved in a slot.
private nonisolated struct SavedChannel {
    var app: AppID?
    var version: UInt64?
    var mistakes: UInt64?
    var toldSequence: UInt64?

    init() {}

    init(app: AppID, _ state: ChannelState) {
        self.app = app
        version = state.version.flatMap { UInt64(exactly: $0) }
        mistakes = UInt64(clamping: state.mistakes)
        toldSequence = state.toldSequence
    }

    /// Writes or reads the values: the table of a saved channel.
    mutating func code(with coder: inout some SavedCoder) {
        coder.item("id", &app)
        coder.number("version", &version)
        coder.number("mistakes", &mistakes)
        coder.number("told", &toldSequence)
    }
}
