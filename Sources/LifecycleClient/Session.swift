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

/// What an app is to be told next.
public enum SessionEvent: Equatable, Sendable {
    /// A callback, which is to be answered with `Session.answer(_:_:)` when the app has dealt with it.
    case callback(CallbackMessage)
    /// The app is to put its things in order and exit. Nothing comes after this.
    case terminate
    /// A task has used up its time, and has to be ended within so many milliseconds.
    case expire(AssertionID, deadlineMilliseconds: Int64)
    /// A task or an activity does not hold the app in the background.
    case refused(AssertionID, reason: RefusalReason)
}

extension Session {
    mutating func handle(_ message: MessageToApp, now: Int64) {
        switch message {
        case .welcome:
            // A daemon that has taken over the channel asks so for what the one before may have heard and lost.
            if isOpen { sayAgain() }
            channel = .open
            refusals = 0
        case .callback(let callback):
            let isResignation = [.willResignActive, .sceneWillResignActive].contains(callback.kind)
            guard answers.receive(callback.sequence, isResignation: isResignation) else {
                return repeatAnswer(to: callback.sequence)
            }
            noteBackgroundTime(callback, now: now)
            events.append(.callback(callback))
        case .unknownCallback(let sequence):
            guard answers.receive(sequence) else { return repeatAnswer(to: sequence) }
            send(answers.answer(sequence, .plain))
        case .granted(let id, let timeLeft):
            if let timeLeft { limitBackground(to: timeLeft, now: now) }
            if let message = assertions.grant(id) { send(message) }
        case .refused(let id, let reason):
            refuse(id, reason: reason)
        case .expireTask(let id, let deadline):
            if assertions.expire(id) {
                events.append(.expire(id, deadlineMilliseconds: deadline))
            } else if let message = assertions.endAgain(id) {
                // The daemon has not heard of it, or lost it, and would kill the app for a task that has ended.
                send(message)
            }
        case .timeLeft(let milliseconds):
            isAskingForTime = false
            if let milliseconds { limitBackground(to: milliseconds, now: now) } else { backgroundEnd = nil }
        // The library made the line, so that there is nothing that the app could do better.
        case .mistake: break
        case .goodbye:
            close()
        }
    }

    private mutating func repeatAnswer(to sequence: SequenceNumber) {
        if let message = answers.again(sequence) { send(message) }
    }

    private mutating func noteBackgroundTime(_ callback: CallbackMessage, now: Int64) {
        switch callback.kind {
        case .didEnterBackground, .sceneDidEnterBackground:
            let number = try? callback.fields.number(of: "background-ms")
            if let milliseconds = number { limitBackground(to: milliseconds, now: now) }
        case .performTask where callback.state == .background:
            // A woken app has at least the time of its work.
            let before = backgroundEnd
            limitBackground(to: callback.deadlineMilliseconds, now: now)
            if let before, let end = backgroundEnd, before > end { backgroundEnd = before }
        case .willEnterForeground, .didBecomeActive, .sceneWillEnterForeground, .sceneDidBecomeActive:
            backgroundEnd = nil
        default:
            break
        }
    }

    private mutating func limitBackground(to milliseconds: Int64, now: Int64) {
        let (end, overflows) = now.addingReportingOverflow(milliseconds)
        backgroundEnd = overflows ? nil : end
    }

    /// Asks the daemon how much time is left, unless an answer is still to come or there is nothing to ask.
    mutating func askForTimeLeft() {
        guard isOpen, !isAskingForTime, state == .background else { return }
        isAskingForTime = true
        send(.timeLeft)
    }

    mutating func send(_ message: MessageFromApp) {
        guard isManaged, !isLost, let bytes = try? message.encoded() else { return }
        output += bytes
    }

    /// What an app is told that nobody manages: it is in front and stays there.
    mutating func launchToFront() {
        channel = .none
        let launch = [Field("reason", "launch")]
        tell(.willFinishLaunching, .inactive, launch)
        tell(.didFinishLaunching, .inactive, launch)
        if usesScenes { showScene(.main, reason: "person") } else { tell(.didBecomeActive, .active) }
    }
}

extension Session {
    /// Asks for time in the background. The name is for people, who see the first 128 bytes of it.
    public mutating func beginTask(name: String) -> AssertionID {
        begin(.task, name: name.shortened(to: 128))
    }

    /// Ends a task. One that is not there, or was ended before, is left alone.
    public mutating func endTask(_ id: AssertionID) {
        end(id, .task)
    }

    /// Asks to be held in the background for as long as something of a declared kind lasts.
    public mutating func beginActivity(mode: String) -> AssertionID {
        begin(.activity, name: mode.shortened(to: 128))
    }

    /// Ends an activity. One that is not there, or was ended before, is left alone.
    public mutating func endActivity(_ id: AssertionID) {
        end(id, .activity)
    }

