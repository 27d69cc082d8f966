import OrderedCollections

/// What is on the screen, or plays, and is not in front: it stays in the background for as long as that lasts, and is not
/// ended for what it does there.
extension Lifecycle {
    /// Which apps are used in this way from now on; all others are not.
    mutating func take(_ use: Use, of ids: Set<AppID>) {
        let known = ids.filter { apps[$0] != nil }
        for id in known.symmetricDifference(used[use] ?? []).sorted() {
            if known.contains(id) { apps[id]?.uses.insert(use) } else { apps[id]?.uses.remove(use) }
            unsettled.append(id)
        }
        used[use] = known
    }

    /// Has another look at everything that is used: what that is worth may have changed.
    mutating func unsettleUsed() {
        for use in Use.allCases { for id in (used[use] ?? []).sorted() { unsettled.append(id) } }
    }

    /// Works out what keeps the app awake, and sees to what follows where that has changed.
    mutating func updateUse(of id: AppID) {
        guard let app = apps[id] else { return }
        let use = keepingUse(of: app)
        guard use != app.use else { return }
        apps[id]?.use = use
        if let use {
            if app.use == nil { beginUse(use, of: id) }
        } else {
            endUse(of: id)
        }
    }

    /// While nothing is in sight, nothing is visible. What sleeps cannot play: sound keeps an app awake, and wakes none.
    private func keepingUse(of app: App) -> Use? {
        Use.allCases.first { use in
            guard app.isRunning, app.uses.contains(use), settings.keptUses.keep(use, app.policy) else { return false }
            switch use {
            case .visible: return concealments.isEmpty
            case .playing: return app.use == .playing || !app.isStoppedOrStopping
            }
        }
    }

    /// The time of its tasks does not run: nobody loses from sight what they look at. And nobody is kept waiting for its
    /// sleep.
    private mutating func beginUse(_ use: Use, of id: AppID) {
        guard let app = apps[id] else { return }
        apps[id]?.isSuspendedAtOnce = false
        deadlines.clear(.tasks, id)
        endTaskExpiration(of: id)
        refuseWaiters(of: id, with: .inUse(id, use)) { $0.goal == .suspended }
        if app.wish == .run, app.isStoppedOrStopping, !front.contains(id) { apps[id]?.wishReason = Reason(use) }
    }

    /// It has the time that every app has out of sight, whether it listens or not: whoever looks may only have stumbled, or
    /// the window may be about to come back.
    private mutating func endUse(of id: AppID) {
        guard let app = apps[id], app.state == .background else { return }
        apps[id]?.lastInUse = now
        deadlines.set(.background, id, at: now + app.policy.timeouts.background)
        if app.hasTasks { startTaskTime(of: id) }
    }
}

extension Reason {
    fileprivate init(_ use: Use) {
        switch use {
        case .visible: self = .visible
        case .playing: self = .playing
        }
    }
}
