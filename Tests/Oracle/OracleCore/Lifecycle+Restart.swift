import OrderedCollections

/// What becomes of an app that has ended by itself, and what comes forward in its place.
///
/// The home app is one of these, whatever its own policy: it is started again as late as any other, but only for want
/// of something else in front, and it is never given up, for there would be nothing to look at.
extension Lifecycle {
    /// The app leaves the front because it ends. Called while it may still be there.
    ///
    /// - Parameter reason: Why it ends.
    mutating func leaveFrontEnding(_ id: AppID, reason: Reason) {
        let wasInFront = front.contains(id)
        leaveFront(id)
        guard wasInFront, !isShuttingDown, let app = apps[id] else { return }
        if app.policy.restart.covers(reason), !app.policy.isAdopted { returning.append(id) }
        if app.policy.onExit == .previous, front.isEmpty { bringPreviousForward() }
    }

    /// Brings forward who was in front last, of those that still run.
    private mutating func bringPreviousForward() {
        let candidates = apps.values.compactMap { app in
            app.wish == .run && app.state.isAlive ? app.lastInFront.map { (instant: $0, id: app.id) } : nil
        }
        if let previous = candidates.max(by: <) { putInFront(previous.id, reason: .previous) }
    }

    /// The app is gone, or could not be started. Decides whether and when it is started again.
    mutating func noteEnd(of id: AppID, reason: Reason) {
        guard !isShuttingDown, let app = apps[id], app.wish == .rest, !app.policy.isTransient, !app.policy.isAdopted
        else { return }
        let isHome = id == settings.homeApp
        guard app.policy.restart.covers(reason) || isHome && RestartPolicy.always.covers(reason),
            reason != .launchFailed || app.launchReason != .launch
        else { return }
        let lasted = app.launched.map { now.duration(since: $0) } ?? .zero
        let failures = lasted < Backoff.calmTime ? app.failures + 1 : 1
        apps[id]?.failures = failures
        apps[id]?.isGivenUp = !isHome && failures >= Backoff.limit
        guard apps[id]?.isGivenUp == false else {
            return effects.append(.decision(.givenUp(id, failures: failures)))
        }
        let delay = Backoff.delay(after: failures)
        guard delay > .zero else { return restart(id) }
        deadlines.set(.restart, id, at: now + delay)
        effects.append(.decision(.restartDelayed(id, delay)))
    }

    /// Starts the app again where it was, unless somebody has chosen another app for the front meanwhile. The home app
    /// without a policy of its own comes when it is needed.
    mutating func restart(_ id: AppID) {
        guard !isShuttingDown, let app = apps[id], app.wish == .rest, !app.isRunning else { return }
        if returning.remove(id) != nil {
            putInFront(id, reason: .restart)
        } else if app.policy.restart != .never {
            want(id, reason: .restart)
        }
    }

    /// A person has chosen what is in front: nobody comes back there by itself.
    mutating func forgetReturns() { returning.removeAll() }

    /// A person wants the app, or does not want it: it is given another chance when it is started again.
    ///
    /// - Returns: Whether it was about to be started again.
    @discardableResult
    mutating func cancelRestart(of id: AppID) -> Bool {
        let wasPending = deadlines.instant(.restart, id) != nil
        deadlines.clear(.restart, id)
        if apps[id]?.isRunning == false {
            apps[id]?.failures = 0
            apps[id]?.isGivenUp = false
        }
        return wasPending
    }

    /// What was promised to an app by a policy or a setting that it does not have any more; who was adopted has no such promise.
    mutating func dropUncoveredRestart(of id: AppID) {
        guard let app = apps[id] else { return }
        guard app.policy.isAdopted || app.policy.restart == .never && id != settings.homeApp else { return }
        cancelRestart(of: id)
    }

    /// Why the app was launched, and how it ended before; nil for one that is not known.
    public func launch(of id: AppID) -> Launch? {
        apps[id].map { Launch(reason: $0.launchReason, previous: $0.lastExit) }
    }

    /// When the app is started again, if it is waiting for that.
    public func restartTime(of id: AppID) -> Instant? { deadlines.instant(.restart, id) }

    // MARK: At the start

    mutating func start() {
        if !hasStarted { launchAtStart() }
        hasStarted = true
    }

    /// Launches what is to run from the start, in the order of the ids: of those for the front the last gets it.
    private mutating func launchAtStart() {
        guard !isRestored, !isShuttingDown else { return }
        let starting = apps.values.filter { $0.policy.launchAtStart != nil }.map(\.id).sorted()
        let forFront = starting.filter { apps[$0]?.policy.launchAtStart == .foreground }.suffix(settings.frontLimit)
        for id in starting {
            if forFront.contains(id) { putInFront(id, reason: .boot) } else { want(id, reason: .boot) }
        }
    }
}
