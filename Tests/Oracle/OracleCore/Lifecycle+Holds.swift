/// What keeps an app awake in the background: tasks for a limited time, activities for as long as they last.
extension Lifecycle {
    mutating func begin(_ kind: Hold.Kind, _ number: UInt64, _ name: String, of id: AppID) {
        let isRepeated = apps[id]?.holds.contains { $0.kind == kind && $0.number == number && $0.name == name } ?? false
        // An app whose channel was lost asks again for what it has.
        let refusal = isRepeated ? nil : refusal(of: kind, number, name, of: id)
        if refusal == nil, !isRepeated {
            apps[id]?.holds.append(Hold(kind: kind, number: number, name: name, since: now))
            noteHold(of: id)
        }
        effects.append(.answerHold(id, number, refusal))
    }

    mutating func tellTimeLeft(to id: AppID) {
        effects.append(.tellTimeLeft(id, until: taskTimeEnd(of: id)))
    }

    private mutating func noteHold(of id: AppID) {
        guard let app = apps[id], let hold = app.holds.last else { return }
        if hold.kind == .task, app.state == .background { startTaskTime(of: id) }
        // An activity may last for ever, and nobody is kept waiting for that.
        if hold.kind == .activity { refuseWaiters(of: id, with: .held(id, by: hold)) { $0.goal == .suspended } }
    }

    private func refusal(of kind: Hold.Kind, _ number: UInt64, _ name: String, of id: AppID) -> HoldRefusal? {
        guard let app = apps[id] else { return .timeIsUp }
        if app.holds.contains(where: { $0.number == number }) { return .duplicate }
        if app.holds.count >= app.policy.holdLimit { return .tooMany }
        switch kind {
        case .task: return isTaskTimeUp(of: app) ? .timeIsUp : nil
        case .activity: return app.policy.backgroundModes.contains(name) ? nil : .undeclared
        }
    }

    mutating func endHold(_ number: UInt64, of id: AppID) {
        apps[id]?.holds.removeAll { $0.number == number }
        if apps[id]?.hasTasks == false { endTaskExpiration(of: id) }
    }

    mutating func dropHolds(of id: AppID) {
        apps[id]?.holds = []
        deadlines.clear(.tasks, id)
        endTaskExpiration(of: id)
    }

    mutating func enterBackground(_ id: AppID) {
        if apps[id]?.hasTasks == true { startTaskTime(of: id) }
    }

    /// In front, and while the app is stopped, the time for its tasks does not run.
    mutating func leaveBackground(_ id: AppID) {
        deadlines.clear(.background, id)
        deadlines.clear(.tasks, id)
        endTaskExpiration(of: id)
    }

    mutating func endTaskExpiration(of id: AppID) {
        deadlines.clear(.taskExpiration, id)
        apps[id]?.taskDeadline = nil
    }

    private func isTaskTimeUp(of app: App) -> Bool {
        app.state == .background && app.use == nil && now >= taskTimeEnd(of: app)
    }

    /// All tasks share the time, which is counted from when the app entered the background, or was last used there. An app that is
    /// to be suspended by request has none.
    private func taskTimeEnd(of app: App) -> Instant {
        if app.wishReason == .suspend, !app.isSuspendedAtOnce { return app.since }
        return max(app.since, app.lastInUse ?? app.since) + app.policy.timeouts.task
    }

    /// Ends the time for the app's tasks now, if it runs.
    mutating func endTaskTime(of id: AppID) {
        guard deadlines.instant(.tasks, id) != nil else { return }
        deadlines.set(.tasks, id, at: now)
    }

    mutating func startTaskTime(of id: AppID) {
        guard let app = apps[id], app.use == nil, deadlines.instant(.tasks, id) == nil else { return }
        deadlines.set(.tasks, id, at: taskTimeEnd(of: app))
    }

    /// The app is told of each task that is left, and has a few seconds to end them. One that is away is told when it is
    /// back.
    mutating func expireTasks(_ id: AppID) {
        guard let app = apps[id], app.state == .background, app.hasTasks else { return }
        let deadline = now + app.policy.timeouts.taskExpiration
        let back = deadlines.instant(.comeBack, id) ?? deadline
        deadlines.set(.taskExpiration, id, at: max(deadline, back))
        guard !app.isAway else { return }
        apps[id]?.taskDeadline = deadline
        tellTaskDeadline(deadline, to: id)
    }

    /// An app that is back hears of the end of its tasks again: with the time that is left, or with all of it if it has never
    /// heard of it. What it said in time is read first.
    mutating func expireTasksAgain(_ id: AppID) {
        guard let app = apps[id], app.state == .background, app.hasTasks else { return }
        guard let deadline = app.taskDeadline else { return expireTasks(id) }
        deadlines.set(.taskExpiration, id, at: max(deadline, now + Self.readingTime))
        tellTaskDeadline(max(deadline, now), to: id)
    }

    private mutating func tellTaskDeadline(_ deadline: Instant, to id: AppID) {
        for hold in apps[id]?.holds ?? [] where hold.kind == .task {
            effects.append(.expireTask(id, hold.number, deadline: deadline))
        }
    }

    mutating func tasksOverdue(_ id: AppID) {
        guard let app = apps[id], app.hasTasks else { return }
        // Its tasks ended with its channel.
        guard deadlines.instant(.hangUp, id) == nil else { return hangUpOverdue(id) }
        effects.append(.decision(.tasksOverdue(id, app.holds.filter { $0.kind == .task })))
        end(id, atOnce: true, reason: .taskTimeout)
    }

    /// Returns when the time for the app's tasks ends, or has ended; nil where it does not run.
    public func taskTimeEnd(of id: AppID) -> Instant? {
        guard let app = apps[id], app.state == .background, app.use == nil else { return nil }
        return deadlines.instant(.taskExpiration, id) == nil ? taskTimeEnd(of: app) : now
    }

    /// When the time of a task ends, if it runs; nil for an activity.
    public func end(of hold: Hold, of id: AppID) -> Instant? {
        guard hold.kind == .task else { return nil }
        return deadlines.instant(.taskExpiration, id) ?? deadlines.instant(.tasks, id)
    }
}
