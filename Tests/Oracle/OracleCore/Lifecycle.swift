public import OrderedCollections

/// The machine that decides: inputs and the time go in, effects come out.
///
/// It is a value without a clock, input or output: the same state, input and instant give the same effects. Any input
/// in any state is handled. The shell does the effects in order, feeds each outcome back as a later input, and calls
/// again with ``Input/tick`` when ``nextDeadline`` has come.
public struct Lifecycle: Sendable {
    /// Every app that is known, running or not.
    public var knownApps: AppTable { apps }
    /// The apps in front, the latest first; never more than the settings allow.
    public internal(set) var front: [AppID] = []
    /// The names of the interruptions under way.
    public internal(set) var interruptions: OrderedSet<String> = []
    /// Why nothing is in sight, if so.
    public internal(set) var concealments: OrderedSet<ForegroundBlocker> = []
    /// What holds for all apps.
    public internal(set) var settings = Settings()
    /// Whether every app is to end and none may start.
    public internal(set) var isShuttingDown = false
    /// How many apps have a process, or are getting one.
    public internal(set) var runningCount = 0

    var apps = AppTable()
    /// The apps that are active or about to be, in turn; the first `frontLimit` of them have a place.
    var places: OrderedSet<AppID> = []
    /// The apps that could not take their next step for want of a place.
    var waitingForPlace: OrderedSet<AppID> = []
    /// The apps that have to be looked at before the input is done with.
    var unsettled: OrderedSet<AppID> = []
    /// The apps that somebody says are used in each way.
    var used: [Use: Set<AppID>] = [:]
    var requests: [RequestID: OpenRequest] = [:]
    var deadlines = Deadlines()
    /// How many apps are suspended.
    var suspendedCount = 0
    /// The round of ending apps for their memory that is under way.
    var reclaim: Reclaim?
    /// When the apps were last told that memory is short.
    var lastMemoryWarning: Instant?
    /// The apps that ended in front: if they are started again by themselves they come back there, unless somebody chooses
    /// another one first. Whoever wants one of them makes it like any other.
    var returning: OrderedSet<AppID> = []
    /// The apps that run since another daemon has started them, or was about to.
    var inherited: Set<AppID> = []
    /// Whether the apps were another daemon's before, so that this is not the start of anything.
    var isRestored = false
    var hasStarted = false
    var hasFinished = false
    var now = Instant(microseconds: 0)
    var effects: [Effect] = []

    /// A machine that knows no app.
    public init() {}

    /// When to call with ``Input/tick``, if nothing else happens before.
    public var nextDeadline: Instant? { deadlines.earliest }

    /// Handles one input. A ``Input/tick`` acts upon the earliest deadline, if that is due by `now`; the caller gives one
    /// for each that is due before it gives any other input. So one input leads to one callback an app at most, and the
    /// saved state, which has room for one, is never behind by more.
    ///
    /// - Parameter now: The time, never earlier than at the call before; one that is counts as the same time.
    /// - Returns: What is to be done, in this order.
    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        self.now = max(now, self.now)
        take(input)
        settle()
        keepSuspendedLimit()
        settle()
        finishShutDown()
        defer { effects.removeAll() }
        return effects
    }

    private mutating func take(_ input: Input) {
        switch input {
        case .start: start()
        case .configure(let settings): configure(settings)
        case .define(let id, let policy): define(id, policy)
        case .forget(let id): forget(id)
        case .remember(let id, let exit): remember(exit, of: id)
        case .request(let request, let wanted): begin(wanted, for: request)
        case .wake(let id, let kind): wake(id, kind: kind)
        case .use(let use, let ids): take(use, of: ids)
        case .shutDown: shutDown()
        case .outcome(let id, let outcome): take(outcome, of: id)
        case .message(let id, let message): take(message, from: id)
        case .takeOver: takeOver()
        case .memoryPressure(let level, let words): take(level, words)
        case .memoryLookedAt(let level, let words, let freed): takeLook(level, words, freed: freed)
        case .tick: if let due = deadlines.popDue(now) { expire(due.kind, due.app) }
        }
    }

    /// Sees to it that something is in front, and lets every app that something has changed for take the steps that it can
    /// take now.
    private mutating func settle() {
        fillFront()
        while !unsettled.isEmpty {
            let id = unsettled.removeFirst()
            guard apps[id] != nil else { continue }
            awaitListening(of: id)
            retarget(id)
            while step(id) {}
            answerWaiters(of: id)
            if apps[id]?.launched != nil { removeIfTransient(id) }
        }
    }
}

extension Lifecycle {
    /// When the app's time in the background ends, if it is limited.
    public func endOfBackgroundTime(of id: AppID) -> Instant? {
        [.background, .woken, .performTask].compactMap { deadlines.instant($0, id) }.max()
    }
}
