import OrderedCollections

/// The state machine of one app.
///
/// Requests and rules set `desired`; ``target`` follows from it by the table, and ``state`` follows the target one
/// ``GraphEdge`` at a time. At most one operation is pending: that of ``phase``. A machine cannot see other apps; `Shared` has what
/// concerns several.
///
/// | deciders of the target, in order of precedence | target |
/// |---|---|
/// | the app need not run, or is to end | notRunning |
/// | it is in the foreground, and no blocker holds | active; inactive during an interruption |
/// | its policy is `suspend = never` | background |
/// | it was suspended at once by request | suspended |
/// | a request or a use keeps it running | background |
/// | none of these | suspended; the app stays in the background while tasks, activities, work or background time are left |
public struct AppMachine: Sendable, Equatable {
    /// The name of the app.
    public let id: AppID
    /// The dense index of the app.
    public let index: AppIndex
    /// The policy of the app.
    public internal(set) var policy: Policy

    /// The phase, from which the state follows.
    public internal(set) var phase = Phase.notRunning
    /// The state on the way to which the app is.
    public internal(set) var target = AppState.notRunning
    /// The reason of the state.
    public internal(set) var reason = Reason.none
    /// The instant at which the app entered the state.
    public internal(set) var since: Instant
    /// The state that requests and rules want.
    public internal(set) var desired = Desired.rest
    /// The reason of the desired state, which becomes that of the next transitions.
    var desiredReason = Reason.none

    /// The last end of the app; set from the first end on.
    public internal(set) var lastExit: ExitRecord?
    /// The reason for which the app was reclaimed; set by a reclaim, cleared by an end for another reason.
    public internal(set) var reclaimed: ReclaimRecord?
    /// The failures that delay the next launch.
    public internal(set) var restart = RestartState.steady
    /// The last launch.
    var launch = LaunchState()

    /// The channel; `none` unless the app is alive.
    public internal(set) var channel = ChannelState.none
    /// The callbacks and events that wait.
    var outbox = Outbox()
    /// All that keeps the app running in the background.
    var assertions = AssertionTable()
    /// The scenes; their sessions outlive the process of an app that the system ended.
    public internal(set) var scenes = Scenes()
    /// The instant at which the app, which is to end, began to hear that its scenes are disconnected. The termination timeout
    /// runs from there. Cleared when the app is not to end any more, and by its end.
    var sceneDisconnectionStart: Instant?

    /// A Boolean value that indicates whether another program stopped the main process. Cleared by a stop or resume of the daemon's.
    public internal(set) var isStoppedByOther = false
    /// The instant at which the app left the foreground the last time since its launch; nil if it never did.
    public internal(set) var lastInForeground: Instant?
    /// A Boolean value that indicates whether the app was in the foreground since its launch.
    var wasInForeground = false

    /// A Boolean value that indicates whether the app is not known any more, and its index may be used again.
    var isForgotten = false

    /// The requests that wait for the app, and their goals.
    var waiters: [Waiter] = []

    init(id: AppID, index: AppIndex, policy: Policy, since: Instant) {
        self.id = id
        self.index = index
        self.policy = policy
        self.since = since
    }

    // MARK: Queries

    /// The state.
    public var state: AppState { phase.state }

    /// A Boolean value that indicates whether the app has a process, or is getting one.
    public var isRunning: Bool { if case .notRunning = phase { false } else { true } }

    /// A Boolean value that indicates whether the app is without a manifest and over, so that it is to be forgotten.
    var isToBeForgotten: Bool { policy.isTransient && !isRunning && desired == .rest }

    /// A Boolean value that indicates whether the program is being started.
    public var isSpawning: Bool {
        if case .spawning = phase { true } else { false }
    }

    /// A Boolean value that indicates whether the processes are stopped, or are being stopped.
    public var isStoppedOrStopping: Bool {
        switch phase {
        case .stopping, .suspended: true
        case .notRunning, .spawning, .running, .resuming, .terminating: false
        }
    }

    /// A Boolean value that indicates whether the processes should run at this moment.
    public var shouldRunNow: Bool {
        if case .running = phase { true } else { false }
    }

    /// A Boolean value that indicates whether the app gets callbacks.
    public var isConnected: Bool { channel != .none }

    /// A Boolean value that indicates whether the app has lost its channel and may come back.
    public var isReconnecting: Bool {
        if case .reconnecting = channel { true } else { false }
    }

    /// A Boolean value that indicates whether the app gets messages, now or as soon as it connects. Most adopted apps never connect.
    var canBeTold: Bool { policy.callbacks != .none && (!policy.isAdopted || isConnected) }

    /// A Boolean value that indicates whether the app may go on: it has answered the launch callbacks, or need not.
    var isReady: Bool { launch.isComplete || policy.callbacks != .required }

    /// The instant of the last launch.
    public var launched: Instant? { launch.instant }

