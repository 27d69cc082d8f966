/// What the core knows of one app.
///
/// The `wish` and the facts around it (the front list, interruptions) are what people and rules decide; `target` follows
/// from them, and `state` follows `target` one edge of ``Route`` at a time. `awaiting` is the one thing outstanding.
public struct App: Sendable, Equatable {
    /// The app's name.
    public let id: AppID
    /// What holds for it.
    public internal(set) var policy: Policy
    /// Where it is.
    public internal(set) var state = AppState.notRunning
    /// Where it is on its way to.
    public internal(set) var target = AppState.notRunning
    /// Why it is where it is.
    public internal(set) var reason = Reason.none
    /// When it got there.
    public internal(set) var since: Instant
    /// How it ended the last time.
    public internal(set) var lastExit: Exit?
    /// Why it, and not another, was ended for its memory, where it was the last time.
    public internal(set) var reclaimed: Reclaimed?
    /// Whether it listens, and so is told of its life cycle.
    public internal(set) var isLinked = false

    /// Whether it listens, and has lost its channel with a daemon that died.
    public internal(set) var isAway = false

    /// Whether the first of `owed` was on its way when the channel was lost, so that the app may have had it.
    var mayHaveHeard = false

    /// What somebody wants of it.
    var wish = Wish.rest
    /// Why that is wanted.
    var wishReason = Reason.none
    /// Whether it stays awake out of sight until somebody suspends it.
    var keepsAwake = false
    /// How somebody says that it is used, without being in front.
    var uses: Set<Use> = []
    /// Which of that keeps it awake out of sight.
    public internal(set) var use: Use?
    /// When that ended while it was in the background; the time of its tasks runs from then.
    var lastInUse: Instant?
    /// Whether it was woken for something that it cannot be told, and has the time for it.
    var isWoken = false
    /// Whether somebody else stopped its main process.
    var isStoppedByOther = false
    /// When it left the front the last time since it was launched; nil where it never did.
    public internal(set) var lastInFront: Instant?
    /// Whether it has been in front since it was launched.
    var hasBeenInFront = false

    /// How often it has ended by itself in a row, each time soon after its start.
    public internal(set) var failures = 0
    /// Whether it has failed so often that it is not started again by itself.
    public internal(set) var isGivenUp = false

    /// The one thing outstanding.
    var awaiting: Awaiting?
    /// What it has to be told before its next step.
    var owed: [Notice] = []
    /// How many places there were when it was told willEnterForeground, which didBecomeActive always follows: it gets one of
    /// these even if there are fewer meanwhile. Nil where it was not told, or has got there.
    var placesPromised: Int?
    /// The number of the last callback.
    var lastSequence: UInt64 = 0

    /// What holds it in the background, in the order in which it began.
    public internal(set) var holds: [Hold] = []
    /// Whether it has answered the launch callbacks.
    var hasLaunched = false

    var hasTasks: Bool { holds.contains { $0.kind == .task } }

    /// What it shows, where its scenes have a life cycle of their own, and what it may show again.
    public internal(set) var scenes = Scenes()
    /// Whether its scenes had a life cycle of their own when it was launched.
    var runsWithScenes = false

    /// Whose requests wait for it, and for what.
    var waiters: [Waiter] = []

    /// What it is still to be told, beside its life cycle.
    public internal(set) var events: [QueuedEvent] = []
    /// The task that it works on, which keeps it awake and nobody waiting.
    var task: Delivery?
    /// The number of the last event.
    var lastEvent: UInt64 = 0
    /// What it was launched to open, if anything.
    public internal(set) var launchURL: String?
    /// The number of the event that it was launched for, as long as that is open.
    var launchEvent: UInt64?
    /// What it is to open, where its program takes that as an argument: then it is no longer to be told, whatever its
    /// manifest says by now.
    public var argumentURL: String? { events.contains { $0.number == launchEvent } ? nil : launchURL }
    /// Whether it has answered the first launch callback with no.
    var hasDeclined = false

    /// The state in which its end began, why, and what the kernel said, while it is on its way out.
    var ending: Ending?
    /// When it was last started, and why.
    public internal(set) var launched: Instant?
    var launchReason = Reason.launch

    init(id: AppID, policy: Policy, since: Instant) {
        self.id = id
        self.policy = policy
        self.since = since
    }

