/// A transition, or a decision beside the transitions.
///
/// The journal, the history and the subscribers are told of it when the replies are sent. A transition is saved until then: the next
/// daemon tells what this one could not.
public enum Announcement: Sendable, Equatable {
    /// A transition of an app.
    case app(Transition)
    /// A transition of a scene.
    case scene(SceneTransition)
    /// A decision, and its app; nil if it is about no app, or about an unknown app.
    indirect case decision(Decision, of: AppIndex?)

    /// The app, or the app of the scene; nil if it is about none.
    public var app: AppID? {
        switch self {
        case .app(let step): step.app
        case .scene(let step): step.app
        case .decision(let decision, _): decision.app
        }
    }
}

/// One step of one app.
public struct Transition: Sendable, Equatable {
    /// The app.
    public let app: AppID
    /// The index of the app at the step; nil if the step was read from a record.
    public let index: AppIndex?
    /// The state before.
    public let from: AppState
    /// The state after.
    public let to: AppState
    /// The reason.
    public let reason: Reason
    /// The instant of the step.
    public let instant: Instant
    /// The instant at which the app entered the state before.
    public let since: Instant
    /// The time that the app took to answer the callback before the step.
    public let answerTime: Duration?

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - index: The index of the app at the step; nil for a step that was read from a record.
    ///   - from: The state before.
    ///   - to: The state after.
    ///   - reason: The reason.
    ///   - instant: The instant of the step.
    ///   - since: The instant at which the app entered the state before.
    ///   - answerTime: The time that the app took to answer the callback before the step; nil for a step without one.
    package init(
        app: AppID, index: AppIndex? = nil, from: AppState, to: AppState, reason: Reason, instant: Instant,
        since: Instant, answerTime: Duration?
    ) {
        (self.app, self.index, self.from, self.to, self.reason) = (app, index, from, to, reason)
        (self.instant, self.since, self.answerTime) = (instant, since, answerTime)
    }

    /// The time that the app spent in the state before.
    public var stateTime: Duration { max(.zero, instant.duration(since: since)) }
}

/// One step of one scene.
public struct SceneTransition: Sendable, Equatable {
    /// The app of the scene.
    public let app: AppID
    /// The scene.
    public let scene: SceneID
    /// The state before.
    public let from: SceneState
    /// The state after.
    public let to: SceneState
    /// The reason.
    public let reason: Reason
    /// The instant of the step.
    public let instant: Instant
    /// The time that the app took to answer the callback before the step.
    public let answerTime: Duration?

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - scene: The scene.
    ///   - from: The state before.
    ///   - to: The state after.
    ///   - reason: The reason.
    ///   - instant: The instant of the step.
    ///   - answerTime: The time that the app took to answer the callback before the step; nil for a step without one.
    package init(
        app: AppID, scene: SceneID, from: SceneState, to: SceneState, reason: Reason, instant: Instant,
        answerTime: Duration?
    ) {
        (self.app, self.scene, self.from, self.to) = (app, scene, from, to)
        (self.reason, self.instant, self.answerTime) = (reason, instant, answerTime)
    }
}

/// A decision beside the transitions.
public enum Decision: Sendable, Equatable {
    /// Another program continued a suspended app; it is stopped again.
    case stopRenewed(AppID)
    /// Processes of the app do not stop yet.
    case stopIncomplete(AppID, SystemFailure)
    /// Another program stopped a running app; it stays stopped until a request needs it.
    case stoppedByOther(AppID)
    /// A signal from outside waits for a suspended app, which is continued to act upon it.
    case signalPending(AppID)
    /// The app answered a callback, after this time.
    case answered(AppID, Callback, Duration)
    /// The app did not answer a callback in time.
    case answerOverdue(AppID, Callback)
    /// The termination timeout is over, and the app is killed.
    case terminationOverdue(AppID)
    /// The app's program could not be started.
    case launchFailed(AppID, SystemFailure)
    /// The time of the app's background tasks is over; the tasks that are left.
    case tasksOverdue(AppID, [Assertion])
    /// The main process ended.
    case exited(AppID, ExitRecord)
    /// The app was reclaimed.
    case reclaimed(AppID, ReclaimRecord)
    /// Scenes of the app are disconnected for their memory.
    case scenesReclaimed(AppID, [SceneID])
    /// A request of the app about a scene is refused.
    case sceneRefused(AppID, Refusal)
    /// An interruption began.
    case interruptionBegan(String)
    /// An interruption ended.
    case interruptionEnded(String)
    /// The machine or the session changed.
    case machine(MachineEvent)
    /// An event has its outcome.
    case eventEnded(AppID, AppEvent, EventOutcome)
    /// The app keeps ending; it is launched again after this time.
    case restartDelayed(AppID, Duration)
    /// The app reached the restart limit.
    case restartLimitReached(AppID, failures: Int)

    /// The app of the decision, if it is about one.
    public var app: AppID? {
        switch self {
        case .stopRenewed(let app), .stopIncomplete(let app, _), .stoppedByOther(let app), .signalPending(let app),
            .answerOverdue(let app, _), .answered(let app, _, _), .tasksOverdue(let app, _), .eventEnded(let app, _, _),
            .terminationOverdue(let app), .launchFailed(let app, _), .exited(let app, _), .restartDelayed(let app, _),
            .restartLimitReached(let app, _), .scenesReclaimed(let app, _), .sceneRefused(let app, _),
            .reclaimed(let app, _):
            app
        case .interruptionBegan, .interruptionEnded, .machine: nil
        }
    }
}
