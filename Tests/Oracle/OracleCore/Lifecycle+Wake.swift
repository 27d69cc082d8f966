import OrderedCollections

/// Waking apps for work out of sight, on somebody's request or because a schedule says so.
///
/// An app that listens is handed a task, which keeps it awake until it is done. One that does not listen cannot be told:
/// it gets the time that a task has, and does with it what it likes.
extension Lifecycle {
    mutating func wake(_ id: AppID, kind: String, payload: String, for request: RequestID) {
        prepareToWake(id)
        guard cannotBeTold(id) else { return hand(.performTask(kind: kind, payload: payload), to: id, for: request) }
        giveWakeTime(to: id)
        wait(request, for: [id], goal: .woken, about: id)
    }

    /// The time for scheduled work has come. Work that still waits, or is under way, is not ordered twice.
    mutating func wake(_ id: AppID, kind: String) {
        guard !isShuttingDown else { return }
        prepareToWake(id)
        guard !cannotBeTold(id) else { return giveWakeTime(to: id) }
        let task = AppEvent.performTask(kind: kind)
        guard let app = apps[id], app.task?.event?.event != task, !app.events.contains(where: { $0.event == task }),
            notify(id, task) != nil
        else { return }
        if app.wish != .run { want(id, reason: .wake) }
    }

    /// Sees to it that an app which is about to be started again comes back where it was, and that one which is woken
    /// from sleep is awake for this reason.
    private mutating func prepareToWake(_ id: AppID) {
        if deadlines.instant(.restart, id) != nil { restart(id) }
        if let app = apps[id], app.wish == .run, app.state == .suspended, !front.contains(id) {
            apps[id]?.wishReason = .wake
        }
    }

    /// Whether nobody could tell the app what it is woken for: it does not listen, and is not about to.
    private func cannotBeTold(_ id: AppID) -> Bool {
        guard let app = apps[id] else { return false }
        if app.policy.callbacks == .none { return true }
        guard app.state.isAlive, !app.isLinked else { return false }
        return now >= (app.launched ?? now) + app.policy.timeouts.launch
    }

    /// - Parameter start: When the time began; now, if it is nil.
    mutating func giveWakeTime(to id: AppID, since start: Instant? = nil) {
        guard let app = apps[id] else { return }
        if app.wish != .run { want(id, reason: .wake) }
        apps[id]?.isWoken = true
        deadlines.set(.woken, id, at: (start ?? now) + app.policy.timeouts.task)
        unsettled.append(id)
    }

    /// The time of an app that was woken and could not be told what for is over, or is not needed any more.
    mutating func endWakeTime(of id: AppID) {
        guard apps[id]?.isWoken == true else { return }
        apps[id]?.isWoken = false
        deadlines.clear(.woken, id)
    }
}
