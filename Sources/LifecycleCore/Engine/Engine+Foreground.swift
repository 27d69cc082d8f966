import OrderedCollections

// The foreground: which apps are there, what follows when one ends, and what blocks or interrupts it.

extension Engine {
    /// Brings the app to the foreground by a request of the user: no app comes back there by itself any more.
    mutating func bringToForeground(_ app: AppIndex, reason: Reason) {
        cancelRestart(of: app)
        shared.returning.removeAll()
        putInForeground(app, reason: reason)
    }

    /// Puts the app first in the foreground, and wants it running; the apps that are too many leave.
    mutating func putInForeground(_ app: AppIndex, reason: Reason) {
        shared.insertInForeground(app)
        want(app, reason: reason)
        trimForeground(reason: .displaced)
    }

    /// Wants the app to run: it is not reclaimed, and does not come back by itself.
    mutating func want(_ app: AppIndex, reason: Reason) {
        abandonReclaim(of: app)
        shared.returning.remove(app)
        change(app) { $0.run(reason: reason, &$1) }
    }

    /// Changes a machine that may take its last scene, and so itself, out of the foreground: then no app comes back there by itself.
    mutating func changeScenes(of app: AppIndex, _ body: (inout AppMachine, inout Shared) -> Void) {
        let wasInForeground = shared.foreground.contains(app)
        change(app, body)
        if wasInForeground, !shared.foreground.contains(app) { shared.returning.removeAll() }
    }

    /// Takes apps off the foreground list until it is no longer than it may be.
    mutating func trimForeground(reason: Reason) {
        while shared.foreground.count > settings.foregroundLimit {
            let app = shared.foreground.removeLast()
            change(app) { machine, shared in
                machine.lastInForeground = shared.now
                if machine.desired == .run { machine.desiredReason = reason }
            }
            shared.reconciles.appendOnce(app)
        }
    }

    /// The foreground apps, and those that have not left the foreground yet, in the order of the ids.
    var appsInForeground: [AppIndex] {
        knownApps.sortedIndexes { $0.isInOrEnteringForeground || shared.foreground.contains($0.index) }
    }

    /// Keeps the home app in the foreground while no other app is there.
    mutating func fillForeground() {
        guard shared.foreground.isEmpty, daemonPhase == .running, let home = shared.home,
            shared.deadlines[.restart, home] == nil,
            knownApps[home].isRunning || !knownApps[home].policy.isTransient
        else { return }
        // An app that ends comes back when it is gone, and not before: its end may be a failure that delays the launch.
        if knownApps[home].desired.isEnd || knownApps[home].state == .terminating { return }
        putInForeground(home, reason: .home)
    }

    /// Sends the apps in the foreground on their way again, for this reason.
    private mutating func reconcileForeground(reason: Reason) {
        for app in shared.foreground {
            change(app) { machine, _ in if machine.desired == .run { machine.desiredReason = reason } }
            shared.reconciles.appendOnce(app)
        }
    }

    // MARK: Interruptions

    /// The largest number of interruptions at once.
    public static let interruptionLimit = 64

    mutating func beginInterruption(_ name: String, for request: RequestID) {
        guard interruptions.contains(name) || interruptions.count < Self.interruptionLimit else {
            return refuse(request, .tooManyInterruptions(limit: Self.interruptionLimit))
        }
        if shared.interruptions.append(name).inserted {
            shared.announce(.interruptionBegan(name), of: nil)
            reconcileForeground(reason: .interruption)
        }
        wait(request, for: appsInForeground, goal: .notActive)
    }

    /// Ends an interruption. The app that answers it comes to the foreground in the same step, launched if need be, so that the
    /// interrupted app does not become active before it leaves.
    mutating func endInterruption(_ name: String, answer: AppID?, for request: RequestID) {
        let app = answer.flatMap { knownApps.index(of: $0) }
        if let answer, app == nil { return refuse(request, .noSuchApp(answer)) }
        guard shared.interruptions.remove(name) != nil else { return refuse(request, .noSuchInterruption(name)) }
        shared.announce(.interruptionEnded(name), of: nil)
        if interruptions.isEmpty { reconcileForeground(reason: .interruptionEnded) }
        guard let app else { return waitForForeground(request) }
        bringToForeground(app, reason: .interruptionEnded)
        wait(request, for: app, goal: .active)
    }

    // MARK: Blockers

