public import AppChannel
internal import CAppClient
public import LifecycleTypes

/// A session with the descriptors and the signal that feed it. No call waits.
///
/// Its owner polls ``fileDescriptor``, calls ``receive()`` when it is readable, and then takes events until there are none. At most one
/// client catches SIGTERM. After a fork without execve(2), a client does nothing: it shares the parent's descriptors.
public final class AppClient {
    /// The handling of SIGTERM.
    public enum Termination: Sendable {
        /// The client catches SIGTERM, and has `.terminate` as its last event.
        case caught
        /// The app handles SIGTERM.
        case leftToTheApp
    }

    /// The time, in milliseconds, that an app that the daemon did not launch waits for its answer.
    private static let answerTime: Int64 = 1_000

    var session: AppSession
    private let events: Poller
    private let waker: Waker
    private var channel: Channel?
    private var reconnection: Reconnection?
    private var isWaitingForRoom = false
    private var hasCaughtTermination = false
    private var hasClaimedProcess = false
    /// A Boolean value that indicates whether the daemon did not launch the app, which must not wait for it.
    private let connectsItself: Bool
    /// A Boolean value that indicates whether the channel is inherited. Other processes may share it.
    private var sharesChannel: Bool
    private let owner = lifecycle_process()

    /// Creates the client of this process, on the channel that `LIFECYCLE_FD` names. If the daemon did not launch the app, the client
    /// connects to the socket of the user's daemon or else of the system's, and has no channel if neither is there. When the channel
    /// ends, the client connects again: to the socket that `LIFECYCLE_SOCKET` names if it is set.
    ///
    /// - Parameters:
    ///   - termination: The handling of SIGTERM.
    ///   - removesVariables: A Boolean value that indicates whether both variables are removed from the environment.
    ///   - usesScenes: A Boolean value that indicates whether an app without a daemon has a scene.
    /// - Returns: The only client of this kind in the process.
    /// - Throws: ``SystemError``, without a change: EBUSY if there is another such client or another client catches SIGTERM; EMFILE,
    ///   ENFILE or ENOMEM if the system has no descriptors left.
    public static func forThisProcess(
        _ termination: Termination, removesVariables: Bool = false, usesScenes: Bool = false
    ) throws(SystemError) -> AppClient {
        guard lifecycle_claim() else { throw SystemError(code: lifecycle_busy()) }
        do throws(SystemError) {
            let client: AppClient
            if let inheriting = try inherited(termination, usesScenes: usesScenes) {
                client = inheriting
            } else {
                client = try connected(termination, usesScenes: usesScenes)
            }
            client.hasClaimedProcess = true
            lifecycle_adopt_channel(client.channel?.descriptor ?? -1, removesVariables)
            return client
        } catch {
            lifecycle_disclaim()
            throw error
        }
    }

    /// Creates the client of an app with an inherited channel; nil if the process has none.
    private static func inherited(_ termination: Termination, usesScenes: Bool) throws(SystemError) -> AppClient? {
        let descriptor = lifecycle_claim_channel()
        guard descriptor >= 0 else { return nil }
        let path = unsafe lifecycle_find_socket_path().map { unsafe String(cString: $0) }
        do throws(SystemError) {
            return try AppClient(channel: descriptor, socketPath: path, usesScenes: usesScenes, termination)
        } catch {
            lifecycle_disclaim_channel(descriptor)
            throw error
        }
    }

