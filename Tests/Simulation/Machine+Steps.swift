package import LifecycleCore

/// The steps of a scenario.
extension Machine {
    package mutating func handle(_ step: Step) {
        chance = Chance(seed: step.seed)
        pass(step.pause)
        guard problems.isEmpty, !isDead else { return }
        perform(step.action)
        if problems.isEmpty { checkAll() }
    }

    package mutating func perform(_ action: Action) {
        switch action {
        case .ask(let request): ask(request)
        case .use(let use, let ids): give(.setUses(use, Set(ids)))
        case .pressure(let level): give(.memory(MemoryShortage(level)))
        case .beginTask(let id, let number): begin(number, isActivity: false, id)
        case .beginActivity(let id, let number): begin(number, isActivity: true, id)
        case .endAssertion(let id):
            guard let tree = trees[id], tree.canAct, let number = tree.heldAssertions.keys.min() else { return }
            endAssertion(number, of: id)
        case .say(let id, let message): want(message, id)
        case .close(let id): if let tree = trees[id], tree.hasSaidHello, tree.runs { say(.closed, id) }
        case .exit(let id, let status, let othersLeft): exit(id, status, othersLeft: othersLeft)
        case .killKeeper(let id): killKeeper(of: id)
        case .foreignContinue(let id): continueFromOutside(id)
        case .foreignStop(let id): stopFromOutside(id)
        case .configure(let settings): configure(settings)
        case .define(let id, let policy): define(id, policy)
        case .forget(let id):
            described[id] = nil
            // An app whose processes the daemon has adopted does not become a program that it could start.
            if policies[id]?.isAdopted == true, trees[id] != nil {
                policies[id]?.isTransient = true
            } else {
                policies[id] = nil
            }
            give(.forget(id))
        case .killDaemon(let percent, let downtime):
            if !isShuttingDown { armed = Death(percent: percent, downtime: downtime) }
        case .adopt(let id, let background): adopt(id, background: background)
        case .shutDown: shutDown()
        }
    }

    @discardableResult
    package mutating func ask(_ request: Request) -> UInt64 {
        lastRequest += 1
        let number = lastRequest
        open[number] = request
        if case .deliver(_, let event) = request, let key = event.key { handovers[key] = Handover(request: number) }
        give(.request(RequestID(number), request))
        return number
    }

    package mutating func shutDown() {
        isShuttingDown = true
        armed = nil
        give(.shutDown)
    }

    private mutating func exit(_ id: AppID, _ status: ExitStatus, othersLeft: Bool) {
        guard let tree = trees[id], tree.runs, tree.mainStatus == nil else { return }
        // A process that is stopped only ends by SIGKILL.
        if tree.isStopped || tree.isStoppedByOther, status != .signal(9) { return }
        if chance.happens(50) { say(.closed, id) }
        later(.notice(id, .exited(status, othersLeft: othersLeft), launch: tree.number), within: 3)
        if othersLeft, chance.happens(50) { later(.notice(id, .gone, launch: tree.number), within: 9000) }
    }

    /// An adopted app has none.
    private mutating func killKeeper(of id: AppID) {
        guard let tree = trees[id], tree.runs, policies[id]?.isAdopted != true else { return }
        later(.notice(id, .keeperEnded, launch: tree.number), within: 3)
    }

    private mutating func continueFromOutside(_ id: AppID) {
        guard let tree = trees[id], tree.isStopped || tree.isStoppedByOther, !tree.isGone else { return }
        if tree.isSeenStopped, chance.happens(20) { return signalFromOutside(id, tree) }
        proceed(id)
        trees[id]?.isContinuedByOther = true
        let earliest = timeOfLastStop(of: id)
        queue.add(.notice(id, .resumedByOther, launch: tree.number), at: earliest + chance.time(upTo: 3))
    }

    /// A client asks about an app for which a signal waits. Most apps end when they are continued.
    private mutating func signalFromOutside(_ id: AppID, _ tree: Tree) {
        give(.outcome(tree.app, .signalPending))
        guard trees[id]?.isStopped == false, chance.happens(75) else { return }
        later(.notice(id, .exited(.signal(15), othersLeft: false), launch: tree.number), within: 3000)
    }

    private mutating func stopFromOutside(_ id: AppID) {
        guard let tree = trees[id], tree.canAct else { return }
        trees[id]?.isStoppedByOther = true
        let earliest = timeOfLastStop(of: id)
        queue.add(.notice(id, .stoppedByOther, launch: tree.number), at: earliest + chance.time(upTo: 3))
    }

    /// Earlier operations, of the daemon or of others, are reported before.
    private func timeOfLastStop(of id: AppID) -> Instant {
        let last = queue.ordered.last { entry in
            switch entry.event {
            case .notice(id, .resumed, _), .notice(id, .resumedByOther, _), .notice(id, .stoppedByOther, _): true
            default: false
            }
        }
        return max(now, last?.time ?? now)
    }

    /// A manifest is read again. What it says of an app that is an adopted program holds when that has ended.
    private mutating func define(_ id: AppID, _ policy: Policy) {
        guard policies[id]?.isAdopted == true else {
            policies[id] = policy
            return give(.define(id, policy))
        }
        described[id] = policy
        policies[id] = policy.adopted
        give(.define(id, policy.adopted))
    }

    private mutating func configure(_ new: Settings) {
        if new.foregroundLimit < settings.foregroundLimit {
            lastLimit = (max(settings.foregroundLimit, lastLimit.until > now ? lastLimit.limit : 0), now + .seconds(3))
        }
        settings = new
        give(.configure(new))
    }
}