    /// Applies a change of the machine. While the foreground is blocked, its apps stay on the list, and come when no blocker is left.
    mutating func apply(_ event: MachineEvent, for request: RequestID) {
        shared.announce(.machine(event), of: nil)
        switch event {
        case .lock:
            if !foregroundBlockers.contains(.locked) { notifyAll(.protectedDataWillBecomeUnavailable) }
            block(.locked, reason: .locked)
            wait(request, for: appsInForeground, goal: .outOfForeground)
        case .unlock:
            if foregroundBlockers.contains(.locked) { notifyAll(.protectedDataDidBecomeAvailable) }
            unblock(.locked, reason: .unlocked, for: request)
        case .switchAway:
            block(.switchedAway, reason: .switchedAway)
            wait(request, for: appsInForeground, goal: .outOfForeground)
        case .switchBack: unblock(.switchedAway, reason: .switchedBack, for: request)
        case .sleep:
            block(.asleep, reason: .sleep)
            wait(request, for: knownApps.sortedIndexes { $0.isRunning }, goal: .readyForSleep)
        case .wake:
            for app in knownApps.sortedIndexes {
                change(app) { machine, shared in
                    machine.refuseWaiters(with: .superseded(machine.id, by: .awake), &shared) { $0 == .readyForSleep }
                }
            }
            unblock(.asleep, reason: .awake, for: request)
        case .timeChange:
            notifyAll(.significantTimeChange)
            wait(request, for: [], goal: .awake)
        }
    }

    private mutating func block(_ blocker: ForegroundBlocker, reason: Reason) {
        guard shared.blockers.append(blocker).inserted else { return }
        reconcileUsed()
        reconcileForeground(reason: reason)
    }

    private mutating func unblock(_ blocker: ForegroundBlocker, reason: Reason, for request: RequestID) {
        if shared.blockers.remove(blocker) != nil, foregroundBlockers.isEmpty {
            reconcileUsed()
            reconcileForeground(reason: reason)
        }
        waitForForeground(request)
    }

    private mutating func notifyAll(_ news: Callback) {
        for app in knownApps.sortedIndexes { change(app) { $0.queue(.notice(news), &$1) } }
    }

    // MARK: The end of an app

    /// Ends the app. It leaves the foreground at once; the rest follows from its state.
    mutating func end(_ app: AppIndex, atOnce: Bool, reason: Reason) {
        precondition(reason.isExitReason, "no app ends for this reason")
        guard knownApps[app].isRunning else { return }
        // A failure before the end does not cancel the launch after it.
        guard knownApps[app].desired != .restart || !reason.callsForRestoration else {
            return change(app) { machine, shared in
                machine.desiredReason = reason
                machine.beginEnd(atOnce: atOnce, &shared)
            }
        }
        change(app) { machine, shared in
            let wasToRestart = machine.desired == .restart
            machine.desired = .end
            machine.desiredReason = reason
            // These requests wait for the next process, which is not launched any more.
            if wasToRestart {
                machine.refuseWaiters(with: machine.lossRefusal(shared.now), &shared) { $0.needsProcess }
            }
        }
        leaveForegroundEnding(app, reason: reason)
        change(app) { $0.beginEnd(atOnce: atOnce, &$1) }
    }

    /// Takes an app that ends out of the foreground, and brings its successor there.
    private mutating func leaveForegroundEnding(_ app: AppIndex, reason: Reason) {
        let wasInForeground = shared.foreground.contains(app)
        change(app) { $0.leaveForeground(&$1) }
        guard wasInForeground, !isShuttingDown else { return }
        let policy = knownApps[app].policy
        if policy.restart.covers(reason), !policy.isAdopted { shared.returning.appendOnce(app) }
        if policy.onExit == .previous, shared.foreground.isEmpty { bringPreviousForward() }
    }

    /// Brings forward the app that was in the foreground last, of those that still run.
    private mutating func bringPreviousForward() {
        if let previous = lastInForeground(where: { _ in true }) { putInForeground(previous, reason: .previous) }
    }

    /// Returns the app that was in the foreground last, of those that still run and match.
    private func lastInForeground(where matches: (AppMachine) -> Bool) -> AppIndex? {
        var last: (instant: Instant, id: AppID, app: AppIndex)?
        for machine in knownApps.values where machine.desired == .run && machine.state.isAlive && matches(machine) {
            guard let instant = machine.lastInForeground else { continue }
            if let best = last, (instant, machine.id) < (best.instant, best.id) { continue }
            last = (instant, machine.id, machine.index)
        }
        return last?.app
    }

