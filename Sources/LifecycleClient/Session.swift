public import AppChannel

/// An app's side of the app protocol: bytes and the time go in, events and bytes come out.
///
/// Knows no descriptor and no clock. Both client libraries are made of it, and what an app is told is decided here.
public struct Session: Sendable {
    enum Channel {
        /// There is none: nobody is told anything, and every task is granted.
        case none
        /// `hello` was said.
        case greeted
        /// `welcome` was heard.
        case open
        /// It has ended with the daemon. The next daemon has another one.
        case lost
        /// It was there and is no more; the app goes on as it is.
        case closed
    }

    private enum Termination {
        case none
        case requested
        case delivered
    }

    /// What there is to send may grow to this many bytes before tasks are refused here.
    static let outputLimit = 64 << 10

    /// While there is no channel, so many tasks and activities may wait for one before others are refused here.
    static let waitingLimit = 256

    /// A channel that ends so many times in a row before it is welcomed is not asked for again. That the daemon dies just
    /// then is unlikely, so many times.
    static let refusalLimit = 10

    /// The state that the app is in, as it is to see it.
    public private(set) var state = ReportedState.inactive

    /// The bytes to send, in the order in which they are to be sent.
    public internal(set) var output: [UInt8] = []

    var channel = Channel.none
    private var termination = Termination.none
    private var input = LineBuffer()
    var events: [SessionEvent] = []
    var assertions = AssertionTable()
    var answers = AnswerLog()
    var scenes = SceneTable()
    /// The requests for scenes that wait for a channel.
    var waitingScenes: [MessageFromApp] = []
    let usesScenes: Bool
    private let canResume: Bool
    var refusals = 0
    /// When the time in the background is used up, in milliseconds of the caller's clock.
    var backgroundEnd: Int64?
    /// Whether the daemon was asked how much time is left and has not answered; false where there is no open channel.
    var isAskingForTime = false

    /// A session of an app that was launched by the daemon, or of one that was not and is as if launched to the front.
    ///
    /// One that `canResume` waits for `resume()` when its channel has ended. Where there is no daemon to say so,
    /// `usesScenes` says whether the app has a life cycle for each of its scenes.
    public init(hasChannel: Bool, canResume: Bool = false, usesScenes: Bool = false) {
        self.canResume = canResume
        self.usesScenes = usesScenes
        if hasChannel {
            channel = .greeted
            send(.hello(version: AppProtocol.version, resume: nil))
        } else {
            launchToFront()
        }
    }

    /// Whether the daemon is there to decide over the app's state.
    public var isManaged: Bool {
        switch channel {
        case .greeted, .open, .lost: true
        case .none, .closed: false
        }
    }

    /// Whether the channel has ended and another one is to be had.
    public var isLost: Bool {
        if case .lost = channel { true } else { false }
    }

    /// Whether the daemon has welcomed the app on the present channel.
    public var isOpen: Bool {
        if case .open = channel { true } else { false }
    }

    /// Whether `next()` has something to give.
    public var hasEvents: Bool { termination == .requested || (termination == .none && !events.isEmpty) }

    /// What the app is to be told next, or nil when there is nothing for now.
    ///
    /// A request to terminate is the next event whatever else is waiting, and the last.
    public mutating func next() -> SessionEvent? {
        switch termination {
        case .requested:
            termination = .delivered
            return .terminate
        case .delivered:
            return nil
        case .none:
            return nextOfDaemon()
        }
    }

    private mutating func nextOfDaemon() -> SessionEvent? {
        while !events.isEmpty {
            let event = events.removeFirst()
            switch event {
            case .callback(let callback):
                state = callback.state
                scenes.begin(callback)
            case .expire(let id, _): if !assertions.hasTask(id) { continue }
            case .refused, .terminate: break
            }
            return event
        }
        return nil
    }

    /// The app has dealt with a callback.
    public mutating func answer(_ callback: CallbackMessage, _ answer: CallbackAnswer = .plain) {
        switch callback.kind {
        case .willResignActive, .willEnterForeground: state = .inactive
        default:
            scenes.finish(callback)
            state = stateAfter(callback)
        }
        send(answers.answer(callback.sequence, answer))
    }

    /// SIGTERM came.
    public mutating func requestTermination() {
        if termination == .none { termination = .requested }
    }

    /// Takes what the daemon has sent, at a time in milliseconds.
    public mutating func receive(_ bytes: some Collection<UInt8>, now: Int64) {
        input.append(bytes)
        while let entry = input.next() {
            // A line that cannot be read is left out: a later daemon may say things that nobody here knows.
            guard case .line(let line) = entry, let message = try? MessageToApp(parsing: line) else { continue }
            handle(message, now: now)
        }
    }

    /// The channel has ended, or cannot be written to any more.
    public mutating func channelDidEnd() {
        guard isManaged else { return }
        if case .greeted = channel { refusals += 1 }
        guard canResume, refusals < Self.refusalLimit else { return close() }
        channel = .lost
        output = []
        isAskingForTime = false
        input = LineBuffer()
        assertions.suspend()
    }

    /// There is a channel again. The daemon, which may be another one, is told what it may not have heard.
    public mutating func resume() {
        guard isLost else { return }
        channel = .greeted
        send(.hello(version: AppProtocol.version, resume: answers.lastReceived ?? SequenceNumber(rawValue: 0)))
        sayAgain()
        for message in waitingScenes { send(message) }
        waitingScenes = []
    }

    /// Tells the daemon what it may not know: first what keeps the app awake, because the answer to a callback may lead to
    /// its suspension.
    mutating func sayAgain() {
        for message in assertions.messagesToResume + scenes.messagesToResume { send(message) }
        for message in answers.messagesToResume { send(message) }
    }

    /// Nobody decides over the app any more.
    mutating func close() {
        channel = .closed
        output = []
        backgroundEnd = nil
        waitingScenes = []
        // Nobody is there to launch the app, which would otherwise wait for it for ever.
        if answers.lastReceived == nil { launchToFront() }
    }

    /// So many bytes of `output` were sent.
    public mutating func didSend(_ count: Int) {
        output.removeFirst(min(count, output.count))
    }

    /// The milliseconds that the app has left in the background, or nil when nothing limits it at present.
    public func backgroundMillisecondsRemaining(now: Int64) -> Int64? {
        backgroundEnd.map { max(0, $0 - now) }
    }
}
