public import AppChannel
internal import CLifecycle

/// A session with the descriptors and the signal that feed it.
///
/// Has no thread. Whoever owns it polls `fileDescriptor`, calls `receive()` when it is readable, and then takes events
/// until there are none. No call waits. SIGTERM belongs to the process, so there is one client in it that catches it.
///
/// A process that was forked and has not executed a program has a copy, which does nothing: the descriptors are the same
/// for both, so whatever it did, it would do to the one that it was forked from.
public final class Client {
    /// Who is to hear of SIGTERM.
    public enum Termination: Sendable {
        /// The client catches it, and has `.terminate` as its last event.
        case caught
        /// The app deals with it by itself.
        case leftToTheApp
    }

    var session: Session
    private let events: Poller
    private let waker: Waker
    private var channel: Channel?
    private var reconnection: Reconnection?
    private var isWaitingForRoom = false
    private var hasCaughtTermination = false
    private var hasClaimedProcess = false
    private let owner = lifecycle_process()

    /// A client on the channel that `LIFECYCLE_FD` names, or on none when the app was not launched by the daemon. When the
    /// channel ends, another one is had at the socket that `LIFECYCLE_SOCKET` names. `usesScenes` is as for the other
    /// initializer.
    ///
    /// Takes both variables out of the environment. Throws a `SystemError`, and leaves everything as it is for who tries
    /// again: EBUSY when there is such a client already or another one catches SIGTERM, EMFILE, ENFILE or ENOMEM when there
    /// are no descriptors left.
    public static func forThisProcess(
        _ termination: Termination, usesScenes: Bool = false
    ) throws(SystemError) -> Client {
        guard lifecycle_claim() else { throw SystemError(code: lifecycle_busy()) }
        do throws(SystemError) {
            let descriptor = lifecycle_find_channel()
            let path = unsafe lifecycle_find_socket_path().map { unsafe String(cString: $0) }
            let client = try Client(
                channel: descriptor >= 0 ? descriptor : nil, socketPath: path, usesScenes: usesScenes, termination)
            client.hasClaimedProcess = true
            lifecycle_adopt_environment(descriptor)
            return client
        } catch {
            lifecycle_disclaim()
            throw error
        }
    }

    /// A client on a connected stream socket, which it closes in the end, or on none; and the path of the socket where
    /// the daemon has another one for it, when that one has ended. Where there is no daemon to say so, `usesScenes` says
    /// whether the app has a life cycle for each of its scenes. When it throws, the descriptor is still the caller's.
    public init(
        channel descriptor: Int32?, socketPath: String? = nil, usesScenes: Bool = false, _ termination: Termination
    ) throws(SystemError) {
        session = Session(hasChannel: descriptor != nil, canResume: socketPath != nil, usesScenes: usesScenes)
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
        if hasCaughtTermination { lifecycle_termination_release() }
        hasCaughtTermination = false
        closeChannel()
        endReconnection()
        if hasClaimedProcess { lifecycle_disclaim() }
        hasClaimedProcess = false
    }

    /// Readable whenever there is something to do; stays the same for as long as the client is there.
    public var fileDescriptor: Int32 { events.descriptor }

    /// The state that the app is in, as it is to see it.
    public var state: ReportedState { session.state }

    /// Whether the daemon is there to decide over the app's state.
    public var isManaged: Bool { session.isManaged }

    /// The milliseconds that the app has left in the background, or nil when nothing limits it at present.
    ///
    /// What the daemon said last; it is asked again, so that a later look finds what has changed meanwhile.
    public var backgroundMillisecondsRemaining: Int64? {
        session.askForTimeLeft()
        flush()
        return session.backgroundMillisecondsRemaining(now: lifecycle_now_milliseconds())
    }

    /// Takes what has arrived since the last time, a limited amount at once: what is left keeps the descriptor readable.
    /// Events are to be taken afterwards, until there are none.
    public func receive() {
        guard isOwned else { return }
        waker.reset()
        if let channel {
            switch channel.receive() {
            case .bytes(let bytes):
                session.receive(bytes, now: lifecycle_now_milliseconds())
                if session.isOpen { reconnection?.reset() }
                flush()
            case .wouldBlock: flush()
            case .ended: endChannel()
            }
        } else if let reconnection, reconnection.takeTurn() {
            reconnect(reconnection)
        }
    }

    /// What the app is to be told next, or nil when there is nothing for now.
    public func nextEvent() -> SessionEvent? {
        guard isOwned else { return nil }
        if hasCaughtTermination, lifecycle_termination_take() { session.requestTermination() }
        return session.next()
    }

    /// The app has dealt with a callback.
    public func answer(_ callback: CallbackMessage, _ answer: CallbackAnswer = .plain) {
        session.answer(callback, answer)
        flush()
    }

    /// Asks for time in the background. The name is for people, who see the first 128 bytes of it.
    public func beginTask(name: String) -> AssertionID {
        defer { flushAndWake() }
        return session.beginTask(name: name)
    }

    /// Ends a task. One that is not there, or was ended before, is left alone.
    public func endTask(_ id: AssertionID) {
        session.endTask(id)
        flushAndWake()
    }

    /// Asks to be held in the background for as long as something of a declared kind lasts.
    public func beginActivity(mode: String) -> AssertionID {
        defer { flushAndWake() }
        return session.beginActivity(mode: mode)
    }

    /// Ends an activity. One that is not there, or was ended before, is left alone.
    public func endActivity(_ id: AssertionID) {
        session.endActivity(id)
        flushAndWake()
    }
}

extension Client {
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
        guard session.isManaged else { return endChannel() }
        if isWaitingForRoom == session.output.isEmpty {
            isWaitingForRoom.toggle()
            events.wantOutput(isWaitingForRoom, of: channel.descriptor)
        }
    }

    private func endChannel() {
        closeChannel()
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
        session.resume()
        flush()
    }

    private func endReconnection() {
        if let reconnection, isOwned { events.forget(reconnection.descriptor) }
        reconnection = nil
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

    /// For calls from outside of the events' turn: an event that came of one would wait for the daemon's next line.
    func flushAndWake() {
        flush()
        if session.hasEvents, isOwned { waker.wake() }
    }
}

extension Client {
    /// The scenes that the app has heard of and that are not closed for good, in the order in which it has.
    public var scenes: [SceneRecord] { session.allScenes }

    /// Asks for a scene: a new one, or the one with this id. Throws a `SceneRequestError`.
    public func openScene(_ id: SceneID?, role: String?, info: String?) throws(SceneRequestError) {
        try session.openScene(id, role: role, info: info)
        flushAndWake()
    }

    /// Asks to be rid of a scene. One that is not there is left alone.
    public func closeScene(_ id: SceneID) {
        session.closeScene(id)
        flushAndWake()
    }

    /// Says what a scene shows, to be given back with it when it is restored. Throws a `SceneRequestError`.
    public func setSceneInfo(_ info: String?, of id: SceneID) throws(SceneRequestError) {
        try session.setSceneInfo(info, of: id)
        flushAndWake()
    }
}