    /// Creates the client of an app that has no channel by inheritance: on a connection to the daemon's socket for apps if it is there.
    private static func connected(
        _ termination: Termination, usesScenes: Bool
    ) throws(SystemError) -> AppClient {
        var index: Int32 = 0
        while let path = unsafe lifecycle_own_socket_path(index).map({ unsafe String(cString: $0) }) {
            let descriptor = unsafe path.withCString { unsafe lifecycle_connect($0) }
            index += 1
            guard descriptor >= 0 else { continue }
            do throws(SystemError) {
                let client = try AppClient(
                    channel: descriptor, socketPath: path, usesScenes: usesScenes, connectsItself: true, termination)
                client.reconnection?.schedule(inMilliseconds: Self.answerTime)
                return client
            } catch {
                lifecycle_close_descriptor(descriptor)
                throw error
            }
        }
        return try AppClient(channel: nil, usesScenes: usesScenes, termination)
    }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - descriptor: A connected stream socket, which the client closes; nil for none.
    ///   - socketPath: The path of the socket at which to connect again; nil for none.
    ///   - usesScenes: A Boolean value that indicates whether an app without a daemon has a scene.
    ///   - connectsItself: A Boolean value that indicates whether the daemon did not launch the app.
    /// - Throws: ``SystemError``; the descriptor is still the caller's.
    public init(
        channel descriptor: Int32?, socketPath: String? = nil, usesScenes: Bool = false, connectsItself: Bool = false,
        _ termination: Termination
    ) throws(SystemError) {
        self.connectsItself = connectsItself
        sharesChannel = descriptor != nil && !connectsItself
        session = AppSession(hasChannel: descriptor != nil, canResume: socketPath != nil, usesScenes: usesScenes)
        events = try Poller()
        waker = try Waker()
        try events.watch(waker.descriptor)
        if let descriptor { try events.watch(descriptor) }
        if descriptor != nil, let socketPath {
            let reconnection = try Reconnection(path: socketPath)
            self.reconnection = reconnection
            try events.watch(reconnection.descriptor)
        }
        if termination == .caught {
            guard lifecycle_termination_catch(waker.descriptor) == 0 else { throw .last }
            hasCaughtTermination = true
        }
        // Last, because a channel is closed with its client.
        channel = descriptor.map { Channel(descriptor: $0) }
        flushAndWake()
    }

    deinit {
        close()
    }

    /// Leaves SIGTERM as it was found, and closes the channel. Dropping the client does the same.
    public func close() {
        releaseTermination()
        closeChannel()
        endReconnection()
        if hasClaimedProcess { lifecycle_disclaim() }
        hasClaimedProcess = false
    }

    /// Gives SIGTERM its former handling.
    public func releaseTermination() {
        if hasCaughtTermination { lifecycle_termination_release() }
        hasCaughtTermination = false
    }

    /// Readable whenever there is something to do; stays the same for as long as the client is there.
    public var fileDescriptor: Int32 { events.descriptor }

    /// The state of the app.
    public var state: RunningState { session.state }

    /// A Boolean value that indicates whether the daemon manages the app.
    ///
    /// False before the answer for an app that the daemon did not launch.
    public var isManaged: Bool { session.isManaged && !(connectsItself && session.isUnanswered) }

    /// The milliseconds that the app has left in the background; nil without a limit.
    ///
    /// The last value from the daemon. Each read requests another one.
    public var backgroundMillisecondsRemaining: Int64? {
        session.askForTimeLeft()
        flush()
        return session.backgroundMillisecondsRemaining(now: lifecycle_now_milliseconds())
    }

    /// Receives a limited number of bytes; the rest keeps the descriptor readable.
    /// The caller then takes events until there are none.
    public func receive() {
        guard isOwned else { return }
        waker.reset()
        if let channel {
            if session.isUnanswered, reconnection?.consumeAttempt() == true { session.continueUnmanaged() }
            switch channel.receive() {
            case .bytes(let bytes):
                let wasUnanswered = session.isUnanswered
                session.receive(bytes, now: lifecycle_now_milliseconds())
                if sharesChannel, session.wasUnmanaged { return leaveChannel() }
                if wasUnanswered, !session.isUnanswered { reconnection?.cancel() }
                if session.isSettled { reconnection?.reset() }
                flush()
            case .wouldBlock: flush()
            case .ended: endChannel()
            }
        } else if let reconnection, reconnection.consumeAttempt() {
            reconnect(reconnection)
        }
    }

    /// Returns the next event; nil if there is none.
    public func nextEvent() -> AppSessionEvent? {
        guard isOwned else { return nil }
        if hasCaughtTermination, lifecycle_termination_take() { session.requestTermination() }
        return session.next()
    }

    /// Answers a callback.
    ///
    /// - Parameters:
    ///   - callback: A callback that ``nextEvent()`` has returned.
    ///   - answer: The answer, which the daemon gets with the number of the callback.
    public func answer(_ callback: CallbackMessage, _ answer: AppAnswer = .plain) {
        session.answer(callback, answer)
        flush()
    }

    /// Begins a background task.
    ///
    /// - Parameter name: The name for users; its first 128 bytes count.
    public func beginTask(name: String) -> AssertionID {
        defer { flushAndWake() }
        return session.beginTask(name: name)
    }

