/// The effects of the core. The shell performs each in order and returns its outcome as an ``Input``.
///
/// An effect has the index of its app, which is valid until the effects of the same input are performed, also if that input forgets
/// the app.
public enum Effect: Sendable, Equatable {
    /// Start the app's program; answered by spawned or spawnFailed.
    case spawn(AppIndex)
    /// Stop every process of the tree; answered by stopped, perhaps after stopIncomplete. Ends a pending resume.
    case stop(AppIndex)
    /// Continue every process of the tree; answered by resumed. Ends a pending stop.
    case resume(AppIndex)
    /// SIGTERM to the main process, or to all if the app's policy says so, then SIGCONT to the tree; SIGTERM to the others when the
    /// main process has ended. Answered by exited and gone. Ends a pending stop.
    case terminate(AppIndex)
    /// SIGKILL to the tree until none is left; answered by exited and gone.
    case kill(AppIndex)
    /// Send the connected app a callback; answered by done with the same number.
    case deliver(AppIndex, Delivery)
    /// Tell the app that its task or activity is granted, or why it is refused.
    case answerAssertion(AppIndex, UInt64, AssertionRefusal?)
    /// Tell the app when the time of its tasks ends; nil if it does not run.
    case tellTimeLeft(AppIndex, until: Instant?)
    /// Tell the app that its task has expired, and until when it must end it.
    case expireTask(AppIndex, UInt64, deadline: Instant)
    /// Measure the memory of an app that is about to be reclaimed; answered by ``Outcome/memoryMeasured(_:)``, if it can be.
    case measureMemory(AppIndex)
    /// Note the waiting for memory up to now: what is read next is the waiting since then.
    case markMemory
    /// Read how short memory is since it was marked; answered by ``Input/memory(_:)``.
    case readMemory
    /// The state of an app has changed.
    case transition(Transition)
    /// The state of a scene has changed.
    case sceneTransition(SceneTransition)
    /// A decision for the journal, and its app; nil if it is about no app, or about an unknown app.
    indirect case decision(Decision, of: AppIndex?)
    /// A request has ended. Each request is answered exactly once.
    case reply(RequestID, Reply)
    /// The app is not known any more; its last exit, and why it was reclaimed, if it has ended.
    indirect case forgotten(AppIndex, exit: ExitRecord?, reclaimed: ReclaimRecord?)
    /// After a shutDown: no app runs any more.
    case finished
}

/// A callback on its way to an app.
public struct Delivery: Sendable, Equatable {
    /// The subject of a callback, beside the callback itself.
    public indirect enum Subject: Sendable, Equatable {
        /// The launch, with a launch callback.
        case launch(Launch)
        /// The event, with its callback.
        case event(QueuedEvent)
        /// The reason of the connection or disconnection of a scene.
        case scene(SceneReason)
    }

    /// The number of the callback, unique for the app.
    public let sequence: UInt64
    /// The callback, with the scene that it is about.
    let pending: PendingCallback
    /// The state of the app while it handles the callback.
    public let state: AppState
    /// The instant at which the daemon goes on without the answer, or acts upon its absence.
    public internal(set) var deadline: Instant
    /// The subject, if the callback has one.
    public internal(set) var subject: Subject?
    /// The time of the app's background tasks, with didEnterBackground.
    public internal(set) var taskTime: Duration?

    /// The callback.
    public var callback: Callback { pending.callback }

    /// The launch, with a launch callback.
    public var launch: Launch? { if case .launch(let launch) = subject { launch } else { nil } }

    /// The event that the callback delivers.
    public var event: QueuedEvent? { if case .event(let event) = subject { event } else { nil } }

    /// The scene that the callback is about.
    public var scene: SceneNews? { pending.scene.map { SceneNews(scene: $0, reason: sceneReason) } }

    /// The reason of the connection or disconnection of the scene.
    var sceneReason: SceneReason? { if case .scene(let reason) = subject { reason } else { nil } }
}

/// The launch of an app, and its previous end.
public struct Launch: Sendable, Equatable {
    /// The reason of the launch.
    public let reason: Reason
    /// The previous end, if the app ran before.
    public let previous: ExitRecord?
    /// The URL that the app was launched to open, if any.
    public var url: String?

    /// A Boolean value that indicates whether the system ended the app, so that it restores its state.
    public var restores: Bool { previous?.callsForRestoration ?? false }
}

/// The scene that a callback is about.
public struct SceneNews: Sendable, Equatable {
    /// The scene.
    public let scene: SceneID
    /// The reason of a connection or disconnection; nil for another callback.
    public let reason: SceneReason?
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
    /// The index of the app at the step; nil if the step was read from a record.
    public let index: AppIndex?
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
    ///   - index: The index of the app at the step; nil for a step that was read from a record.
    ///   - scene: The scene.
    ///   - from: The state before.
    ///   - to: The state after.
    ///   - reason: The reason.
    ///   - instant: The instant of the step.
    ///   - answerTime: The time that the app took to answer the callback before the step; nil for a step without one.
    package init(
        app: AppID, index: AppIndex? = nil, scene: SceneID, from: SceneState, to: SceneState, reason: Reason,
        instant: Instant, answerTime: Duration?
    ) {
        (self.app, self.index, self.scene, self.from, self.to) = (app, index, scene, from, to)
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
