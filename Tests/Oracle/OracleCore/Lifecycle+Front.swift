import OrderedCollections

/// What is in front: a list, the latest first, with a limit.
extension Lifecycle {
    /// Wants the app in the foreground, as a person's choice.
    mutating func bringToFront(_ id: AppID, reason: Reason) {
        forgetReturns()
        putInFront(id, reason: reason)
    }

    /// Wants the app in the foreground, and running; the apps that are too many leave. Interruptions go on: the app is inactive
    /// until they have ended.
    mutating func putInFront(_ id: AppID, reason: Reason) {
        front.removeAll { $0 == id }
        front.insert(id, at: 0)
        want(id, reason: reason)
        trimFront(reason: .displaced)
    }

    /// Wants the app to run. One that somebody else has stopped is continued, for it would be no use otherwise; and one of
    /// another daemon's in any case, for it is no child, and nobody hears that it was stopped.
    mutating func want(_ id: AppID, reason: Reason) {
        // A later wish for the foreground app moves an app that is still to be launched; it is not why it is launched.
        if let app = apps[id], !app.state.isAlive, !app.isSpawning || app.ending != nil {
            apps[id]?.launchReason = reason.isLaunchReason ? reason : .launch
        }
        apps[id]?.wish = .run
        apps[id]?.wishReason = reason
        apps[id]?.isSuspendedAtOnce = false
        giveUpVictim(id)
        deadlines.clear(.restart, id)
        returning.remove(id)
        if apps[id]?.isSpawning == true { deadlines.clear(.grace, id) }
        if let app = apps[id], app.isStoppedByOther || app.isToRunNow && inherited.contains(id) {
            apps[id]?.isStoppedByOther = false
            effects.append(.resume(id))
        }
        unsettled.append(id)
    }

    /// Takes apps off the front list until it is no longer than it may be.
    mutating func trimFront(reason: Reason) {
        while front.count > settings.frontLimit {
            let id = front.removeLast()
            apps[id]?.lastInFront = now
            apps[id]?.wishReason = reason
            unsettled.append(id)
        }
    }

    /// The apps in front, and those that are still on their way out.
    var inSight: [AppID] { apps.values.filter { $0.isInSight || front.contains($0.id) }.map(\.id).sorted() }

    /// Takes the app off the front list. The caller sees to the reason, and to what comes in front instead.
    mutating func leaveFront(_ id: AppID) {
        if front.contains(id) { apps[id]?.lastInFront = now }
        front.removeAll { $0 == id }
        unsettled.append(id)
    }

    // MARK: Home

    /// The home app is in front whenever nothing else is.
    mutating func fillFront() {
        guard front.isEmpty, hasStarted, !isShuttingDown, let home = settings.homeApp, let app = apps[home],
            deadlines.instant(.restart, home) == nil, app.isRunning || !app.policy.isTransient
        else { return }
        // One that is being ended comes back when it is gone, and not before.
        if case .end = app.wish { return }
        putInFront(home, reason: .home)
    }

    // MARK: Interruptions

    /// How many interruptions there may be at once: far more than a person can have, and no burden.
    public static let interruptionLimit = 64

    mutating func beginInterruption(_ name: String) {
        guard interruptions.append(name).inserted else { return }
        effects.append(.decision(.interruptionBegan(name)))
        retargetFront(reason: .interruption)
    }

    mutating func endInterruption(_ name: String) {
        guard interruptions.remove(name) != nil else { return }
        effects.append(.decision(.interruptionEnded(name)))
        if interruptions.isEmpty { retargetFront(reason: .interruptionEnded) }
    }

    mutating func retargetFront(reason: Reason) {
        for id in front {
            apps[id]?.wishReason = reason
            unsettled.append(id)
        }
    }
}
