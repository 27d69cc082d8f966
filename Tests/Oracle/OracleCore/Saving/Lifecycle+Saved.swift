import OrderedCollections

/// The whole machine as it is saved, so that another process can go on where this one was killed.
///
/// Whoever saves takes ``takeChangedApps()`` after each input and writes the records before the effects are done: what
/// was not written has not begun, and what was is repeated by ``Input/takeOver``. Requests are not saved, for their
/// callers are gone.
extension Lifecycle {
    /// How long an app that may have answered a daemon that was gone has for being read, when its deadline has passed.
    static let readingTime = Duration.milliseconds(250)

    /// The apps whose records may have changed since the last call.
    public mutating func takeChangedApps() -> [AppID] {
        Array(apps.takeTouched().union(deadlines.takeTouched()))
    }

    /// What is to be kept of an app; nil where that is nothing but its definition, or it is no longer known.
    public func record(of id: AppID) -> SavedRecord? {
        guard let app = apps[id] else { return nil }
        let isFresh =
            !app.isRunning && app.wish == .rest && app.lastExit == nil && app.reason == .none
            && app.scenes.all.isEmpty
        return isFresh ? nil : app.saved(deadlines: deadlines)
    }

    /// What is to be kept beside the apps.
    public var record: SavedRecord {
        var record = SavedRecord()
        for id in front { record.add("front", id.name) }
        for id in places { record.add("place", id.name) }
        for name in interruptions { record.add("interruption", name) }
        record.add("memory-warned", lastMemoryWarning)
        reclaim?.save(in: &record)
        for id in returning { record.add("returning", id.name) }
        for concealment in concealments { record.add("concealed", concealment.rawValue) }
        return record
    }

    /// The machine that was saved. Give it ``AppMessage/back(lastSequence:)`` for each channel that was kept, what became
    /// of the apps' processes, and then ``Input/takeOver``: the apps that listen are away until they are back.
    ///
    /// - Parameter policy: What holds for an app by now; nil for one that nobody describes any more, which is forgotten
    ///   when it ends.
    public init(
        restoring machine: SavedRecord, apps records: [SavedRecord], settings: Settings,
        policy: (AppID) -> Policy?, at now: Instant
    ) {
        self.init()
        self.now = now
        configure(settings)
        for record in records {
            let leftOver = Policy(timeouts: settings.timeouts, isTransient: true)
            guard let app = App(saved: record, policy: { policy($0) ?? leftOver }, now: now) else { continue }
            apps[app.id] = app
            deadlines.restore(app.id, from: record)
            noteLaunched(app.id)
            limitWork(of: app)
            deferConversation(with: app.id)
        }
        inherited = Set(apps.values.filter(\.isRunning).map(\.id))
        runningCount = inherited.count
        suspendedCount = apps.values.count { $0.state == .suspended }
        lastMemoryWarning = machine.instant("memory-warned")
        reclaim = Reclaim(saved: machine)
        front = OrderedSet(machine.all("front").map { AppID($0) }).filter { apps[$0]?.wish == .run }
        // There may be fewer places by now.
        trimFront(reason: .foregroundLimit)
        let placed = machine.all("place").map { AppID($0) }.filter { apps[$0]?.state.isAlive ?? false }
        let active = apps.values.filter { $0.state == .active }.map(\.id).sorted()
        places = OrderedSet(placed).union(active)
        interruptions = OrderedSet(machine.all("interruption").prefix(Self.interruptionLimit))
        returning = OrderedSet(machine.all("returning").map { AppID($0) }.filter { apps[$0] != nil })
        isRestored = true
        concealments = OrderedSet(machine.all("concealed").compactMap { ForegroundBlocker(rawValue: $0) })
    }

    /// One that has no time for its launch any more is past it, though another manifest may demand now what it has not said.
    mutating func noteLaunched(_ id: AppID) {
        guard let app = apps[id], app.state.isAlive, !app.isReady, deadlines.instant(.launch, id) == nil else { return }
        apps[id]?.hasLaunched = true
    }

    /// Nothing keeps an app awake for ever because its record does not say until when.
    private mutating func limitWork(of app: App) {
        let deadlines = deadlines
        let isSet = { (kinds: DeadlineKind...) in kinds.contains { deadlines.instant($0, app.id) != nil } }
        var missing: [DeadlineKind] = []
        if app.task != nil, !isSet(.performTask) { missing.append(.performTask) }
        if app.isWoken, !isSet(.woken) { missing.append(.woken) }
        if app.hasTasks, app.state == .background, !isSet(.tasks, .taskExpiration) { missing.append(.tasks) }
        for kind in missing { self.deadlines.set(kind, app.id, at: now + app.policy.timeouts.task) }
    }

    /// What an app has said in time is not acted upon as unsaid, only because nobody was there to hear it. Nor does it take a
    /// step that is due before it is known whether its channel was kept: it would not hear of its scenes' end before its own.
    private mutating func deferConversation(with id: AppID) {
        let earliest = now + Self.readingTime
        let kinds: [DeadlineKind] = [
            .answer, .resignation, .background, .launch, .comeBack, .tasks, .taskExpiration, .performTask, .hello,
            .woken,
        ]
        for kind in kinds {
            if let due = deadlines.instant(kind, id), due < earliest { deadlines.set(kind, id, at: earliest) }
        }
    }

    /// Repeats what may not have been done when the one before was killed. What was started again meanwhile is new.
    mutating func takeOver() {
        for id in apps.keys.sorted() {
            // Records in which a scene is gone and not forgotten make no sense, and would keep its app awake.
            forgetClosedScenes(of: id)
            guard let app = apps[id], app.isRunning, inherited.contains(id) else { continue }
            awaitReturn(of: id)
            repeatStep(of: app)
            unsettled.append(id)
        }
        goOnReclaiming()
    }

    private mutating func repeatStep(of app: App) {
        switch app.awaiting {
        case .spawn:
            effects.append(.spawn(app.id))
            if app.ending != nil { effects.append(.kill(app.id)) }
        // What the app has not had is told when it is back.
        case .answer: break
        case .stop: effects.append(.stop(app.id))
        case .resume: effects.append(.resume(app.id))
        case .end:
            let isAsked = deadlines.instant(.grace, app.id) != nil
            effects.append(isAsked ? .terminate(app.id) : .kill(app.id))
            // Perhaps it is asked only now.
            if isAsked { deadlines.set(.grace, app.id, at: now + app.policy.timeouts.willTerminate) }
        case nil:
            // It may have been continued in between, by the rescue for one.
            guard app.state == .suspended else { return }
            effects.append(.stop(app.id))
            apps[app.id]?.awaiting = .stop
        }
    }
}
