/// The account of a reclaim: why and how an app was ended for its memory.
public struct ReclaimRecord: Sendable, Equatable {
    /// The cause of a reclaim.
    public enum Cause: Sendable, Equatable {
        /// Memory was short.
        case pressure(MemoryShortage)
        /// A request simulates a shortage.
        case simulation
        /// More apps than this were suspended.
        case suspendedLimit(Int)

        var isPressure: Bool {
            if case .pressure = self { true } else { false }
        }

        var isSuspendedLimit: Bool {
            if case .suspendedLimit = self { true } else { false }
        }
    }

    /// The number of considered apps that are kept.
    public static let orderLimit = 16

    /// The cause.
    public let cause: Cause
    /// The first of the apps that could have been reclaimed, in their order; the app itself is the first.
    public let order: [AppID]
    /// The number of apps that could have been reclaimed.
    public let candidates: Int
    /// The memory that came back, in bytes; nil while it is not known.
    public internal(set) var freed: UInt64?

    init(cause: Cause, order: [AppID], candidates: Int? = nil, freed: UInt64? = nil) {
        self.cause = cause
        self.order = Array(order.prefix(Self.orderLimit))
        self.candidates = candidates ?? order.count
        self.freed = freed
    }
}

/// A round of reclaims: one app at a time is chosen, measured and ended, with a look at the memory after each.
struct ReclaimRound: Sendable, Equatable {
    /// The state of the round.
    enum Phase: Sendable, Equatable {
        /// The app is about to be gone.
        case ending
        /// Nothing more comes back from the app, and the pressure of a machine that has its memory would show from this instant on.
        case settling(until: Instant)
        /// The memory is being read.
        case reading
        /// Nothing more comes back from the app, and the memory need not be read. It goes on with the same input.
        case over
    }

    /// The app that is reclaimed, or was the last to be. It may not be known any more; nil if it was not known when the round was
    /// restored.
    var victim: AppIndex?
    /// The id of the app.
    var victimID: AppID
    /// The memory of the app before its end, in bytes; nil if it was not measured. Not saved.
    var size: UInt64?
    /// The account of it.
    var account: ReclaimRecord
    var phase = Phase.ending
    /// True if scenes were disconnected, and no app was ended.
    var isAboutScenes = false
    /// True if a request wants every app that may be reclaimed, whatever the memory says.
    var isForAll = false
    /// The apps that are gone so far. Not saved.
    var reclaimed: [AppID] = []
    /// The requests that wait for the end of the round. Not saved: their clients are gone with the daemon.
    var requests: [RequestID] = []
}

/// The shortage of memory, and the round under way.
struct Reclaimer: Sendable {
    /// The interval in which a further warning is no news.
    static let warningInterval = Duration.seconds(10)
    /// The time from the end of an app to the next look at the memory: long enough for pressure to show.
    static let settlingTime = Duration.milliseconds(200)

    /// The round under way.
    var round: ReclaimRound?
    /// The instant of the last memory warning to the apps.
    var lastWarning: Instant?

    /// The instant of the next look at the memory.
    var settlingEnd: Instant? {
        if case .settling(let end)? = round?.phase { end } else { nil }
    }

    /// Begins the round, or goes on with it, with this app.
    mutating func target(_ victim: AppIndex, _ id: AppID, _ account: ReclaimRecord, isAboutScenes: Bool) {
        var next = round ?? ReclaimRound(victim: victim, victimID: id, account: account)
        next.victim = victim
        next.victimID = id
        next.size = nil
        next.account = account
        next.phase = .ending
        next.isAboutScenes = isAboutScenes
        round = next
    }
}

/// The order of reclaims: suspended apps first, then background apps, those with an activity or a use, and foreground apps
/// while the foreground is blocked.
private enum ReclaimRank: Int {
    case suspended, background, used, blocked
}

extension Engine {
    // MARK: Inputs

    /// Begins a round, or goes on with the one that waits for this. Otherwise it is about a time when the app of the round still
    /// had its memory.
    mutating func handle(_ shortage: MemoryShortage) {
        switch reclaimer.round?.phase {
        case nil: if shortage.level == .critical { reclaimNext(.pressure(shortage)) }
        case .reading: finishStep(shortage)
        case .ending, .settling, .over: break
        }
        let isNews = reclaimer.lastWarning.map { now.duration(since: $0) >= Reclaimer.warningInterval } ?? true
        if shortage.level != .normal, isNews { warnApps() }
    }

