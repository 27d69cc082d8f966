import OrderedCollections

/// Giving the memory of apps back to the machine: who is warned, who has to go, and in which order.
extension Lifecycle {
    /// How soon after a warning the next one is no news. The machine may say as often as it likes that memory is short.
    static let warningInterval = Duration.seconds(10)

    /// The machine says how short memory is. While apps are being ended it is looked at after each of them, and what is
    /// said in between is about a time when that one still had its memory.
    mutating func take(_ level: MemoryLevel, _ words: String) {
        if level == .critical, reclaim == nil { beginReclaim(.pressure(words)) }
        guard level != .normal, lastMemoryWarning.map({ now.duration(since: $0) >= Self.warningInterval }) ?? true
        else { return }
        warnApps()
    }

    /// Somebody wants to see what happens when memory is short. Critical ends one app, or all that may go.
    mutating func simulate(_ level: MemoryLevel, all: Bool, for request: RequestID) {
        switch level {
        case .normal:
            reclaim?.isForAll = false
            effects.append(.reply(request, .reclaimed([])))
        case .warning:
            warnApps()
            effects.append(.reply(request, .reclaimed([])))
        case .critical:
            if reclaim == nil { beginReclaim(.simulation) }
            guard reclaim != nil else { return effects.append(.reply(request, .refused(.nothingToReclaim))) }
            reclaim?.waiters.append(request)
            if all { reclaim?.isForAll = true }
            warnApps()
        }
    }

    /// What the look at the memory has shown that was asked for when the last app was gone.
    mutating func takeLook(_ level: MemoryLevel, _ words: String, freed: UInt64?) {
        guard let round = reclaim, round.phase == .looking else { return }
        if !round.isAboutScenes {
            var account = round.account
            account.freed = freed
            if apps[round.victim]?.lastExit?.reason == .reclaimed { apps[round.victim]?.reclaimed?.freed = freed }
            effects.append(.decision(.reclaimed(round.victim, account)))
        }
        guard !isShuttingDown, let cause = causeToGoOn(round, level, words), reclaimNext(cause) else {
            return endReclaim()
        }
    }

    private func causeToGoOn(_ round: Reclaim, _ level: MemoryLevel, _ words: String) -> Reclaimed.Cause? {
        if case .pressure = round.account.cause, level == .critical { return .pressure(words) }
        if round.isForAll { return .simulation }
        return isOverSuspendedLimit ? .suspendedLimit(settings.suspendedLimit) : nil
    }

    // MARK: Rounds

    private mutating func beginReclaim(_ cause: Reclaimed.Cause) {
        guard !isShuttingDown else { return }
        _ = reclaimNext(cause)
    }

    /// Disconnects the scenes out of sight; where there are none, ends the first app of those that may go.
    ///
    /// - Returns: Whether there was something to take back.
    private mutating func reclaimNext(_ cause: Reclaimed.Cause) -> Bool {
        if !cause.isAboutSuspended, let owner = disconnectScenesOutOfSight() {
            let account = Reclaimed(cause: cause, order: [owner])
            var round = reclaim ?? Reclaim(victim: owner, account: account)
            round.victim = owner
            round.account = account
            round.phase = .looking
            round.isAboutScenes = true
            reclaim = round
            lookAtMemory()
            return true
        }
        let order = reclaimOrder(suspendedOnly: cause.isAboutSuspended)
        guard let id = order.first, let app = apps[id] else { return false }
        let account = Reclaimed(cause: cause, order: order)
        var round = reclaim ?? Reclaim(victim: id, account: account)
        round.victim = id
        round.account = account
        round.phase = .ending
        round.isAboutScenes = false
        reclaim = round
        apps[id]?.reclaimed = account
        effects.append(.measureMemory(id))
        end(id, atOnce: app.state == .suspended, reason: .reclaimed)
        return true
    }

    /// The app is gone, or the kernel does not let it go: in either case there is no more to be had from it.
    mutating func noteReclaimed(_ id: AppID) {
        guard reclaim?.victim == id, reclaim?.phase == .ending else { return }
        reclaim?.reclaimed.append(id)
        if isShuttingDown { return endReclaim() }
        reclaim?.phase = .looking
        lookAtMemory()
    }

    /// An app that was to end for its memory, and has not been asked to yet, is wanted again.
    mutating func giveUpVictim(_ id: AppID) {
        guard reclaim?.victim == id, reclaim?.phase == .ending, apps[id]?.state.isAlive == true else { return }
        apps[id]?.reclaimed = nil
        reclaim?.phase = .looking
        lookAtMemory()
    }

    private mutating func lookAtMemory() {
        guard let round = reclaim else { return }
        var isAtOnce = true
        if case .pressure = round.account.cause { isAtOnce = false }
        effects.append(.lookAtMemory(after: round.victim, atOnce: isAtOnce))
    }