    /// Where the next step leads: the target, except that an app which was told that it comes to the front gets there, and
    /// that one which has work to do is not put to sleep.
    var destination: AppState {
        if owesActivation, target.isAlive { return .active }
        return target == .suspended && (hasWork || hasSceneWork) ? .background : target
    }

    /// Whether it was told that it comes to the front, and not yet that it is active.
    var owesActivation: Bool { placesPromised != nil }

    /// Whether it is in front, or it or a scene of it was told that it comes there.
    var isInSight: Bool { state.isForeground || owesActivation || isBringingScene }

    private var isBringingScene: Bool {
        if case .answer(_, _, .scene(let next)) = awaiting { next.isForeground } else { false }
    }

    /// Whether it has a process, or is getting one.
    public var isRunning: Bool { state != .notRunning || isSpawning }

    /// Whether its program is being started.
    public var isSpawning: Bool {
        if case .spawn = awaiting { true } else { false }
    }

    /// Whether its processes are stopped, or are to be.
    public var isStoppedOrStopping: Bool { awaiting == .stop || (state == .suspended && awaiting != .resume) }

    /// Whether it has a program that should be running at this moment.
    var isToRunNow: Bool { state.isAlive && !isStoppedOrStopping && awaiting != .resume }

    /// Whether it may go on: it has answered the launch callbacks, or need not.
    var isReady: Bool { hasLaunched || policy.callbacks != .required }

    /// Whether it has answered everything that it has to be told.
    var hasHeardAll: Bool { owed.isEmpty && awaitedCallback == nil }

    /// Why it ends, when its main process has ended with this status and nobody had sent a signal yet.
    func endReason(_ status: ExitStatus) -> Reason {
        if case .end = wish { return wishReason }
        return status == .code(0) ? .exit : .crash
    }

    /// Whether it is giving up its place among the active apps: it, or the last of its scenes that is active, has been
    /// told, and has not answered yet.
    var isResigning: Bool {
        guard let notice = awaitedNotice, notice.isResignation else { return false }
        return notice.scene.map { scenes[$0]?.state == .foregroundActive && scenes.activeCount == 1 } ?? true
    }

    /// The callback that it has not answered yet.
    public var awaitedCallback: Callback? {
        if case .answer(let delivery, _, _) = awaiting { delivery.callback } else { nil }
    }

    /// What it has not answered yet.
    var awaitedNotice: Notice? {
        if case .answer(let delivery, _, _) = awaiting { delivery.notice } else { nil }
    }

    /// Whether what it has not answered yet is an event.
    var awaitsEvent: Bool {
        if case .answer(let delivery, _, _) = awaiting { delivery.event != nil } else { false }
    }
}

extension App {
    /// A callback as the app is told of it.
    func delivery(of notice: Notice, sequence: UInt64, deadline: Instant, state: AppState) -> Delivery {
        var delivery = Delivery(sequence: sequence, callback: notice.callback, deadline: deadline, state: state)
        switch notice.callback {
        case .willFinishLaunching, .didFinishLaunching:
            delivery.launch = Launch(reason: launchReason, previous: lastExit, url: launchURL)
        case .didEnterBackground: delivery.taskTime = policy.timeouts.task
        // It runs when the last of them has left.
        case .sceneDidEnterBackground where state == .background: delivery.taskTime = policy.timeouts.task
        default: break
        }
        delivery.scene = notice.scene.map { SceneNews(scene: $0, reason: reasonToTell(notice.callback, of: $0)) }
        return delivery
    }
}

/// What somebody wants of an app.
enum Wish: Sendable, Equatable {
    /// Nothing: it need not run.
    case rest
    /// That it runs, in front or not.
    case run
    /// That it ends; asked first, or at once.
    case end(atOnce: Bool)
}

/// The one thing that an app's next step waits for.
enum Awaiting: Sendable, Equatable {
    /// The outcome of spawn; the state that follows.
    case spawn(to: AppState)
    /// The answer to a callback; when it was sent, and the state that follows the answer, if one does.
    case answer(Delivery, sent: Instant, to: Arrival?)
    /// That every process is stopped.
    case stop
    /// That every process is continued.
    case resume
    /// That every process is gone.
    case end
}

/// How an app's end began.
struct Ending: Sendable, Equatable {
    var state: AppState
    var reason: Reason
    var status = ExitStatus.unknown
}
