import AppChannel
import CLinux
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The channels of the running apps. Each app has inherited its end from the daemon, so its identity is certain.
final class AppChannels {
    let core: CoreDriver
    let processes: AppProcesses
    private let catalog: AppCatalog
    private let log: any JournalSink
    let unmanaged: UnmanagedApps
    var arrivals: [Arrival] = []
    private var connections: [AppIndex: AppConnection] = [:]
    /// The apps whose lines were passed on and are still in the socket.
    private var unconfirmed: Set<AppIndex> = []
    private var marks: [AppIndex: Marks] = [:]
    /// The processes that had the channels that have ended, of the launches that go on.
    private(set) var previousProcesses: [AppIndex: ProcessID] = [:]

    /// The events that decide how the next hello of an app is taken, since its launch.
    private struct Marks: OptionSet {
        let rawValue: UInt8

        /// The channel has ended.
        static let ended = Marks(rawValue: 1)
        /// The daemon has closed the channel. The app may not reconnect.
        static let dismissed = Marks(rawValue: 2)
        /// The app connected before it was adopted, and has not said hello since: the next hello is the first.
        static let newlyAdopted = Marks(rawValue: 4)
    }

    init(core: CoreDriver, catalog: AppCatalog, processes: AppProcesses, log: any JournalSink) {
        self.core = core
        self.catalog = catalog
        self.processes = processes
        self.log = log
        unmanaged = UnmanagedApps(events: core.events)
    }

    /// Opens the channel of a launch.
    ///
    /// - Returns: The app's end; nil if there is none, and the app runs without.
    func open(_ app: AppIndex, launched: Instant?) -> Descriptor? {
        forget(app)
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        let appsEnd = Descriptor(owning: ends[1])
        restore(Descriptor(owning: ends[0]), of: app, progress: ChannelProgress(launched: launched))
        return appsEnd
    }

    func restore(_ descriptor: consuming Descriptor, of app: AppIndex, progress: ChannelProgress) {
        connections[app] = try? AppConnection(descriptor, of: app, progress: progress, events: core.events)
    }

    /// Accepts the connection of an app without a channel.
    ///
    /// - Parameters:
    ///   - process: The process that has connected.
    ///   - isNew: A Boolean value that indicates whether the app was adopted after it had connected.
    func connect(
        _ descriptor: consuming Descriptor, of app: AppIndex, connectedBy process: ProcessID, isNew: Bool = false
    ) {
        if isNew { marks[app] = .newlyAdopted }
        restore(descriptor, of: app, progress: ChannelProgress(process: process))
    }

    /// Remembers the process that had the channel with the previous daemon.
    func remember(_ process: ProcessID, of app: AppIndex) { previousProcesses[app] = process }

    /// Welcomes a restored app again. A second welcome makes the app repeat its assertions, which may have been lost.
    ///
    /// - Returns: The last callback that was written to the channel; nil if the app has no channel, or has closed it meanwhile.
    func welcomeAgain(_ app: AppIndex) -> UInt64? {
        guard let progress = progress(of: app) else { return nil }
        if let version = progress.version { send(.welcome(version: version, appID: core.id(of: app).name), to: app) }
        return self.progress(of: app)?.toldSequence
    }

    /// Forgets an app that is not known any more.
    func forget(_ app: AppIndex) {
        close(app)
        marks[app] = nil
        previousProcesses[app] = nil
    }

    /// Closes the channel of an app that has ended. Nothing is reported of it.
    func close(_ app: AppIndex) { connections.removeValue(forKey: app)?.close() }

    func send(_ message: MessageToApp, sequence: UInt64? = nil, to app: AppIndex) {
        connections[app]?.send(message, sequence: sequence)
        settle(app)
    }

    func number(of app: AppIndex) -> Int32? { connections[app]?.number }
    func progress(of app: AppIndex) -> ChannelProgress? { connections[app]?.progress }

    func isOpen(_ app: AppIndex) -> Bool { connections[app] != nil }

    /// Writes and reads what the socket of an app is ready for.
    func proceed(with app: AppIndex, _ ready: IOEvents) {
        guard let connection = connections[app] else { return }
        connection.proceed(ready)
        handleLines(of: app, connection)
    }

    /// Reads more of what the app has sent, or the end of its channel, which may not have been seen yet.
    ///
    /// - Returns: Whether there was more.
    func readMore(of app: AppIndex) -> Bool {
        guard let connection = connections[app] else { return false }
        let hasRead = connection.read().hasRead
        handleLines(of: app, connection)
        return hasRead
    }

    private func handleLines(of app: AppIndex, _ connection: AppConnection) {
        unconfirmed.insert(app)
        while let event = connection.next() { handle(event, of: app) }
        settle(app)
    }

