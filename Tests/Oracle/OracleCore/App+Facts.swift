extension App {
    /// All that is noted of an app; what follows from it is computed, in the other extensions of ``App``.
    ///
    /// The `wish` and the facts around it (the front list, interruptions) are what people and rules decide; `target` follows
    /// from them, and `state` follows `target` one edge of ``Route`` at a time. `awaiting` is the one thing outstanding.
    public struct Facts: Sendable, Equatable {
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
        public internal(set) var lastExit: ExitRecord?
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
        /// Whether it is suspended whatever it does in the background, until it is wanted again.
        var isSuspendedAtOnce = false
        /// How somebody says that it is used, without being in front.
        var uses: Set<Use> = []
        /// Which of that keeps it awake out of sight.
        public internal(set) var use: Use?
        /// When that ended while it was in the background; the time of its tasks runs from then.
        var lastInUse: Instant?
        /// Whether it was woken for something that it cannot be told, and has the time for it.
        var isWoken = false
        /// Whether somebody else stopped its main process.
        public internal(set) var isStoppedByOther = false
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
        /// The resignations that were sent while `awaiting` was the answer to another callback, in the order in which they were
        /// sent. Empty unless `awaiting` is an answer; the first of them takes its place when that has come or is not awaited any longer.
        var resignations: [Resignation] = []
        /// What it has to be told before its next step.
        var owed: [Notice] = []
        /// The number of the last callback.
        var lastSequence: UInt64 = 0

        /// What holds it in the background, in the order in which it began.
        public internal(set) var holds: [Hold] = []
        /// The deadline that the app was told for its expired tasks; set while the deadline of their expiration runs.
        var taskDeadline: Instant?
        /// The instant at which the app, which is to end, began to hear that its scenes are disconnected; nil if it has heard
        /// nothing of it. The time that it then has for its end runs from there.
        var partingSince: Instant?
        /// Whether it has answered the launch callbacks.
        var hasLaunched = false

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
    }
}
