package import LifecycleCore

/// A computer: the core as the daemon drives it, apps, their processes, and an onlooker who knows what was promised.
///
/// It is a value, so that an exploration can go on from it in every direction.
package struct Machine: Sendable {
    package let setup: Setup
    package internal(set) var settings: Settings
    package internal(set) var policies: [AppID: Policy] = [:]
    package internal(set) var core = Engine()
    package internal(set) var now = Instant(microseconds: 0)
    /// The number of inputs the core was given.
    package internal(set) var inputs = 0
    /// The broken promises.
    package internal(set) var problems: [String] = []
    package var coverage = Coverage()
    /// The steps, for the report of a failure; empty unless it is to be printed.
    package internal(set) var story: [Happening] = []
    /// Called after each input, with the core as it is then.
    package var inspect: (@Sendable (Engine, Instant) -> String?)?

    var isTold = false
    var chance: Chance
    var queue = EventQueue()
    package internal(set) var trees: [AppID: Tree] = [:]
    var launches = 0
    /// The programs that the daemon is to adopt, and what manifests say of apps that are such programs now.
    var candidates: Set<AppID> = []
    var described: [AppID: Policy] = [:]
    /// The state of each app, from what the core said of its steps.
    var states: [AppID: AppState] = [:]
    /// The scenes of each app, from what was asked for, and what the core said of their steps.
    var sessions: [AppID: [SceneID: ObservedScene]] = [:]
    /// The last exit of each app.
    var ends: [AppID: EndCause] = [:]
    /// The requests that have no answer yet.
    package internal(set) var open: [UInt64: Request] = [:]
    var lastRequest: UInt64 = 0
    /// The launches that open requests are to replace.
    var restarted: [UInt64: Int] = [:]
    var handovers: [String: Handover] = [:]
    /// The apps that a client wants killed, or suspended, and that are not gone yet.
    var killsWanted: Set<AppID> = []
    var sleepWanted: Set<AppID> = []
    /// The instants of the requests to end apps that are not gone yet.
    var endsWanted: [AppID: Instant] = [:]
    /// The deadlines that run, as they were saved last.
    var deadlines: [AppID: [DeadlineKind: RunningDeadline]] = [:]
    /// The apps that were sent something since the last look at the deadlines, and since the last restart of the daemon began.
    var toldAnew: Set<AppID> = []
    var resent: Set<AppID> = []
    /// The use of the apps that a client has reported to the present daemon.
    var used: [Use: Set<AppID>] = [:]
    var file = RecordedState()
    var armed: Death?
    /// The apps that the present input has ended for their memory, and whose end was not seen yet.
    var victims: [AppIndex] = []
    /// The apps whose end has begun with the present input, and their states before that.
    var endsBegun: [AppID: AppState] = [:]
    var isDead = false
    var isTakingOver = false
    /// The instant at which the last daemon restored the apps.
    var tookOver = Instant(microseconds: 0)
    /// A Boolean value that indicates whether nothing goes wrong from now on.
    var isCalm = false
    var isShuttingDown = false
    var hasFinished = false
    var lastLimit: (limit: Int, until: Instant) = (1, Instant(microseconds: 0))

    package init(_ setup: Setup, chance: Chance, isTold: Bool = false) {
        self.setup = setup
        self.chance = chance
        self.isTold = isTold
        settings = setup.settings
        give(.configure(settings))
        for app in setup.apps {
            policies[app.id] = app.policy
            give(.define(app.id, app.policy))
        }
        give(.start)
    }

    var faults: Bool { setup.hasFaults && !isCalm }

    // MARK: The daemon's driver

    /// Gives the core an input, after the deadlines that are due.
    mutating func give(_ input: Input) {
        var ticks = 0
        while let due = core.nextDeadline, due <= now {
            handle(.tick)
            ticks += 1
            guard ticks < 1000 else { return report("deadlines without end") }
        }
        handle(input)
    }

    mutating func handle(_ input: Input) {
        inputs += 1
        if isTold { story.append(.input(input.words(in: core), now)) }
        noteBefore(input)
        let ready = core.handle(input, at: now)
        noteRescues()
        let changed = core.takeChangedApps()
        coverage.count(input, states, changed, in: core)
        noteNewScenes(input, changed)
        if setup.deaths != .none { file.keep(changed, of: core) }
        let death = isTakingOver ? nil : armed
        perform(ready, until: death)
        noteTargets(changed)
        guard let death else { return noteAfter(input, changed) }
        armed = nil
        checkDeadlines(changed)
        die(during: input, downtime: death.downtime)
    }

    // MARK: Time

    /// Lets time pass, and what is due in it happen in its order.
    package mutating func pass(_ duration: Duration) {
        let end = now + duration
        var count = 0
        while problems.isEmpty {
            let event = queue.next?.time
            let deadline = isDead ? nil : core.nextDeadline
            guard let due = [event, deadline].compactMap({ $0 }).min(), due <= end else { break }
            now = max(now, due)
            if let event, event <= now, deadline.map({ $0 > event }) ?? true {
                if let entry = queue.takeNext() { happen(entry.event) }
            } else {
                handle(.tick)
            }
            count += 1
            if count > 20_000 { report("no rest") }
        }
        now = max(now, end)
    }

    mutating func later(_ event: Event, within milliseconds: Int = 20) {
        queue.add(event, at: now + chance.time(upTo: milliseconds))
    }

    mutating func report(_ problem: String) { problems.append(problem) }

    mutating func happen(_ event: Event) {
        if let launch = event.launch {
            guard let tree = trees[launch.app], tree.number == launch.number else { return }
        }
        switch event {
        case .notice(let id, let outcome, _): notice(id, outcome)
        case .line(let id, let message, _): arrive(message, from: id)
        case .turn(let id, _): takeTurn(id)
        case .taskDone(let id, let sequence, _): finishTask(sequence, of: id)
        case .comeBack(let id, _): comeBack(id)
        case .describedAgain(let id): if !isDead, let policy = policies[id] { give(.define(id, policy)) }
        case .look(let level): if !isDead { give(.memory(MemoryShortage(level))) }
        }
    }
}

/// What happened, one line of a story.
package enum Happening: Sendable {
    case input(String, Instant)
    case consequence(String)
    case note(String)
}

/// The way in which the daemon is about to die.
struct Death: Sendable {
    let percent: Int
    let downtime: Duration
}

/// What the daemon has written down: each record as it was when something about it last changed.
struct RecordedState: Sendable {
    var machine = SavedRecord()
    var apps: [AppID: SavedRecord] = [:]
    /// The number of the last callback that was sent to each app.
    var told: [AppID: UInt64] = [:]

    mutating func keep(_ changed: [AppID], of core: Engine) {
        for id in changed { apps[id] = core.record(of: id) }
        machine = core.record
    }

    mutating func beginAnew(_ core: Engine) {
        apps = [:]
        keep(core.knownApps.keys.sorted(), of: core)
    }
}