    private mutating func begin(_ kind: AssertionTable.Kind, name: String) -> AssertionID {
        let (id, message) = assertions.begin(kind, name: name)
        if !isManaged {
            _ = assertions.grant(id)
        } else if output.count > Self.outputLimit || (isLost && assertions.count > Self.waitingLimit) {
            refuse(id, reason: .tooManyTasks)
        } else {
            send(message)
        }
        return id
    }

    private mutating func end(_ id: AssertionID, _ kind: AssertionTable.Kind) {
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
    /// As much of the text as fits so many bytes of UTF-8, without the NULs that a line has no place for.
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

/// Why the library does not pass on what an app asks for a scene.
public enum SceneRequestError: Error, Sendable {
    /// The role is not of 1 to 64 letters, digits, dots, underscores and hyphens.
    case malformedRole
    /// The info has more than `SceneProtocol.infoLimit` bytes, or a NUL.
    case unusableInfo
    /// The app has not heard of such a scene, or it is closed.
    case noSuchScene
    /// So much waits for the daemon already that nothing is added.
    case tooManyRequests
}

extension Session {
    /// While there is no channel, so many requests for scenes wait for one: more than an app may have scenes.
    static let waitingScenesLimit = 64

    /// The scenes that the app has heard of and that are not closed for good, in the order in which it has.
    public var allScenes: [SceneRecord] { scenes.scenes }

    /// Asks for a scene: a new one, or the one with this id. Throws a `SceneRequestError`.
    public mutating func openScene(
        _ id: SceneID?, role: String?, info: String?
    ) throws(SceneRequestError) {
        if let role, !SceneID.isWord(role) { throw .malformedRole }
        try check(info)
        if !isManaged { return showScene(id ?? scenes.freeID(), role: role, info: info) }
        let message = MessageFromApp.openScene(id, role: role, info: info)
        if isLost {
            guard waitingScenes.count < Self.waitingScenesLimit else { throw .tooManyRequests }
            waitingScenes.append(message)
        } else {
            try checkRoom()
            send(message)
        }
    }

    /// Asks to be rid of a scene. One that is not there is left alone.
    public mutating func closeScene(_ id: SceneID) {
        guard let scene = scenes[id] else { return }
        scenes.close(id)
        if isManaged { send(.closeScene(id)) } else { removeScene(scene) }
    }

    /// Says what a scene shows, to be given back with it when it is restored. Throws a `SceneRequestError`.
    public mutating func setSceneInfo(_ info: String?, of id: SceneID) throws(SceneRequestError) {
        try check(info)
        guard let scene = scenes[id], !scene.isClosing else { throw .noSuchScene }
        guard scene.info != info else { return }
        try checkRoom()
        scenes.setInfo(info, of: id)
        send(.sceneInfo(id, info: info))
    }

    private func check(_ info: String?) throws(SceneRequestError) {
        guard let info else { return }
        guard info.utf8.count <= SceneProtocol.infoLimit, !info.utf8.contains(0) else { throw .unusableInfo }
    }

    private func checkRoom() throws(SceneRequestError) {
        guard output.count <= Self.outputLimit else { throw .tooManyRequests }
    }

    /// The state that the app is in once it has dealt with a callback about a scene.
    func stateAfter(_ callback: CallbackMessage) -> ReportedState {
        switch callback.kind {
        case .sceneWillResignActive where !scenes.isActive: .inactive
        case .sceneWillEnterForeground where state == .background: .inactive
        default: state
        }
    }

    // MARK: - Without a daemon

    /// What an app is told that nobody manages, when it wants a scene: that it is in front.
    mutating func showScene(_ id: SceneID, role: String? = nil, info: String? = nil, reason: String = "app") {
        let known = scenes[id]
        if known == nil || known?.state == .unattached {
            let connection = SceneConnectionFields(
                scene: id, role: role ?? known?.role ?? SceneProtocol.defaultRole, reason: reason,
                info: info ?? known?.info)
            tell(.sceneWillConnect, .inactive, connection.fields)
        }
        guard known?.state != .foregroundActive else { return }
        tell(.sceneWillEnterForeground, .inactive, .scene(id))
        tell(.sceneDidBecomeActive, .active, .scene(id))
    }

    private mutating func removeScene(_ scene: SceneRecord) {
        if scene.state == .foregroundActive { tell(.sceneWillResignActive, .active, .scene(scene.id)) }
        let state: ReportedState =
            scenes.scenes.contains { $0.id != scene.id && $0.state == .foregroundActive }
            ? .active : .background
        if scene.state != .background, scene.state != .unattached {
            tell(.sceneDidEnterBackground, state, .scene(scene.id))
        }
        let fields = SceneDisconnectionFields(scene: scene.id, reason: SceneDisconnectionFields.closed).fields
        tell(.sceneDidDisconnect, state, fields)
    }

    /// Has the app hear a callback that nobody has sent, and to which nobody waits for an answer.
    mutating func tell(_ kind: CallbackKind, _ state: ReportedState, _ fields: [Field] = []) {
        let callback = CallbackMessage(
            kind, sequence: SequenceNumber(rawValue: 0), deadlineMilliseconds: 0, state: state, fields: fields)
        events.append(.callback(callback))
    }
}