    private mutating func endReclaim() {
        guard let round = reclaim else { return }
        reclaim = nil
        for request in round.waiters { effects.append(.reply(request, .reclaimed(round.reclaimed))) }
    }

    /// Nobody looks at the memory any more when the daemon stops.
    mutating func giveUpLook() { if reclaim?.phase == .looking { endReclaim() } }

    /// Repeats what may not have been done when the daemon before was killed.
    mutating func goOnReclaiming() {
        guard let round = reclaim else { return }
        if round.phase == .ending, apps[round.victim]?.isRunning != true { return noteReclaimed(round.victim) }
        if round.phase == .looking { lookAtMemory() }
    }

    /// What is in front and only concealed for now is none of the apps that sleep because they are not used.
    private var isOverSuspendedLimit: Bool {
        let concealed = front.count { apps[$0]?.state == .suspended }
        return settings.suspendedLimit > 0 && suspendedCount - concealed > settings.suspendedLimit
    }

    /// Ends the suspended apps that are too many.
    mutating func keepSuspendedLimit() {
        if isOverSuspendedLimit, reclaim == nil { beginReclaim(.suspendedLimit(settings.suspendedLimit)) }
    }

    // MARK: Scenes

    /// Takes back what scenes out of sight hold, of all apps at once: it costs nobody what is in use. The apps that run
    /// are told at once. Those that sleep are told when they are next continued: to wake them now would bring into memory
    /// what they have there, when there is none.
    ///
    /// - Returns: One of the apps that have such scenes; nil where there are none.
    private mutating func disconnectScenesOutOfSight() -> AppID? {
        let owners = apps.values.filter { !$0.scenesToReclaim.isEmpty }.map(\.id).sorted()
        for id in owners {
            guard let app = apps[id] else { continue }
            let scenes = app.scenesToReclaim
            effects.append(.decision(.scenesReclaimed(id, scenes)))
            for scene in scenes {
                apps[id]?.scenes.update(scene) { scene in
                    scene.isWanted = false
                    scene.wishReason = .reclaimed
                }
                if app.state == .suspended { arrive(scene, of: id, at: .unattached) }
            }
            unsettled.append(id)
        }
        return owners.first
    }

    // MARK: Order

    /// The apps that may be ended for their memory, the one first that is missed least: suspended ones, those that run
    /// out of sight, those that an activity or their use holds there, those in front that something conceals; of each, the one first that
    /// has not been in front for longest.
    func reclaimOrder(suspendedOnly: Bool = false) -> [AppID] {
        let candidates = apps.values.compactMap { app in reclaimRank(of: app).map { (app: app, rank: $0) } }
        return candidates.filter { !suspendedOnly || $0.rank == .suspended }.sorted { left, right in
            if left.rank != right.rank { return left.rank.rawValue < right.rank.rawValue }
            return left.app.wasInFrontLongerAgo(than: right.app)
        }.map(\.app.id)
    }

    private func reclaimRank(of app: App) -> ReclaimRank? {
        guard app.wish == .run, app.policy.suspend != .never, !app.destination.isForeground
        else { return nil }
        // The home app would be started again at once, since nothing is in front then.
        if front.contains(app.id), app.id == settings.homeApp { return nil }
        guard let rank = rankOutOfSight(of: app) else { return nil }
        return front.contains(app.id) ? .concealed : rank
    }

    private func rankOutOfSight(of app: App) -> ReclaimRank? {
        switch app.state {
        // One that is being continued may have something to save again.
        case .suspended: return app.awaiting == .resume || app.target != .suspended ? nil : .suspended
        case .background: return app.use != nil || app.holds.contains { $0.kind == .activity } ? .held : .background
        case .notRunning, .inactive, .active, .terminating: return nil
        }
    }

    // MARK: Warnings

    /// Tells the apps that listen and run. One that sleeps can give back nothing, and when it wakes the news is old.
    private mutating func warnApps() {
        lastMemoryWarning = now
        for id in apps.keys.sorted() where apps[id]?.canGiveBack == true { notify(id, .memoryWarning) }
    }
}

private enum ReclaimRank: Int {
    case suspended, background, held, concealed
}

extension Reclaimed.Cause {
    fileprivate var isAboutSuspended: Bool {
        if case .suspendedLimit = self { true } else { false }
    }
}

extension App {
    fileprivate var canGiveBack: Bool { self.wish == .run && !isStoppedOrStopping }

    /// Its scenes that are out of sight, and not on their way to the front.
    fileprivate var scenesToReclaim: [SceneID] {
        self.scenes.all.filter { scene in
            let target = sceneTarget(of: scene)
            return scene.state.isConnectedInBackground && target != .unattached && !target.isForeground
        }.map(\.id)
    }

    fileprivate func wasInFrontLongerAgo(than other: App) -> Bool {
        let never = Instant(microseconds: 0)
        return (self.lastInFront ?? never, self.since, self.id) < (other.lastInFront ?? never, other.since, other.id)
    }
}