    /// Saves the progress that an operation on a channel has made, and reports its end.
    private func settle(_ app: AppIndex) {
        guard let connection = connections[app] else { return }
        if let progress = connection.takeNewProgress() {
            core.store.save(.channel, progress.saved, of: core.id(of: app))
        }
        guard !connection.isOpen else { return }
        connections[app] = nil
        marks[app] = connection.isDismissed ? [.ended, .dismissed] : marks(of: app).union(.ended)
        previousProcesses[app] = connection.progress.process
        report(.closed, from: app)
    }

    /// Takes the lines from the sockets that the core has handled.
    func confirm() {
        for app in unconfirmed {
            connections[app]?.confirm()
            settle(app)
        }
        unconfirmed.removeAll(keepingCapacity: true)
    }

    private func marks(of app: AppIndex) -> Marks { marks[app] ?? [] }

    private func report(_ message: AppMessage, from app: AppIndex) { core.append(.message(app, message)) }

    private func handle(_ event: AppConnection.Event, of app: AppIndex) {
        switch event {
        case .hello(let version, let resume, let sender):
            greet(app, version: version, resume: resume, sender: sender)
        case .message(let message): report(AppMessage(message), from: app)
        case .mistake(let mistake, let count):
            let id = core.id(of: app)
            log.write(mistake: mistake, count: count, by: id, member: catalog.member(behind: id))
        }
    }

    private func greet(
        _ app: AppIndex, version: Int64, resume: SequenceNumber?, sender: ProcessID?
    ) {
        // Every program below an app inherits the channel, unless the app closes it.
        if let sender, !mayConnect(sender, as: app) { return send(.unmanaged, to: app) }
        let marks = marks(of: app)
        self.marks[app]?.remove(.newlyAdopted)
        let machine = core.app(app)
        let isDue = resume?.rawValue == 0 && !marks.contains(.ended) && machine?.isFirstHelloDue == true
        let isFirst = resume == nil || isDue || marks.contains(.newlyAdopted)
        guard isFirst || (machine?.isReconnecting == true && !marks.contains(.dismissed)) else {
            send(.goodbye(reason: .notExpected), to: app)
            return close(app)
        }
        // The descriptors of a launched app are stored at its launch.
        if resume != nil || machine?.policy.isAdopted == true { replaceStoredDescriptors(of: app) }
        if !isFirst, let resume {
            report(.reconnected(lastSequence: UInt64(clamping: resume.rawValue)), from: app)
        } else {
            report(.hello, from: app)
        }
        connections[app]?.accept(version: version, from: sender)
        // An app that is gone already ends its channel here, after its hello.
        send(.welcome(version: min(version, AppProtocol.version), appID: core.id(of: app).name), to: app)
    }
}

extension AppMachine {
    /// True for an app that runs and has not said hello. The previous daemon may have lost it.
    fileprivate var isFirstHelloDue: Bool { state.isAlive && !isConnected && policy.callbacks != .none }
}

// MARK: - Descriptors for the next daemon

extension AppChannels {
    /// Has the service manager hold the pidfd and the channel of an app for the next daemon.
    func storeDescriptors(of app: AppIndex) {
        guard let launch = processes.launch(of: app) else { return }
        let descriptors = [launch.pidfd, number(of: app)].compactMap { $0 }
        DescriptorStore.store(descriptors, for: launch.token, log: log)
    }

    /// Stores the descriptors of an app with a new channel, in place of those with the channel before.
    private func replaceStoredDescriptors(of app: AppIndex) {
        guard let launch = processes.launch(of: app) else { return }
        DescriptorStore.discard(DescriptorStore.name(of: launch.token), log: log)
        storeDescriptors(of: app)
    }
}

/// The progress of the conversation on an app's channel.
nonisolated struct ChannelProgress: Equatable {
    /// The instant of the launch whose channel it is; nil if it is not known.
    var launched: Instant?
    /// The version of the protocol; nil before the app has said hello.
    var version: Int64?
    var mistakes = 0
    /// The number of the last callback that was written to the socket.
    var toldSequence: UInt64 = 0
    /// The process that said hello, or has connected; nil if it is not known.
    var process: ProcessID?

    var hasSaidHello: Bool { version != nil }
}

nonisolated extension ChannelProgress {
    /// The progress as it is saved.
    var saved: SavedRecord {
        var (writer, progress) = (SavedCoder(), self)
        progress.code(with: &writer)
        return writer.record
    }

    /// Reads a record.
    init(_ saved: SavedRecord) {
        var reader = SavedCoder(reading: saved)
        code(with: &reader)
    }

    /// Writes or reads the values: the table of a saved channel.
    private mutating func code(with coder: inout SavedCoder) {
        version = coder.number("version", version.flatMap { UInt64(exactly: $0) }).flatMap { Int64(exactly: $0) }
        let mistakes = coder.number("mistakes", UInt64(clamping: mistakes)) ?? 0
        self.mistakes = min(Int(clamping: mistakes), AppConnection.mistakeLimit)
        toldSequence = coder.number("told", toldSequence) ?? 0
        coder.instant("launched", &launched)
        process = coder.number("process", process.flatMap { UInt64(exactly: $0) }).flatMap { ProcessID(exactly: $0) }
    }
}