    /// Brings the app back that left the foreground for a program that has never run. It was the last there.
    private mutating func bringDisplacedBack(by app: AppIndex) {
        guard !isShuttingDown, shared.foreground.count < settings.foregroundLimit,
            let launched = knownApps[app].launched,
            let displaced = lastInForeground(where: {
                $0.desiredReason == .displaced && $0.lastInForeground.map { $0 >= launched } == true
            })
        else { return }
        shared.foreground.append(displaced)
        want(displaced, reason: .previous)
    }

    /// Handles a program that could not be started. An app that was to end by then has ended.
    mutating func spawnFailed(_ app: AppIndex, _ failure: SystemFailure) {
        let wasToEnd = knownApps[app].desired.isEnd
        change(app) { $0.noteSpawnFailed(&$1) }
        let wasInForeground = shared.foreground.contains(app)
        leaveForegroundEnding(app, reason: .launchFailed)
        if wasInForeground { bringDisplacedBack(by: app) }
        change(app) { $0.reportSpawnFailed(failure, &$1) }
        if !wasToEnd { scheduleRestart(of: app, reason: .launchFailed) }
    }

    /// Handles the end of the main process, requested or not.
    mutating func exited(_ app: AppIndex, _ status: ExitStatus, othersLeft: Bool) {
        change(app) { $0.spawned(&$1) }
        guard knownApps[app].isRunning else { return }
        let wasTerminating = knownApps[app].state == .terminating
        let termination = change(app) { $0.noteExit(status, &$1) }
        if !wasTerminating, knownApps[app].desired == .rest { leaveForegroundEnding(app, reason: termination.reason) }
        if !othersLeft {
            gone(app, termination)
        } else if !wasTerminating {
            change(app) { $0.terminate(reason: termination.reason, begun: termination, &$1) }
        }
    }

    /// Handles the end of the last process of the tree.
    mutating func gone(_ app: AppIndex, _ begun: Termination? = nil) {
        let state = knownApps[app].state
        guard state != .notRunning else { return }
        if knownApps[app].desired == .restart {
            change(app) { $0.beginTermination(reason: .terminate, begun: begun, &$1) }
        }
        let termination = begun ?? knownApps[app].phase.termination ?? Termination(state: state, reason: .crash)
        if change(app, { machine, _ in machine.restUnlessWantedAgain() }) {
            leaveForegroundEnding(app, reason: termination.reason)
        }
        change(app) { $0.noteGone(termination, begun: begun, &$1) }
        scheduleRestart(of: app, reason: termination.reason)
        noteReclaimed(app)
    }

    /// Refuses the requests that wait for an end: the kernel holds processes that got SIGKILL. The shell continues.
    mutating func killOverdue(_ app: AppIndex) {
        change(app) { machine, shared in
            machine.refuseWaiters(with: .notGone(machine.id), &shared) { $0 == .gone }
        }
        noteReclaimed(app)
    }

    // MARK: Restart

    /// Decides whether and when an app that ended, or could not be started, is launched again. The home app is launched as late as
    /// any other, but without a limit, and only for want of another app in the foreground.
    private mutating func scheduleRestart(of app: AppIndex, reason: Reason) {
        let isHome = app == shared.home
        guard !isShuttingDown, knownApps[app].isRestarted(after: reason, isHome: isHome) else { return }
        if change(app, { $0.scheduleRestart(isLimited: !isHome, &$1) }) { restart(app) }
    }

    /// Launches the app again in its place. A home app without a policy of its own comes when it is needed.
    mutating func restart(_ app: AppIndex) {
        guard !isShuttingDown, knownApps[app].desired == .rest, !knownApps[app].isRunning else { return }
        if shared.returning.contains(app) {
            putInForeground(app, reason: .restart)
        } else if knownApps[app].policy.restart != .never {
            want(app, reason: .restart)
        }
    }

    /// Cancels a restart and clears the failures, for a request; returns whether the app was about to be launched again.
    @discardableResult
    mutating func cancelRestart(of app: AppIndex) -> Bool {
        change(app) { $0.cancelRestart(&$1) }
    }

    /// Cancels a restart that neither the policy nor the settings provide for any more.
    mutating func dropUncoveredRestart(of app: AppIndex) {
        let policy = knownApps[app].policy
        guard policy.isAdopted || policy.restart == .never && app != shared.home else { return }
        cancelRestart(of: app)
    }
}
