package import LifecycleCore

/// One launch of an app: its processes as the kernel has them, its channel, and the app's own mind.
package struct Tree: Sendable {
    /// What became of the channel.
    package enum Channel: Sendable {
        case open
        /// Gone with a daemon; the app wants it back.
        case lost
        case closed
    }

    /// What lies unread in the app's end of the channel.
    package enum Told: Sendable {
        case callback(Delivery)
        case expire(UInt64)
    }

    /// The index that the app has in the present core.
    package var app: AppIndex
    package let number: Int
    /// When the core wanted it; tells this launch from an earlier one.
    package let launched: Instant?

    // The kernel's side.
    package var failsToStart = false
    /// A Boolean value that indicates whether its program runs.
    package var runs = false
    package var isStopped = false
    package var isSeenStopped = false
    package var isStoppedByOther = false
    /// A Boolean value that indicates whether another program has continued it since, of which the daemon may not have heard.
    package var isContinuedByOther = false
    /// The exit status of the main process, when it has ended.
    package var mainStatus: ExitStatus?
    /// A Boolean value that indicates whether its keeper was killed.
    package var isKeeperEnded = false
    /// A Boolean value that indicates whether no process is left.
    package var isGone = false
    package var isExitReported = false
    /// Since when it has been asked to end, and when it was killed.
    package var asked: Instant?
    package var killed: Instant?

    // The channel.
    package var channel = Channel.open
    package var hasSaidHello = false
    package var lastLine = Instant(microseconds: 0)
    /// What the app has said while there was no daemon to read it.
    package var unread: [AppMessage] = []

    // The app's mind.
    package let manner: Manner
    /// A Boolean value that indicates whether its scenes have a life cycle of their own.
    package let hasScenes: Bool
    package var inbox: [Told] = []
    package var isBusy = false
    package var wantsToSayHello = false
    /// The number of the last callback that it has had.
    package var lastSequence: UInt64 = 0
    /// Its answers to the resignations received last, and to the callback before these.
    package var lastAnswers: [(sequence: UInt64, answer: AppAnswer)] = []
    package var taskAnswer: (sequence: UInt64, answer: AppAnswer)?
    /// What it has begun and not ended; true for an activity.
    package var heldAssertions: [UInt64: Bool] = [:]
    /// The scenes that it has, and of these what it has said that they show, and which it wants to be rid of.
    package var scenes: Set<SceneID> = []
    package var infos: [SceneID: String?] = [:]
    package var closing: Set<SceneID> = []

    /// What can be said of it from outside.
    package var watch = Watch()

    package init(app: AppIndex, number: Int, launched: Instant?, manner: Manner, hasScenes: Bool = false) {
        self.app = app
        self.number = number
        self.launched = launched
        self.manner = manner
        self.hasScenes = hasScenes
        watch.automaton = CallbackAutomaton(hasScenes: hasScenes)
    }

    /// A Boolean value that indicates whether the app can do anything at all.
    package var canAct: Bool { runs && !isStopped && !isStoppedByOther && mainStatus == nil && !isGone }
}

/// What an onlooker has seen of one launch, to tell whether the promises are kept.
package struct Watch: Sendable {
    package var automaton = CallbackAutomaton()
    /// The callback of the life cycle, or the event, that has not been answered.
    package var outstanding: Delivery?
    /// The resignations that were sent after it, and have not been answered.
    package var resignations: [Delivery] = []
    /// The work that has not been answered.
    package var task: Delivery?
    /// A Boolean value that indicates whether it was told that it is active, and has not given that up.
    package var believesActive = false
    /// When its deadline for giving that up passes, once it was told.
    package var resignsBy: Instant?
    /// The same for each of its scenes.
    package var scenes: [SceneID: SceneWatch] = [:]
    /// Since when it is not to be active.
    package var unwantedSince: Instant?
    /// Since when it has been in the background.
    package var backgroundSince: Instant?
    package var wasInForeground = false
    package var wasLinkedInBackground = false
    /// The deadline of the answer that it owed when its channel ended.
    package var answerDue: Instant?
    package var isToSleepAtOnce = false
    /// A Boolean value that indicates whether what it does in the background is not waited for either.
    package var isToStopAtOnce = false
    /// What holds it, in the eyes of both; true for an activity.
    package var granted: [UInt64: Bool] = [:]
    package var expiredAt: Instant?
    /// When its program was seen to run.
    package var started: Instant?
    /// A Boolean value that indicates whether it has answered both launch callbacks.
    package var hasAnsweredLaunch = false
    /// The instant of the request to end it, and whether it ends at once.
    package var endWanted: Instant?
    package var isKillWanted = false
    /// A Boolean value that indicates whether it was adopted, and a client has only released it.
    package var isToBeLetGo = false
    /// A Boolean value that indicates whether it has not answered in time that it is in the background.
    package var hasMissedBackground = false
    /// The number of the callback for whose answer the daemon did not wait as long as promised, because it had to make room.
    package var excused: UInt64?
    /// A Boolean value that indicates whether it is about to be ended for its memory.
    package var isVictim = false
    package var victimState = AppState.notRunning
    package var victimSince: Instant?
    /// When the core wanted SIGTERM to be sent, and a daemon that was killed in that moment may not have done so.
    package var asked: Instant?
    /// The cause of its end, present or near.
    package var cause: EndCause?
    /// Where it was when its end began.
    package var endedFrom: AppState?
    /// The reason for which it may be killed, as far as that was known when its end began.
    package var causeToKill: EndCause?
    /// A Boolean value that indicates whether it was away from a daemon for a time.
    package var wasAway = false

    /// When it was first to end, by a request or for its memory.
    var wantedToEnd: Instant? { [endWanted, victimSince].compactMap(\.self).min() }

    mutating func wantEnd(_ now: Instant) {
        endWanted = endWanted ?? now
        // The first cause counts when its memory was needed, and a user wants its end as well.
        if isVictim, cause == .system { cause = .unclear }
    }

    mutating func start(_ now: Instant) { started = started ?? now }
}
