import OrderedCollections

/// Which apps there are, and what holds for them.
extension Lifecycle {
    mutating func configure(_ settings: Settings) {
        let homeBefore = self.settings.homeApp
        self.settings = settings
        if let homeBefore { dropUncoveredRestart(of: homeBefore) }
        self.settings.frontLimit = max(1, settings.frontLimit)
        trimFront(reason: .foregroundLimit)
        for id in places { unsettled.append(id) }
        unsettleUsed()
        unsettleWaitingForPlace()
    }

    mutating func define(_ id: AppID, _ policy: Policy) {
        // Most of a configuration that is read again says nothing new, and whoever runs has what it says already.
        if let app = apps[id], app.isRunning, app.policy == policy { return }
        if apps[id] == nil { apps[id] = App(id: id, policy: policy, since: now) }
        // Where the new policy moves a background app, it is the reason.
        if let app = apps[id], app.isRunning, app.policy.suspend != policy.suspend, app.wish == .run,
            !front.contains(id)
        {
            apps[id]?.wishReason = .policy
        }
        apps[id]?.policy = policy
        noteLaunched(id)
        dropUncoveredRestart(of: id)
        unsettled.append(id)
    }

    mutating func remember(_ exit: ExitRecord, of id: AppID) {
        if let app = apps[id], !app.isRunning, app.lastExit == nil { apps[id]?.lastExit = exit }
    }

    mutating func forget(_ id: AppID) {
        apps[id]?.policy.isTransient = true
        removeIfTransient(id)
    }

    /// An app that nobody describes any more goes with its last process. By then everybody who waited for it has an answer.
    mutating func removeIfTransient(_ id: AppID) {
        guard let app = apps[id], app.policy.isTransient, !app.isRunning, app.wish == .rest else { return }
        deadlines.clearAll(id)
        returning.remove(id)
        for use in app.uses { used[use]?.remove(id) }
        apps[id] = nil
        effects.append(.forgotten(id, exit: app.lastExit, reclaimed: app.reclaimed))
    }
}