    /// Acts as at this shortage of memory. Critical reclaims one app, or all that may be reclaimed.
    mutating func simulate(_ level: MemoryLevel, all: Bool, for request: RequestID) {
        switch level {
        case .normal:
            reclaimer.round?.isForAll = false
            shared.ready.answer(request, .reclaimed([]))
        case .warning:
            warnApps()
            shared.ready.answer(request, .reclaimed([]))
        case .critical:
            if reclaimer.round == nil { reclaimNext(.simulation) }
            guard reclaimer.round != nil else { return refuse(request, .nothingToReclaim) }
            reclaimer.round?.requests.append(request)
            if all { reclaimer.round?.isForAll = true }
            warnApps()
        }
    }

    /// Notes the memory of an app that is about to be gone.
    mutating func noteSize(_ size: UInt64, of app: AppIndex) {
        if let round = reclaimer.round, round.phase == .ending, round.victim == app { reclaimer.round?.size = size }
    }

    /// Goes on with the round without a look at the memory if it needs none, and begins one if too many apps are suspended.
    mutating func continueReclaim() {
        // What restored apps have said while there was no daemon comes first.
        guard daemonPhase != .beforeStart else { return }
        // In the same instant, an app that a request has saved is not taken again: its callbacks would begin anew.
        var spared: AppIndex?
        while let round = reclaimer.round, round.phase == .over {
            if !round.isAboutScenes, let victim = round.victim, knownApps[known: victim]?.reclaimed == nil {
                spared = victim
            }
            finishStep(nil, except: spared)
        }
        if isBeyondSuspendedLimit, reclaimer.round == nil { reclaimNext(.suspendedLimit(settings.suspendedLimit)) }
    }

    /// Reports what has come back, and goes on with the next app or ends the round.
    ///
    /// - Parameters:
    ///   - shortage: How short memory is now; nil if it was not read.
    ///   - spared: An app that is not taken next.
    private mutating func finishStep(_ shortage: MemoryShortage?, except spared: AppIndex? = nil) {
        guard let round = reclaimer.round else { return }
        if !round.isAboutScenes {
            let app = round.victim.flatMap { knownApps.contains($0) ? $0 : nil }
            var account = round.account
            account.freed = round.size
            if let app, knownApps[app].lastExit?.reason == .reclaimed {
                change(app) { machine, _ in machine.reclaimed?.freed = account.freed }
            }
            // An app that was spared, or has ended for another reason, has no account.
            if app.map({ knownApps[$0].reclaimed != nil }) ?? true {
                shared.announce(.reclaimed(round.victimID, account), of: app)
            }
        }
        guard let cause = causeToContinue(round, shortage), reclaimNext(cause, except: spared) else {
            return endReclaim()
        }
    }

    private func causeToContinue(_ round: ReclaimRound, _ shortage: MemoryShortage?) -> ReclaimRecord.Cause? {
        if round.account.cause.isPressure, let shortage, shortage.level == .critical { return .pressure(shortage) }
        if round.isForAll { return .simulation }
        return isBeyondSuspendedLimit ? .suspendedLimit(settings.suspendedLimit) : nil
    }

    /// Foreground apps that are suspended behind a blocker do not count.
    private var isBeyondSuspendedLimit: Bool {
        guard settings.suspendedLimit > 0 else { return false }
        let blocked = shared.foreground.count { knownApps[$0].state == .suspended }
        return shared.suspendedCount - blocked > settings.suspendedLimit
    }

    // MARK: Rounds

    /// Disconnects the background scenes, or else reclaims the first app in the order; returns whether there was any.
    @discardableResult
    private mutating func reclaimNext(_ cause: ReclaimRecord.Cause, except spared: AppIndex? = nil) -> Bool {
        guard !isShuttingDown else { return false }
        if !cause.isSuspendedLimit, let owner = disconnectBackgroundScenes() {
            let id = knownApps.id(of: owner)
            let account = ReclaimRecord(cause: cause, order: [id])
            reclaimer.target(owner, id, account, isAboutScenes: true)
            letSettle()
            return true
        }
        let order = reclaimOrder(suspendedOnly: cause.isSuspendedLimit).filter { $0 != spared }
        guard let app = order.first else { return false }
        let account = ReclaimRecord(cause: cause, order: order.map { knownApps[$0].id })
        reclaimer.target(app, knownApps.id(of: app), account, isAboutScenes: false)
        knownApps[app].reclaimed = account
        shared.ready.operations.append(.measureMemory(app))
        end(app, atOnce: knownApps[app].state == .suspended, reason: .reclaimed)
        return true
    }

    /// Continues the round when its app is gone, or the kernel does not let it go: nothing more comes back from it.
    mutating func noteReclaimed(_ app: AppIndex) {
        guard let round = reclaimer.round, round.phase == .ending, round.victim == app else { return }
        if knownApps[app].isRunning { reclaimer.round?.size = nil }
        continueRound(after: round.victimID)
    }