    /// The tasks and activities that keep the app in the background, in the order in which they began.
    public var heldAssertions: [Assertion] { assertions.held }

    /// The events that wait for the app, in their order.
    public var events: [QueuedEvent] { outbox.events }

    /// The use that keeps the app running in the background.
    public var use: Use? { assertions.use }

    /// The URL that the program takes as an argument of its launch; the app is not told of it again.
    public var argumentURL: String? {
        outbox.events.contains { $0.number == launch.event } ? nil : launch.url
    }

    /// The callback that the app has not answered.
    public var sentCallback: SentCallback? { phase.sentCallback }

    /// A Boolean value that indicates whether the app has answered all callbacks, and none waits.
    var hasAnsweredAll: Bool { outbox.callbacks.isEmpty && phase.sentCallback == nil }

    /// The state to which the next step leads: the target, but *background* for an app with work that is to be suspended.
    var destination: AppState {
        target == .suspended && (hasWork || hasScenes && hasSceneWork) ? .background : target
    }

    /// A Boolean value that indicates whether the app is in the foreground, or it or one of its scenes was told that it enters it.
    var isInOrEnteringForeground: Bool {
        if state.isForeground { return true }
        guard let sentCallback else { return false }
        if sentCallback.delivery.callback == .willEnterForeground { return true }
        if case .scene(let next) = sentCallback.next { return next.isForeground }
        return false
    }

    // MARK: Target

    /// Recomputes the target, and abandons pending operations that it does not need any more, where that is possible.
    mutating func recomputeTarget(_ shared: inout Shared) {
        updateUse(&shared)
        updateTaskTime(&shared)
        target = desiredTarget(shared)
        if target.isForeground { assertions.userOverride = .none }
        if target.isAlive {
            shared.deadlines.clear(.sceneDisconnection, index)
            sceneDisconnectionStart = nil
        }
        chooseScenes(&shared)
        abandonCallbacksOfTermination(&shared)
        abandonStop(&shared)
        if isReconnecting { hastenReconnection(&shared) }
        updateActivationSlot(&shared)
    }

    func desiredTarget(_ shared: borrowing Shared) -> AppState {
        switch desired {
        case .rest, .end, .restart: return .notRunning
        case .run:
            if shared.blockers.isEmpty, shared.foreground.contains(index) {
                return shared.interruptions.isEmpty ? .active : .inactive
            }
            if policy.suspend == .never { return .background }
            switch assertions.userOverride {
            case .suspend: return .suspended
            case .keepRunning: return .background
            case .none: return assertions.use == nil ? .suspended : .background
            }
        }
    }

    /// Abandons a pending stop as soon as the app is needed; its completion could take long.
    private mutating func abandonStop(_ shared: inout Shared) {
        guard phase.awaitsStop, destination != .suspended else { return }
        if phase == .stopping {
            phase = .resuming(isSuspended: false)
            shared.ready.operations.append(.resume(index))
        } else if shared.deadlines[.exit, index] == nil {
            phase = .suspended(isConfirmed: true)
        }
    }

    /// Gives up the activation slot in time if the app is not to be active any more.
    private mutating func updateActivationSlot(_ shared: inout Shared) {
        guard shared.activation.slots.contains(index) else {
            if !target.isForeground { shared.activation.waiting.remove(index) }
            return
        }
        if state != .active, target != .active {
            shared.leaveActivation(index)
        } else if target == .active {
            // An app that was told to resign has to answer in time even if it is needed again.
            if !isResigning { shared.deadlines.clear(.resignation, index) }
        } else if shared.deadlines[.resignation, index] == nil {
            shared.deadlines.set(.resignation, index, at: shared.now + policy.timeouts.willResignActive)
        }
    }

    // MARK: Steps

    /// Takes one step towards the destination; returns whether another step may follow at once.
    mutating func step(_ shared: inout Shared) -> Bool {
        if sendResignation(&shared) { return true }
        guard phase.isAtRest else { return false }
        // After the end of the channel the app keeps its state until it is known whether the process ended; but it may be ended.
        guard target == .notRunning || shared.deadlines[.exit, index] == nil && !facesSignal(shared) else {
            return false
        }
        if deliverEvent(&shared) { return true }
        if let callback = outbox.callbacks.first, state != .suspended {
            guard !isReconnecting else { return false }
            outbox.callbacks.removeFirst()
            send(callback, next: nil, &shared)
            return true
        }
        // Until it is back or its time is over, it loses no further scene.
        if isReconnecting, target == .notRunning, isDisconnectingScenes(shared) { return false }
        if stepScene(&shared) { return true }
        guard let next = state.next(toward: destination), let edge = edge(to: next), mayTake(edge),
            canTake(edge, &shared)
        else {
            deliverTask(&shared)
            return false
        }
        if isConnected, let callback = edge.before.flatMap({ PendingCallback($0) }), let next = RunningState(edge.to) {
            send(callback, next: .app(next), &shared)
        } else {
            perform(edge, &shared)
        }
        return true
    }

