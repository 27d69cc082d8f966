public import AppChannel
public import LifecycleTypes

/// An app's side of the app protocol: bytes and the time go in, events and bytes come out.
///
/// A session has no descriptor and no clock. It decides which events both client libraries deliver.
public struct AppSession: Sendable {
    enum Channel {
        /// No channel: no message is sent, and every task is granted.
        case none
        /// `hello` was said. The daemon does not manage the app yet, and no message is sent until it does.
        case unmanaged
        /// The channel has ended before the daemon managed the app.
        case absent
        /// `hello` was said.
        case greeted
        /// `welcome` was heard.
        case open
        /// The channel has ended with the daemon. The next daemon has another one.
        case lost
        /// The channel has ended for good; the app stays as it is.
        case closed
    }

    /// The side that has told the app of its launch.
    enum Launch {
        case none
        case session
        case daemon
    }

    private enum Termination {
        case none
        case requested
        case delivered
    }

    /// The number of unsent bytes from which the session refuses tasks.
    static let outputLimit = 64 << 10

    /// The number of tasks and activities that may wait for a channel.
    static let waitingLimit = 256

    /// The number of channels in a row that end before `welcome`, after which the session requests no other. So many deaths
    /// of the daemon in this moment are unlikely.
    static let refusalLimit = 10

    /// The time between two answers `unmanaged`, in milliseconds, from which the end of the channel between them does not count
    /// as a refusal. Apps that displace one another from a full daemon's connections return sooner: 65 of them, one every 4 s.
    static let evictionTime: Int64 = 300_000

    /// The state of the app.
    public private(set) var state = RunningState.inactive

    /// The bytes to send.
    public internal(set) var output: [UInt8] = []

    var channel = Channel.none
    private var termination = Termination.none
    private var input = LineBuffer()
    var events: [AppSessionEvent] = []
    var assertions = AppAssertions()
    var answers = AnswerLog()
    var scenes = SceneTable()
    /// The callback about a scene that the app handles; nil if it handles none. Set by `next()`, cleared by the answer.
    var handledSceneCallback: CallbackMessage?
    /// The requests for scenes that wait for a welcome. Empty while the channel is open.
    var waitingScenes: [MessageFromApp] = []
    let usesScenes: Bool
    private let canResume: Bool
    var launch = Launch.none
    /// The app was told of its background in place of a launch there, and is not told again.
    var skipsNextBackground = false
    var refusals = 0
    /// When the daemon answered `unmanaged` last, in milliseconds of the caller's clock; nil before the first time.
    var unmanagedAnswer: Int64?
    /// When the time in the background is used up, in milliseconds of the caller's clock.
    var backgroundEnd: Int64?
    /// The answer to `time-left` is pending; false without an open channel, and after a `welcome`.
    var isAskingForTime = false

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - hasChannel: False for an app that the daemon did not launch. It is launched to the foreground.
    ///   - canResume: True to wait for `resume()` when the channel ends.
    ///   - usesScenes: A Boolean value that indicates whether an app without a channel has a scene.
    public init(hasChannel: Bool, canResume: Bool = false, usesScenes: Bool = false) {
        self.canResume = canResume
        self.usesScenes = usesScenes
        if hasChannel {
            channel = .greeted
            send(.hello(version: AppProtocol.version, resume: nil))
        } else {
            launchToForeground()
        }
    }

    /// A Boolean value that indicates whether the daemon manages the app.
    public var isManaged: Bool {
        switch channel {
        case .greeted, .open, .lost: true
        case .none, .unmanaged, .absent, .closed: false
        }
    }

    /// A Boolean value that indicates whether the daemon has answered that it does not manage the app.
    var wasUnmanaged: Bool { unmanagedAnswer != nil }

    /// A Boolean value that indicates whether the session uses a channel, or waits for one.
    var needsChannel: Bool {
        switch channel {
        case .greeted, .open, .lost, .unmanaged, .absent: true
        case .none, .closed: false
        }
    }

    /// A Boolean value that indicates whether the channel has ended and the session waits for another one.
    public var isLost: Bool {
        switch channel {
        case .lost, .absent: true
        case .none, .unmanaged, .greeted, .open, .closed: false
        }
    }

    /// A Boolean value that indicates whether the daemon has not answered the first `hello`. Until then the app has no events.
    var isUnanswered: Bool {
        if case (.greeted, .none) = (channel, launch) { true } else { false }
    }

    /// A Boolean value that indicates whether the daemon has welcomed the app on this channel.
    public var isOpen: Bool {
        if case .open = channel { true } else { false }
    }

