/// Something that keeps an app where it is: what its next step waits for, or why it is to be nowhere else.
public enum Obstacle: Sendable, Equatable {
    /// The kernel was asked to do this, and has not confirmed it; until when it has time, if that is limited.
    case process(Route.ProcessStep, until: Instant?)
    /// It has not answered what it was told, or its scene was; since when, and until when it may.
    case answer(Callback, SceneID?, since: Instant, until: Instant?)
    /// These have the places among the active apps, or come before it.
    case place([AppID])
    /// It has some time out of sight to finish what it does, since it does not listen or was used a moment ago.
    case backgroundTime(until: Instant)
    /// A task or an activity of it; until when a task may last, if its time runs.
    case hold(Hold, until: Instant?)
    /// It has work to do, of this kind where it can be told of what kind.
    case work(kind: String?, until: Instant?)
    /// It has to answer the launch callbacks before it goes on.
    case launch(until: Instant?)
    /// It has lost its channel, and is waited for.
    case channel(until: Instant?)
    /// Its scenes are on their way; it moves with them.
    case scenes
    /// An interruption of what is in front.
    case interruption(String)
    /// Nothing is in sight.
    case concealment(ForegroundBlocker)
    /// Its policy says that it is never suspended.
    case policy
    /// Somebody has woken it, and wants it awake.
    case request
    /// It is used, though it is not in front.
    case use(Use)
    /// It has ended by itself, and is started again then.
    case restart(at: Instant)
    /// It has ended by itself so often that it is not started again.
    case givenUp
    /// Somebody else has stopped its processes.
    case stoppedByOther
}

/// Something that will happen to an app at the latest, if it stays silent and nobody does anything.
public struct Prospect: Sendable, Equatable {
    /// What it is.
    public enum Event: Sendable, Equatable {
        /// The state changes.
        case transition(from: AppState, to: AppState, Reason)
        /// The app is told this.
        case callback(Callback)
        /// The time to answer this is over.
        case callbackOverdue(Callback)
        /// The app is told that the time of its background tasks is over.
        case tasksExpire
        /// SIGTERM.
        case terminate
        /// SIGKILL.
        case kill
    }

    /// When.
    public let instant: Instant
    /// What.
    public let event: Event
}
