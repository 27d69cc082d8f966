public import OrderedCollections

// The core as it is saved, so that another process can go on where this one was killed. An operation that was not saved has not begun, and
// what was saved is repeated by ``Input/resumeRestored``. Requests are not saved, for their clients are gone.

extension Engine {
    /// Returns the indexes of the apps whose records may have changed since the last call, forgotten apps included.
    public mutating func takeChangedIndexes() -> OrderedSet<AppIndex> {
        defer { knownApps.changed = [] }
        return knownApps.changed
    }

    /// Returns the record of an app; nil if the app was forgotten, or if nothing is known of it but its definition.
    public func savedRecord(of app: AppIndex) -> SavedRecord? {
        guard var machine = knownApps[known: app], !machine.isFresh else { return nil }
        var (writer, deadlines) = (SavedCoder(), shared.deadlines.saved(app))
        machine.code(&deadlines, with: &writer)
        return writer.record
    }

    /// The record of what concerns several apps.
    public var savedRecord: SavedRecord {
        var (core, writer) = (self, SavedCoder())
        core.code(with: &writer)
        return writer.record
    }

    /// Returns whether an app has a record.
    public func hasRecord(of id: AppID) -> Bool {
        knownApps.index(of: id).map { !knownApps[$0].isFresh } ?? false
    }

    /// Creates the core that was saved. The caller delivers the outcomes of the apps' processes, before a tick, then
    /// ``AppMessage/reconnected(lastSequence:)`` for each channel that was kept, and then ``Input/resumeRestored``.
    ///
    /// - Parameters:
    ///   - machine: The record of what concerns several apps.
    ///   - records: One record for each app.
    ///   - settings: The settings by now.
    ///   - policy: The policy of an app by now; nil for an app without a manifest, which is forgotten when it ends.
    ///   - now: The time.
    public init(
        restoring machine: SavedRecord, apps records: [(AppID, SavedRecord)], settings: Settings,
        policy: (AppID) -> Policy?, at now: Instant
    ) {
        self.init()
        shared.now = now
        configure(settings)
        knownApps.reserveCapacity(records.count)
        for (id, record) in records {
            restore(id, record, policy(id) ?? Policy(timeouts: settings.timeouts, isTransient: true))
        }
        var reader = SavedCoder(reading: machine)
        code(with: &reader)
        shared.foreground.removeAll { ![.run, .restart].contains(knownApps[$0].desired) }
        // There may be fewer foreground apps by now.
        trimForeground(reason: .foregroundLimit)
        for app in knownApps.sortedIndexes(where: { $0.state == .active }) { shared.activation.slots.appendOnce(app) }
    }

    /// Writes or reads the values: the table of what concerns several apps.
    private mutating func code(with coder: inout SavedCoder) {
        shared.foreground = coder.apps("front", shared.foreground, in: knownApps)
        let slots = coder.apps("place", shared.activation.slots, in: knownApps)
        let interruptions = coder.list("interruption", shared.interruptions.elements)
        coder.instant("memory-warned", &reclaimer.lastWarning)
        reclaimer.round = ReclaimRound.code(reclaimer.round, with: &coder, in: knownApps)
        shared.returning = coder.apps("returning", shared.returning, in: knownApps)
        let blockers = coder.list("concealed", shared.blockers.elements)
        coder.flag("started", &hasLaunchedAtStart)
        guard coder.isReading else { return }
        for app in slots where knownApps[app].state.isAlive { shared.activation.slots.appendOnce(app) }
        shared.interruptions = OrderedSet(interruptions.prefix(Self.interruptionLimit))
        shared.blockers = OrderedSet(blockers)
    }

    private mutating func restore(_ id: AppID, _ record: SavedRecord, _ policy: Policy) {
        guard knownApps.index(of: id) == nil else { return }
        let app = insert(id, policy)
        var deadlines: [SavedDeadline] = []
        change(app) { machine, shared in
            var reader = SavedCoder(reading: record)
            machine.code(&deadlines, with: &reader)
            for deadline in deadlines { shared.deadlines.set(deadline.kind, app, at: deadline.instant) }
            machine.launch.isForeign = machine.isRunning
            machine.completeLaunchWithoutDeadline(shared)
            machine.limitWork(&shared)
            machine.deferDeadlines(&shared)
            if machine.isRunning { shared.runningCount += 1 }
            if machine.state == .suspended { shared.suspendedCount += 1 }
        }
    }
}

extension AppMachine {
    /// Completes the launch of an app without a deadline for it: a changed manifest may require callbacks that were not required.
    mutating func completeLaunchWithoutDeadline(_ shared: borrowing Shared) {
        if state.isAlive, !isReady, shared.deadlines[.launch, index] == nil { launch.isComplete = true }
    }

    /// Sets the deadlines of work that a record lacks, so that nothing keeps the app running for ever.
    fileprivate mutating func limitWork(_ shared: inout Shared) {
        let end = shared.now + policy.timeouts.task
        if outbox.task != nil, shared.deadlines[.performTask, index] == nil {
            shared.deadlines.set(.performTask, index, at: end)
        }
        if assertions.isWoken, shared.deadlines[.woken, index] == nil { shared.deadlines.set(.woken, index, at: end) }
        if assertions.hasTasks, state == .background, shared.deadlines[.tasks, index] == nil,
            shared.deadlines[.taskExpiration, index] == nil
        {
            shared.deadlines.set(.tasks, index, at: end)
        }
    }

    /// Leaves time to read what the app said while there was no daemon, and to find out whether its channel was kept.
    fileprivate func deferDeadlines(_ shared: inout Shared) {
        shared.deadlines.postpone(
            [
                .answer, .resignation, .background, .launch, .reconnection, .exit, .tasks, .taskExpiration,
                .performTask, .hello, .woken, .sceneDisconnection, .termination, .signal,
            ], index, to: shared.now + Self.readingTime)
    }
}