    /// Returns whether the app, or one of its scenes, can take a step now. An app that may come back is not sent the callback before it.
    mutating func canTake<State>(_ edge: GraphEdge<State>, _ shared: inout Shared) -> Bool {
        (edge.before == nil || !isReconnecting) && isOpen(edge.gate, &shared)
    }

    /// Returns whether the gate of a step is open.
    private mutating func isOpen(_ gate: Gate?, _ shared: inout Shared) -> Bool {
        guard let gate else { return true }
        guard isReady else { return false }
        switch gate {
        case .launch: return true
        case .foreground: return state.isForeground || shared.joinActivation(index, isActivating: target == .active)
        case .activationSlot:
            return shared.joinActivation(index, isActivating: target == .active)
                && shared.activation.hasSlot(index, limit: shared.settings.foregroundLimit)
        case .idle:
            return assertions.userOverride == .suspend
                || assertions.held.isEmpty && shared.deadlines[.background, index] == nil
        case .process: return false
        }
    }

    private mutating func perform(_ edge: GraphEdge<AppState>, _ shared: inout Shared) {
        switch edge.process {
        case nil: transition(to: edge.to, &shared)
        case .spawn: if let next = RunningState(edge.to) { spawn(to: next, &shared) }
        case .stop:
            shared.ready.operations.append(.stop(index))
            phase = .stopping
            // From now on the daemon has stopped it, although another program did so before.
            isStoppedByOther = false
        case .resume: resumeFromSuspension(&shared)
        case .terminate: terminate(reason: desiredReason, &shared)
        case .reap: break
        }
    }

    /// Resumes a suspended app; the time of its tasks begins anew.
    mutating func resumeFromSuspension(_ shared: inout Shared) {
        shared.ready.operations.append(.resume(index))
        assertions.background = nil
        phase = .resuming(isSuspended: true)
    }

    /// Changes the state, reports it, and applies what follows from the new state.
    mutating func transition(
        to state: AppState, reason given: Reason? = nil, answerTime: Duration? = nil,
        termination: Termination? = nil, _ shared: inout Shared
    ) {
        let from = phase.state
        guard from != state else { return }
        let reason = given ?? (state == .suspended && desiredReason != .suspend ? .idle : desiredReason)
        let callbacks = isConnected ? edge(to: state)?.after ?? [] : []
        let before = since
        setPhase(of: state, termination)
        self.reason = reason
        since = shared.now
        if from == .suspended { shared.suspendedCount -= 1 }
        if state == .suspended { shared.suspendedCount += 1 }
        outbox.append(callbacks)
        shared.ready.announcements.append(
            .app(
                Transition(
                    app: id, index: index, from: from, to: state, reason: reason, instant: shared.now, since: before,
                    answerTime: answerTime)))
        moveScenesWithProcess(to: state, &shared)
        if from == .active {
            outbox.overdueActivation = nil
            shared.leaveActivation(index)
        }
        if from == .background { leaveBackground(&shared) }
        switch state {
        case .suspended:
            shared.deadlines.clear(.reconnection, index)
            if assertions.background == nil { assertions.background = before }
        case .inactive:
            wasInForeground = true
            assertions.background = nil
        case .background:
            if assertions.hasTasks { startTaskTime(&shared) }
            if from != .suspended { startBackgroundTime(&shared) }
        case .active, .terminating: break
        case .notRunning: assertions.background = nil
        }
        answerWaiters(&shared)
        shared.reconciles.appendOnce(index)
    }

    private mutating func setPhase(of state: AppState, _ termination: Termination?) {
        switch state {
        case .inactive, .active, .background:
            if let state = RunningState(state) { phase = .running(state, sentCallback: phase.sentCallback) }
        case .suspended: phase = .suspended(isConfirmed: true)
        case .terminating:
            phase = .terminating(termination ?? Termination(state: phase.state, reason: .crash))
        case .notRunning: phase = .notRunning
        }
    }

    /// Returns the step of the app from its state. In an app with scenes, their callbacks replace those of the foreground.
    func edge(to next: AppState) -> GraphEdge<AppState>? {
        guard var edge = state.edge(to: next) else { return nil }
        if hasScenes, edge.process == nil {
            edge.before = nil
            edge.after = []
        }
        return edge
    }

    /// Gives an app that is not connected its time in the background, unless it was suspended by request.
    mutating func startBackgroundTime(_ shared: inout Shared) {
        guard !isConnected, desiredReason != .suspend else { return }
        setBackgroundDeadline(&shared)
    }

    /// Sets the end of the background time. An app without any is stopped in the same turn, so that one record has both.
    mutating func setBackgroundDeadline(_ shared: inout Shared) {
        guard policy.timeouts.background > .zero else { return }
        shared.deadlines.set(.background, index, at: shared.now + policy.timeouts.background)
    }
}