    /// A Boolean value that indicates whether the daemon has answered on this channel, and no channel before it counts as refused.
    var isSettled: Bool {
        switch channel {
        case .open: true
        case .unmanaged: refusals == 0
        case .none, .absent, .greeted, .lost, .closed: false
        }
    }

    /// A Boolean value that indicates whether `next()` returns an element.
    public var hasEvents: Bool { termination == .requested || (termination == .none && !events.isEmpty) }

    /// Returns the next event; nil if there is none.
    ///
    /// A request to terminate is the next event whatever else is waiting, and the last.
    public mutating func next() -> AppSessionEvent? {
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

    private mutating func nextOfDaemon() -> AppSessionEvent? {
        while !events.isEmpty {
            let event = events.removeFirst()
            switch event {
            case .callback(let callback):
                state = callback.state
                scenes.begin(callback)
                if callback.kind.isAboutScene { handledSceneCallback = callback }
            case .expire(let id, _): if !assertions.hasTask(id) { continue }
            case .refused, .terminate: break
            }
            return event
        }
        return nil
    }

    /// Answers a callback.
    ///
    /// - Parameters:
    ///   - callback: A callback that ``next()`` has returned.
    ///   - answer: The answer, which the daemon gets with the number of the callback.
    public mutating func answer(_ callback: CallbackMessage, _ answer: AppAnswer = .plain) {
        if callback.kind == .willResignActive || callback.kind == .willEnterForeground {
            state = .inactive
        } else {
            scenes.finish(callback)
            if callback.kind.isAboutScene { handledSceneCallback = nil }
            state = stateAfter(callback)
        }
        guard callback.sequence != .ofSession else { return }
        // Callbacks do not wait for the answer to work.
        if !isLost, callback.kind != .performTask { scenes.noteAnswer() }
        sendAnswer(answer, to: callback.sequence, isWork: callback.kind == .performTask)
    }

    /// Handles SIGTERM.
    public mutating func requestTermination() {
        if termination == .none { termination = .requested }
    }

    /// Handles bytes that the daemon has sent.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes of the stream, cut anywhere.
    ///   - now: The time in milliseconds, by the clock of the other calls.
    public mutating func receive(_ bytes: some Collection<UInt8>, now: Int64) {
        input.append(bytes)
        while let entry = input.next() {
            // An unknown line is ignored: a newer daemon may have other messages.
            guard case .line(let line) = entry, let message = try? MessageToApp(parsing: line) else { continue }
            handle(message, now: now)
        }
    }

    /// Handles the end of the channel, or a channel that cannot be written to any more.
    public mutating func channelDidEnd() {
        guard needsChannel else { return }
        switch channel {
        case .greeted, .unmanaged: refusals += 1
        case .none, .absent, .open, .lost, .closed: break
        }
        guard canResume, refusals < Self.refusalLimit else { return close() }
        channel = isManaged ? .lost : .absent
        output = []
        isAskingForTime = false
        input = LineBuffer()
        assertions.suspend()
    }

    /// Continues the session on a new channel, and tells the daemon, which may be another one, what it may not know.
    public mutating func resume() {
        guard isLost else { return }
        if case .absent = channel { return greetUnmanaged() }
        channel = .greeted
        send(.hello(version: AppProtocol.version, resume: answers.lastReceived ?? SequenceNumber(rawValue: 0)))
        resendMessages()
    }

    /// Tells the daemon what it may not know: first what keeps the app awake, because the answer to a callback may lead to
    /// its suspension.
    mutating func resendMessages() {
        scenes.repeatRequests()
        assertions.expectRepetitions()
        for message in assertions.messagesToResume + scenes.messagesToResume { send(message) }
        for message in answers.messagesToResume { send(message) }
    }

    /// Ends the management by the daemon.
    mutating func close() {
        channel = .closed
        output = []
        backgroundEnd = nil
        let openings = waitingScenes
        waitingScenes = []
        // No daemon launches the app, which would wait for the callbacks for ever.
        if case .none = launch { launchToForeground() }
        // An app without scenes may have requested some.
        if usesScenes { fulfillSceneRequests(openings) }
    }

    /// Removes the first bytes of `output`, which were sent.
    public mutating func didSend(_ count: Int) {
        output.removeFirst(min(count, output.count))
    }

    /// Returns the milliseconds that the app has left in the background; nil without a limit.
    public func backgroundMillisecondsRemaining(now: Int64) -> Int64? {
        backgroundEnd.map { max(0, $0 - now) }
    }
}

/// An event for the app.
public enum AppSessionEvent: Equatable, Sendable {
    /// A callback, which is to be answered with `AppSession.answer(_:_:)` when the app has dealt with it.
    case callback(CallbackMessage)
    /// The app must save and exit. No event follows.
    case terminate
    /// A task has used up its time, and has to be ended within so many milliseconds.
    case expire(AssertionID, deadlineMilliseconds: Int64)
    /// A task or an activity does not hold the app in the background.
    case refused(AssertionID, reason: RefusalReason)
}

extension AppSession {
    /// Begins a background task. The first 128 bytes of the name count.
    public mutating func beginTask(name: String) -> AssertionID {
        begin(.task, name: name.shortened(to: 128))
    }