    /// Ends a task. An unknown task is ignored.
    public func endTask(_ id: AssertionID) {
        session.endTask(id)
        flushAndWake()
    }

    /// Begins an activity, during which the app is not suspended.
    ///
    /// - Parameter mode: A background mode that the manifest declares.
    public func beginActivity(mode: String) -> AssertionID {
        defer { flushAndWake() }
        return session.beginActivity(mode: mode)
    }

    /// Ends an activity. An unknown activity is ignored.
    public func endActivity(_ id: AssertionID) {
        session.endActivity(id)
        flushAndWake()
    }
}

extension AppClient {
    private var isOwned: Bool { lifecycle_process() == owner }

    /// Sends what there is room for; the rest goes when the descriptor is readable because there is room again.
    private func flush() {
        guard let channel, isOwned else { return }
        sending: while !session.output.isEmpty {
            switch channel.send(session.output) {
            case .sent(let count): session.didSend(count)
            case .wouldBlock: break sending
            case .ended:
                // The end comes after what has arrived already, which may be a goodbye.
                channel.shutDown()
                return session.didSend(session.output.count)
            }
        }
        // After the daemon's goodbye nothing more comes.
        guard session.needsChannel else { return endChannel() }
        if isWaitingForRoom == session.output.isEmpty {
            isWaitingForRoom.toggle()
            events.wantOutput(isWaitingForRoom, of: channel.descriptor)
        }
    }

    private func endChannel() {
        closeChannel()
        if connectsItself, session.isUnanswered { session.continueUnmanaged() }
        session.channelDidEnd()
        if session.isLost {
            reconnection?.schedule()
        } else {
            endReconnection()
        }
    }

    private func reconnect(_ reconnection: Reconnection) {
        guard session.isLost, let channel = reconnection.connect() else { return reconnection.schedule() }
        do throws(SystemError) {
            try events.watch(channel.descriptor)
        } catch {
            lifecycle_close_descriptor(channel.descriptor)
            return reconnection.schedule()
        }
        self.channel = channel
        sharesChannel = false
        session.resume()
        flush()
    }

    private func endReconnection() {
        if let reconnection, isOwned { events.forget(reconnection.descriptor) }
        reconnection = nil
    }

    /// Leaves an inherited channel to the app: the daemon does not manage this process, which shares it.
    private func leaveChannel() {
        guard let channel else { return }
        events.forget(channel.descriptor)
        lifecycle_abandon_channel(channel.descriptor)
        self.channel = nil
        isWaitingForRoom = false
        session.leaveChannel()
        endReconnection()
    }

    private func closeChannel() {
        guard let channel else { return }
        if isOwned {
            events.forget(channel.descriptor)
            // A process that was forked has the channel, too, and would keep it from ending.
            channel.shutDown()
        }
        lifecycle_close_descriptor(channel.descriptor)
        self.channel = nil
        isWaitingForRoom = false
    }

    /// Sends the output, and wakes the loop for an event that a call of the app caused. Such an event would wait for
    /// the daemon's next line.
    func flushAndWake() {
        flush()
        if session.hasEvents, isOwned { waker.wake() }
    }
}

extension AppClient {
    /// The known scenes, in the order of their first connection.
    public var scenes: [SceneRecord] { session.allScenes }

    /// Requests a scene: a new one, or the scene with this id.
    ///
    /// - Parameters:
    ///   - id: The id of the scene; nil for a new scene with a free id.
    ///   - role: The role of a new scene; nil for the default.
    ///   - info: The content of the scene, in the app's own format; nil for none.
    /// - Throws: ``SceneRequestError``.
    public func openScene(_ id: SceneID?, role: String?, info: String?) throws(SceneRequestError) {
        try session.openScene(id, role: role, info: info)
        flushAndWake()
    }

    /// Requests the end of a scene. An unknown scene is ignored.
    public func closeScene(_ id: SceneID) {
        session.closeScene(id)
        flushAndWake()
    }

    /// Sets the content of a scene, which the app gets back with the restored scene.
    ///
    /// - Parameters:
    ///   - info: The content, in the app's own format; nil for none.
    ///   - id: The scene.
    /// - Throws: ``SceneRequestError``.
    public func setSceneInfo(_ info: String?, of id: SceneID) throws(SceneRequestError) {
        try session.setSceneInfo(info, of: id)
        flushAndWake()
    }
}
