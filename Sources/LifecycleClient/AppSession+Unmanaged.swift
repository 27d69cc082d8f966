internal import AppChannel
internal import LifecycleTypes

// An app that the daemon did not launch. The session tells it that it is in the foreground, and keeps a channel on which the
// daemon welcomes it when it adopts the process.

extension AppSession {
    /// Says hello without waiting for an answer: the app was told of its launch.
    mutating func greetUnmanaged() {
        guard let bytes = try? MessageFromApp.hello(version: AppProtocol.version, resume: nil).encoded() else { return }
        channel = .unmanaged
        output += bytes
    }

    /// Continues without the daemon: it does not manage the app, or does not answer.
    ///
    /// A released app becomes active again, with its scenes. An app with scenes does without the daemon from now on, because its
    /// scenes would have to be made again.
    mutating func continueUnmanaged() {
        guard case .greeted = channel else { return }
        guard !usesScenes else {
            let isReleased = if case .none = launch { false } else { true }
            close()
            if isReleased { showConnectedScenes() }
            return
        }
        if case .none = launch { launchToForeground() } else { returnToForeground() }
        channel = .unmanaged
        refusals = 0
        output = []
        backgroundEnd = nil
        assertions.endExpirations()
        // An app without scenes has requested them.
        waitingScenes = []
        // The callbacks of the next adoption are numbered anew.
        answers = AnswerLog()
    }

    /// Forgets the channels that ended before, if the daemon answers after a time in which it did not have to answer again.
    ///
    /// A daemon that closes the connection soon after each answer has too many of them.
    mutating func forgiveRefusals(now: Int64) {
        defer { unmanagedAnswer = now }
        guard case .unmanaged = channel else { return }
        let isRepeated = unmanagedAnswer.map { now - $0 < Self.evictionTime } ?? false
        if !isRepeated { refusals = 0 }
    }

    /// Continues without the channel, which belongs to another process, as an app that the daemon does not manage.
    mutating func leaveChannel() {
        channel = .none
        output = []
    }

    /// Tells an app without a daemon that it is in the foreground.
    mutating func launchToForeground() {
        launch = .session
        channel = .none
        let launch = [Field("reason", Reason.launch.rawValue)]
        queue(.willFinishLaunching, .inactive, launch)
        queue(.didFinishLaunching, .inactive, launch)
        if usesScenes { showScene(.main, reason: .user) } else { queue(.didBecomeActive, .active) }
    }

    private mutating func returnToForeground() {
        launch = .session
        if state == .background { queue(.willEnterForeground, .background) }
        if state != .active { queue(.didBecomeActive, .active) }
    }

    /// Queues a callback of the daemon. A running app gets the steps to its state instead of a second launch.
    mutating func deliver(_ callback: CallbackMessage) {
        let skipsBackground = skipsNextBackground
        skipsNextBackground = false
        let isSecondLaunch = callback.kind == .willFinishLaunching && launch == .session
        if isSecondLaunch || callback.kind == .didEnterBackground && skipsBackground {
            return sendAnswer(.plain, to: callback.sequence)
        }
        if callback.kind == .didFinishLaunching, launch == .session { return deliverState(callback) }
        launch = .daemon
        events.append(.callback(callback))
    }

    /// Queues the steps of an active app to the state in which the daemon has it. The answer to the last one answers the launch.
    private mutating func deliverState(_ launched: CallbackMessage) {
        launch = .daemon
        let isInBackground = launched.state == .background
        if isInBackground { queue(.willResignActive, .active) }
        skipsNextBackground = isInBackground
        let step = CallbackMessage(
            isInBackground ? .didEnterBackground : .willResignActive, sequence: launched.sequence,
            deadlineMilliseconds: launched.deadlineMilliseconds, state: isInBackground ? .background : .active)
        events.append(.callback(step))
    }
}

extension SequenceNumber {
    /// The number of every callback of the session itself. The daemon's begin with 1.
    static let ofSession = SequenceNumber(rawValue: 0)
}
