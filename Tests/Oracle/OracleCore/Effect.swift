/// Everything the core can want done. The shell does it and feeds the outcome back as an ``Input``.
public enum Effect: Sendable, Equatable {
    /// Start the app's program; answered by spawned or spawnFailed.
    case spawn(AppID)
    /// Stop every process of the tree; answered by stopped, perhaps after stopIncomplete. Ends a resume under way.
    case stop(AppID)
    /// Continue every process of the tree; answered by resumed. Ends a stop under way.
    case resume(AppID)
    /// SIGTERM to the tree, then SIGCONT; answered by exited and gone. Ends a stop under way.
    case terminate(AppID)
    /// SIGKILL to the tree until none is left; answered by exited and gone.
    case kill(AppID)
    /// Tell the app that listens; answered by done with the same number.
    case deliver(AppID, Delivery)
    /// Tell the app that its task or activity holds it, or why it does not.
    case answerHold(AppID, UInt64, HoldRefusal?)
    /// Tell the app when the time of its tasks ends; nil where it does not run.
    case tellTimeLeft(AppID, until: Instant?)
    /// Tell the app that the time of its task is over, and until when it has to end.
    case expireTask(AppID, UInt64, deadline: Instant)
    /// Take note of the memory that the app holds, which is about to be ended for it.
    case measureMemory(AppID)
    /// Look at the memory again, now that the app is gone; answered by ``Input/memoryLookedAt(_:_:freed:)``. At once, or
    /// when the machine has had time to feel the difference.
    case lookAtMemory(after: AppID, atOnce: Bool)
    /// An app's state has changed.
    case transition(Transition)
    /// The state of a scene has changed.
    case sceneTransition(SceneTransition)
    /// The core decided something that people will want to find in the journal.
    case decision(Decision)
    /// A request has ended. Each request is answered exactly once.
    case reply(RequestID, Reply)
    /// The app is no longer known; its last exit and why it was ended for its memory, where it has ended.
    case forgotten(AppID, exit: ExitRecord?, reclaimed: Reclaimed?)
    /// After a shutDown: no app runs any more.
    case finished
}

/// A callback on its way to an app.
public struct Delivery: Sendable, Equatable {
    /// Tells this callback from every other one of this app.
    public let sequence: UInt64
    /// What the app is told.
    public let callback: Callback
    /// When the daemon goes on without the answer, or acts upon its absence.
    public internal(set) var deadline: Instant
    /// What the app is while it deals with the callback.
    public let state: AppState
    /// Why it was launched, with a launch callback.
    public var launch: Launch?
    /// How long its background tasks may take, with didEnterBackground.
    public var taskTime: Duration?
    /// What it is about, where the callback is an event.
    public var event: QueuedEvent?
    /// The scene that it is about, where it is about one.
    public var scene: SceneNews?

    var notice: Notice { Notice(callback, scene?.scene) }
}

/// Why an app was launched, and how it ended before.
public struct Launch: Sendable, Equatable {
    /// Why.
    public let reason: Reason
    /// How it ended the last time, if it ran before.
    public let previous: ExitRecord?
    /// What it was launched to open, if anything.
    public var url: String?

    /// Whether the system ended it, so that it may find again what it was doing.
    public var restores: Bool { previous?.reason.callsForRestoration ?? false }
}

/// One step of one app.
public struct Transition: Sendable, Equatable {
    /// Which app.
    public let app: AppID
    /// The state that it left.
    public let from: AppState
    /// The state that it is in now.
    public let to: AppState
    /// Why.
    public let reason: Reason
    /// When.
    public let instant: Instant
    /// When the app entered the state that it left.
    public let since: Instant
    /// How long the app took to answer the callback that this step waited for.
    public let answerTime: Duration?
}

extension Transition {
    /// How long the app had been in the state that it left.
    public var stateTime: Duration { max(.zero, instant.duration(since: since)) }
}

/// Something that was decided beside the transitions.
public enum Decision: Sendable, Equatable {
    /// Somebody else continued a suspended app; it is being stopped again.
    case stopRenewed(AppID)
    /// Processes of the app do not stop yet.
    case stopIncomplete(AppID, String)
    /// Somebody else stopped a running app; it is left alone until it is wanted.
    case stoppedByOther(AppID)
    /// The app answered, after this time.
    case answered(AppID, Callback, Duration)
    /// The app did not answer in time.
    case answerOverdue(AppID, Callback)
    /// The app outlived its grace, and is being killed.
    case graceOver(AppID)
    /// The app's program could not be started.
    case launchFailed(AppID, StartFailure)
    /// The time of the app's background tasks is over; which tasks are left.
    case tasksOverdue(AppID, [Hold])
    /// The main process ended.
    case exited(AppID, ExitRecord)
    /// The app was ended for its memory; why, and what has come back.
    case reclaimed(AppID, Reclaimed)
    /// Scenes of the app are disconnected for their memory; which.
    case scenesReclaimed(AppID, [SceneID])
    /// What the app wanted with a scene is not to be had.
    case sceneRefused(AppID, Refusal)
    /// An interruption began.
    case interruptionBegan(String)
    /// An interruption ended, was answered with another app, or was dismissed by going back.
    case interruptionEnded(String)
    /// Something happened to the machine or the session.
    case machine(MachineEvent)
    /// What became of an errand.
    case eventEnded(AppID, AppEvent, EventOutcome)
    /// The app keeps ending; it is started again only after this time.
    case restartDelayed(AppID, Duration)
    /// The app has ended so many times in a row, each soon after its start, that it is not started again.
    case givenUp(AppID, failures: Int)
}

extension Decision {
    /// The app that it is about, if any.
    public var app: AppID? {
        switch self {
        case .stopRenewed(let app), .stopIncomplete(let app, _), .stoppedByOther(let app), .answerOverdue(let app, _),
            .answered(let app, _, _), .tasksOverdue(let app, _), .eventEnded(let app, _, _),
            .graceOver(let app), .launchFailed(let app, _), .exited(let app, _), .restartDelayed(let app, _),
            .givenUp(let app, _), .scenesReclaimed(let app, _), .sceneRefused(let app, _),
            .reclaimed(let app, _):
            app
        case .interruptionBegan, .interruptionEnded, .machine: nil
        }
    }
}