    /// Ends a task. An unknown task is ignored.
    public mutating func endTask(_ id: AssertionID) {
        end(id, .task)
    }

    /// Begins an activity, during which the app is not suspended.
    public mutating func beginActivity(mode: String) -> AssertionID {
        begin(.activity, name: mode.shortened(to: 128))
    }

    /// Ends an activity. An unknown activity is ignored.
    public mutating func endActivity(_ id: AssertionID) {
        end(id, .activity)
    }

    private mutating func begin(_ kind: AppAssertions.Kind, name: String) -> AssertionID {
        let (id, message) = assertions.begin(kind, name: name)
        if !isManaged {
            _ = assertions.grant(id)
        } else if output.count > Self.outputLimit || (isLost && assertions.count > Self.waitingLimit) {
            refuse(id, reason: RefusalReason(.tooMany))
        } else {
            send(message)
        }
        return id
    }

    private mutating func end(_ id: AssertionID, _ kind: AppAssertions.Kind) {
        if isLost {
            assertions.endUnheard(id, kind)
        } else if let message = assertions.end(id, kind) {
            send(message)
        }
    }

    mutating func refuse(_ id: AssertionID, reason: RefusalReason) {
        if assertions.refuse(id) { events.append(.refused(id, reason: reason)) }
    }
}

extension String {
    /// Returns the text without NULs, shortened to so many bytes of UTF-8.
    fileprivate func shortened(to limit: Int) -> String {
        var scalars = UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars where scalar.value != 0 {
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}

/// The callbacks that were received, as far as it takes to tell a repetition and to answer it.
///
/// The next daemon repeats the callbacks that the app may not have received.
struct AnswerLog {
    /// The newest callback; nil before the first.
    private(set) var lastReceived: SequenceNumber?
    /// The callbacks that the app has not answered. An array: there is seldom more than one.
    private var unanswered: [(sequence: SequenceNumber, isWork: Bool)] = []
    /// The answers that the previous daemon may have lost, in the order in which they were given: those to the
    /// resignations received last, and to the callback that they may have been sent after.
    private var answers: [(sequence: SequenceNumber, message: MessageFromApp)] = []
    /// The answer to the last background work; nil before the answer. Other callbacks do not wait for it.
    private var workAnswer: (sequence: SequenceNumber, message: MessageFromApp)?

    /// Notes a callback, and returns false for a repetition.
    ///
    /// - Parameters:
    ///   - sequence: The number of the callback.
    ///   - kind: The callback; nil for an unknown one. The daemon may send a resignation before the answer to the previous one.
    mutating func receive(_ sequence: SequenceNumber, _ kind: Callback? = nil) -> Bool {
        if let lastReceived, sequence <= lastReceived { return false }
        if kind?.role != .resignation { answers = [] }
        if kind == .performTask { workAnswer = nil }
        lastReceived = sequence
        unanswered.append((sequence, kind == .performTask))
        return true
    }

    /// Notes an answer, and returns what says it; nil if no such callback is unanswered. Work that began before a release of the
    /// app may have the number of a later callback.
    mutating func answer(_ sequence: SequenceNumber, isWork: Bool, _ answer: AppAnswer) -> MessageFromApp? {
        guard let index = unanswered.firstIndex(where: { $0 == (sequence, isWork) }) else { return nil }
        unanswered.remove(at: index)
        let message = MessageFromApp.done(sequence, answer)
        if isWork {
            workAnswer = (sequence, message)
        } else {
            answers.append((sequence, message))
        }
        return message
    }

    /// Returns the answer to a repetition; nil while the app handles the callback.
    func again(_ sequence: SequenceNumber) -> MessageFromApp? {
        guard !unanswered.contains(where: { $0.sequence == sequence }) else { return nil }
        return allAnswers.first { $0.sequence == sequence }?.message ?? .done(sequence, .plain)
    }

    var messagesToResume: [MessageFromApp] { allAnswers.map { $0.message } }

    private var allAnswers: [(sequence: SequenceNumber, message: MessageFromApp)] {
        if let workAnswer { [workAnswer] + answers } else { answers }
    }
}