    private mutating func continueRound(after victim: AppID) {
        reclaimer.round?.reclaimed.append(victim)
        if isShuttingDown { endReclaim() } else { letSettle() }
    }

    /// Spares an app that was to be reclaimed, and was not asked to end yet, because a request needs it.
    mutating func abandonReclaim(of app: AppIndex) {
        guard let round = reclaimer.round, round.phase == .ending, knownApps[app].state.isAlive,
            round.victim == app
        else { return }
        knownApps[app].reclaimed = nil
        letSettle()
    }

    /// Looks at the memory when it has settled. Only pressure is a cause that may have gone meanwhile.
    private mutating func letSettle() {
        guard reclaimer.round?.account.cause.isPressure == true else {
            reclaimer.round?.phase = .over
            return
        }
        let end = now + Reclaimer.settlingTime
        reclaimer.round?.phase = .settling(until: end)
        shared.ready.operations.append(.markMemory)
    }

    /// Reads the memory, which has settled.
    mutating func readMemory() {
        reclaimer.round?.phase = .reading
        shared.ready.operations.append(.readMemory)
    }

    mutating func endReclaim() {
        guard let round = reclaimer.round else { return }
        reclaimer.round = nil
        for request in round.requests { shared.ready.answer(request, .reclaimed(round.reclaimed)) }
    }

    /// Redoes operations that the previous daemon may not have completed.
    mutating func resumeReclaim() {
        guard let round = reclaimer.round else { return }
        if round.phase != .ending {
            letSettle()
        } else if round.victim.flatMap({ knownApps[known: $0]?.isRunning }) != true {
            continueRound(after: round.victimID)
        }
    }

    // MARK: Scenes

    /// Disconnects the background scenes of all apps, and returns one of the apps. Suspended apps are told when they are continued.
    private mutating func disconnectBackgroundScenes() -> AppIndex? {
        let owners = knownApps.sortedIndexes { !$0.scenesToReclaim.isEmpty }
        for app in owners {
            change(app) { machine, shared in
                let scenes = machine.scenesToReclaim
                shared.announce(.scenesReclaimed(machine.id, scenes), of: app)
                for scene in scenes {
                    machine.scenes.update(scene) { ($0.isWanted, $0.desiredReason) = (false, .reclaimed) }
                    if machine.state == .suspended { machine.transition(scene, to: .unattached, &shared) }
                }
                shared.reconciles.appendOnce(app)
            }
        }
        return owners.first
    }

    // MARK: Order

    /// Returns the apps that may be reclaimed by their rank; of the same rank, the longest out of the foreground first.
    func reclaimOrder(suspendedOnly: Bool) -> [AppIndex] {
        var candidates: [(rank: Int, last: Instant, since: Instant, id: AppID, app: AppIndex)] = []
        for machine in knownApps.values {
            guard let rank = reclaimRank(of: machine), !suspendedOnly || rank == .suspended else { continue }
            let last = machine.lastInForeground ?? Instant(microseconds: 0)
            candidates.append((rank.rawValue, last, machine.since, machine.id, machine.index))
        }
        return candidates.sorted {
            ($0.rank, $0.last, $0.since, $0.id) < ($1.rank, $1.last, $1.since, $1.id)
        }.map { $0.app }
    }

    private func reclaimRank(of machine: AppMachine) -> ReclaimRank? {
        guard machine.desired == .run, machine.policy.suspend != .never, !machine.destination.isForeground
        else { return nil }
        let isInForeground = shared.foreground.contains(machine.index)
        // The home app would be launched again at once.
        if isInForeground, machine.index == shared.home { return nil }
        guard let rank = backgroundRank(of: machine) else { return nil }
        return isInForeground ? .blocked : rank
    }

    private func backgroundRank(of machine: AppMachine) -> ReclaimRank? {
        switch machine.state {
        // An app that is being continued may have something to save again.
        case .suspended: machine.phase.awaitsResume || machine.target != .suspended ? nil : .suspended
        case .background: machine.use != nil || machine.assertions.activity != nil ? .used : .background
        case .notRunning, .inactive, .active, .terminating: nil
        }
    }

    // MARK: Warnings

    /// Tells the connected apps that run. A suspended app has nothing that it could release, and is not told later.
    private mutating func warnApps() {
        reclaimer.lastWarning = now
        for app in knownApps.sortedIndexes {
            change(app) { machine, shared in
                if machine.desired == .run, !machine.isStoppedOrStopping {
                    machine.queue(.notice(.memoryWarning), &shared)
                }
            }
        }
    }
}
