public import OrderedCollections

// The core as it is saved, so that another process can go on where this one was killed. An operation that was not saved has not begun, and
// what was saved is repeated by ``Input/resumeRestored``. Requests are not saved, for their clients are gone.

extension SlotReader {
    /// The app that the record is about; nil for a record of no app.
    public var appID: AppID? {
        var reader = self
        return AppID.code(nil, with: &reader)
    }
}

extension Engine {
    /// Returns the indexes of the apps whose records may have changed since the last call, forgotten apps included.
    public mutating func takeChangedIndexes() -> OrderedSet<AppIndex> {
        defer { knownApps.changed = [] }
        return knownApps.changed
    }

    /// The indexes of all apps.
    public var indexes: [Int] { knownApps.values.map { $0.index.value } }

    /// Returns the app of an index that was in use; nil if the app was forgotten.
    public func app(at index: Int) -> AppID? {
        knownApps.index(at: index).map { knownApps.id(of: $0) }
    }

    /// Adds the record of an app to a slot.
    ///
    /// - Parameters:
    ///   - index: The value of an index that ``takeChangedIndexes()`` has returned.
    ///   - slot: The slot.
    /// - Returns: The app; nil if there is no record. There is none of an app of which nothing is known but its definition.
    public mutating func writeRecord(at index: Int, to slot: inout SlotWriter) -> AppID? {
        code(appAt: index, with: &slot)
    }

    /// Writes the record of an app.
    ///
    /// - Parameters:
    ///   - index: The value of an index that ``takeChangedIndexes()`` has returned.
    ///   - coder: The writer.
    /// - Returns: The app; nil if there is no record.
    package mutating func code(appAt index: Int, with coder: inout some SavedCoder & ~Copyable) -> AppID? {
        guard let app = knownApps.index(at: index), !knownApps[app].isFresh else { return nil }
        knownApps.write(app, shared.deadlines.saved(app), with: &coder)
        return knownApps.id(of: app)
    }

    /// Adds the record of what concerns several apps to a slot.
    public mutating func writeRecord(to slot: inout SlotWriter) { code(with: &slot) }

    /// Returns whether an app has a record.
    public func hasRecord(of id: AppID) -> Bool {
        knownApps.index(of: id).map { !knownApps[$0].isFresh } ?? false
    }

    /// Creates the core that was saved. The caller delivers the outcomes of the apps' processes, before a tick, then
    /// ``AppMessage/reconnected(lastSequence:)`` for each channel that was kept, and then ``Input/resumeRestored``.
    ///
    /// - Parameters:
    ///   - machine: The record of what concerns several apps.
    ///   - records: The records of the apps.
    ///   - settings: The settings by now.
    ///   - policy: The policy of an app by now; nil for an app without a manifest, which is forgotten when it ends.
    ///   - now: The time.
    public init(
        restoring machine: SlotReader, apps records: [SlotReader], settings: Settings,
        policy: (AppID) -> Policy?, at now: Instant
    ) {
        self.init()
        restore(machine, apps: records, settings, policy, at: now)
    }

    /// Applies the records to a core without apps.
    ///
    /// - Parameters:
    ///   - machine: The record of what concerns several apps.
    ///   - records: The records of the apps.
    ///   - settings: The settings by now.
    ///   - policy: The policy of an app by now; nil for an app without a manifest.
    ///   - now: The time.
    package mutating func restore<Reader: SavedCoder>(
        _ machine: Reader, apps records: [Reader], _ settings: Settings, _ policy: (AppID) -> Policy?, at now: Instant
    ) {
        shared.now = now
        configure(settings)
        knownApps.reserveCapacity(records.count)
        for record in records { restoreApp(record, policy) }
        var machine = machine
        code(with: &machine)
        shared.foreground.removeAll { ![.run, .restart].contains(knownApps[$0].desired) }
        // There may be fewer foreground apps by now.
        trimForeground(reason: .foregroundLimit)
        for app in knownApps.sortedIndexes(where: { $0.state == .active }) { shared.activation.slots.appendOnce(app) }
    }

    /// Writes or reads the values: the table of what concerns several apps.
    package mutating func code(with coder: inout some SavedCoder & ~Copyable) {
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

    private mutating func restoreApp(_ record: some SavedCoder, _ policy: (AppID) -> Policy?) {
        var name = record
        guard let name = name.text("id", nil), !name.isEmpty, knownApps.index(of: AppID(name)) == nil else { return }
        let id = AppID(name)
        let unknown = Policy(timeouts: settings.timeouts, isTransient: true)
        let app = insert(id, policy(id) ?? unknown)
        var deadlines: [SavedDeadline] = []
        change(app) { machine, shared in
            var record = record
            machine.code(&deadlines, with: &record)
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
