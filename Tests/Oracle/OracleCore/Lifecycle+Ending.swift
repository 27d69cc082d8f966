import OrderedCollections

/// How apps end: asked, forced, or by themselves.
extension Lifecycle {
    /// What the kernel gets for ending a tree that was killed, before whoever waits is told that it is not gone. An
    /// app's own grace, which may be none, has nothing to do with it.
    static let killTime = Duration.seconds(5)

    /// Wants the app to end. It leaves the front at once; what follows is up to its state.
    mutating func end(_ id: AppID, atOnce: Bool, reason: Reason) {
        guard let app = apps[id], app.isRunning else { return }
        apps[id]?.wish = .end(atOnce: atOnce)
        apps[id]?.wishReason = reason
        leaveFrontEnding(id, reason: reason)
        if atOnce {
            force(id)
        } else if app.isSpawning, deadlines.instant(.grace, id) == nil {
            // There is no program to ask yet, and there never may be: a directory of a dead server can hold it up.
            deadlines.set(.grace, id, at: now + app.policy.timeouts.willTerminate)
        }
    }

    /// SIGKILL to the tree, whatever the app is in the middle of.
    private mutating func force(_ id: AppID) {
        guard let app = apps[id] else { return }
        if case .spawn(let state) = app.awaiting {
            // What becomes of the spawn is waited for all the same; then this ending goes on.
            apps[id]?.ending = Ending(state: state, reason: app.wishReason)
        } else {
            guard app.state != .notRunning else { return }
            beginEnding(id, reason: app.wishReason)
        }
        effects.append(.kill(id))
        deadlines.clear(.grace, id)
        deadlines.set(.killed, id, at: now + Self.killTime)
    }

    /// The app was killed while it was starting; what is left is to see it go.
    mutating func goOnEnding(_ id: AppID, reason: Reason) {
        beginEnding(id, reason: reason)
        deadlines.set(.killed, id, at: now + Self.killTime)
    }

    /// SIGTERM to the tree, and the grace begins.
    mutating func askToEnd(_ id: AppID, reason: Reason? = nil) {
        guard let app = apps[id] else { return }
        beginEnding(id, reason: reason ?? app.wishReason)
        effects.append(.terminate(id))
        deadlines.set(.grace, id, at: (app.partingSince ?? now) + app.policy.timeouts.willTerminate)
    }

    private mutating func beginEnding(_ id: AppID, reason: Reason) {
        guard let app = apps[id] else { return }
        dropEvents(of: id, .lost)
        if app.ending == nil { apps[id]?.ending = Ending(state: app.state, reason: reason) }
        forgetConversation(with: id)
        if app.state != .terminating { endScenes(of: id, reason: app.ending?.reason ?? reason) }
        apps[id]?.awaiting = .end
        arrive(id, at: .terminating, reason: reason)
    }

    private mutating func forgetConversation(with id: AppID) {
        apps[id]?.isLinked = false
        apps[id]?.isAway = false
        apps[id]?.mayHaveHeard = false
        apps[id]?.owed = []
        apps[id]?.resignations = []
        apps[id]?.isSuspendedAtOnce = false
        apps[id]?.holds = []
        apps[id]?.taskDeadline = nil
        apps[id]?.partingSince = nil
        apps[id]?.isWoken = false
        deadlines.clearAll(id)
    }

    mutating func graceOver(_ id: AppID) {
        effects.append(.decision(.graceOver(id)))
        if apps[id]?.isSpawning == true { return force(id) }
        effects.append(.kill(id))
        deadlines.set(.killed, id, at: now + Self.killTime)
    }

    /// SIGKILL has been sent and processes are left: the kernel holds them. Whoever waits is told; the shell goes on.
    mutating func killOverdue(_ id: AppID) {
        refuseWaiters(of: id, with: .notGone(id)) { $0.goal == .gone }
        noteReclaimed(id)
    }

    /// The main process ended, whether it was asked to or not.
    mutating func exited(_ id: AppID, status: ExitStatus, othersLeft: Bool) {
        if case .spawn(let state) = apps[id]?.awaiting { spawned(id, to: state) }
        guard let app = apps[id], app.state != .notRunning else { return }
        let reason = app.ending?.reason ?? app.endReason(status)
        let state = app.ending?.state ?? app.state
        apps[id]?.ending = Ending(state: state, reason: reason, status: status)
        effects.append(.decision(.exited(id, ExitRecord(state: state, reason: reason, status: status, instant: now))))
        if app.state != .terminating {
            apps[id]?.wish = .rest
            leaveFrontEnding(id, reason: reason)
        }
        if !othersLeft {
            gone(id)
        } else if app.state != .terminating {
            askToEnd(id, reason: reason)
        }
    }

    /// The last process of the tree is gone.
    mutating func gone(_ id: AppID) {
        guard let app = apps[id], app.state != .notRunning else { return }
        let ending = app.ending ?? Ending(state: app.state, reason: .crash)
        // A wish to run that came while the app was ending stands: it is launched again.
        if app.wish != .run || app.state != .terminating {
            apps[id]?.wish = .rest
            leaveFrontEnding(id, reason: ending.reason)
        }
        // What came while it was ending is for its next launch.
        if app.state != .terminating { dropEvents(of: id, .lost) }
        forgetConversation(with: id)
        if app.state != .terminating { endScenes(of: id, reason: ending.reason) }
        apps[id]?.runsWithScenes = false
        apps[id]?.lastExit = ExitRecord(
            state: ending.state, reason: ending.reason, status: ending.status, instant: now)
        apps[id]?.ending = nil
        apps[id]?.awaiting = nil
        apps[id]?.keepsAwake = false
        apps[id]?.isStoppedByOther = false
        apps[id]?.hasBeenInFront = false
        apps[id]?.lastInFront = nil
        if ending.reason != .reclaimed { apps[id]?.reclaimed = nil }
        runningCount -= 1
        arrive(id, at: .notRunning, reason: ending.reason)
        leavePlaces(id)
        noteEnd(of: id, reason: ending.reason)
        noteReclaimed(id)
    }

    mutating func shutDown() {
        isShuttingDown = true
        for id in apps.keys.sorted() { end(id, atOnce: false, reason: .shutdown) }
        giveUpLook()
    }

    /// The longest that any app which runs may take to end, when all of them are asked at the same time.
    public var longestEnding: Duration {
        apps.values.filter(\.isRunning).map { app in
            let timeouts = app.policy.timeouts
            return timeouts.willResignActive + timeouts.willTerminate + Self.killTime
        }.max() ?? .zero
    }

    mutating func finishShutDown() {
        guard isShuttingDown, !hasFinished, runningCount == 0 else { return }
        hasFinished = true
        effects.append(.finished)
    }
}
