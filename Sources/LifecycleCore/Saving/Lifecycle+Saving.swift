import OrderedCollections

// The core as it is saved, so that another process can go on where this one was killed. An operation that was not saved has not begun, and
// what was saved is repeated by ``Input/resumeRestored``. Requests are not saved, for their clients are gone.

extension Lifecycle {
    /// Returns the apps whose records may have changed since the last call.
    public mutating func takeChangedApps() -> [AppID] { changed.takeAll(knownApps) }

    /// Returns the record of an app; nil if nothing is known of it but its definition, or if it is not known.
    public func record(of id: AppID) -> SavedRecord? {
        guard let app = knownApps.index(of: id), !knownApps[app].isFresh else { return nil }
        var record = knownApps[app].record
        for kind in DeadlineKind.allCases {
            guard let instant = shared.deadlines[kind, app] else { continue }
            record.add("deadline", kind.rawValue, instant.microseconds)
        }
        return record
    }

    /// The record of what concerns several apps.
    public var record: SavedRecord {
        var record = SavedRecord()
        for id in foreground { record.add("front", id.name) }
        for app in shared.activation.slots { record.add("place", knownApps[app].id.name) }
        for name in interruptions { record.add("interruption", name) }
        record.add("memory-warned", reclaimer.lastWarning)
        reclaimer.round?.write(to: &record)
        for app in shared.returning { record.add("returning", knownApps[app].id.name) }
        for blocker in foregroundBlockers { record.add("concealed", blocker.rawValue) }
        return record
    }

    /// Creates the core that was saved. The caller delivers ``AppMessage/reconnected(lastSequence:)`` for each channel that was
    /// kept, then the outcomes of the apps' processes, and then ``Input/resumeRestored``.
    ///
    /// - Parameters:
    ///   - machine: The record of what concerns several apps.
    ///   - records: The records of the apps.
    ///   - settings: The settings by now.
    ///   - policy: The policy of an app by now; nil for an app without a manifest, which is forgotten when it ends.
    ///   - now: The time.
    public init(
        restoring machine: SavedRecord, apps records: [SavedRecord], settings: Settings,
        policy: (AppID) -> Policy?, at now: Instant
    ) {
        self.init()
        shared.now = now
        configure(settings)
        for record in records {
            guard let name = record["id"], !name.isEmpty, knownApps.index(of: AppID(name)) == nil else { continue }
            restoreApp(AppID(name), record, policy)
        }
        reclaimer.lastWarning = machine.instant("memory-warned")
        reclaimer.round = ReclaimRound(saved: machine)
        shared.foreground = savedApps("front", in: machine) { $0.desired == .run }
        // There may be fewer foreground apps by now.
        trimForeground(reason: .foregroundLimit)
        let active = knownApps.sortedIndexes { $0.state == .active }
        for app in savedApps("place", in: machine, where: { $0.state.isAlive }) + active {
            shared.activation.append(app)
        }
        shared.interruptions = OrderedSet(machine.all("interruption").prefix(Self.interruptionLimit))
        shared.returning = savedApps("returning", in: machine) { _ in true }
        isRestored = true
        shared.blockers = OrderedSet(machine.all("concealed").compactMap { ForegroundBlocker(rawValue: $0) })
    }

    /// Returns the apps of a list that are known and match, each once.
    private func savedApps(
        _ name: String, in record: SavedRecord, where matches: (AppMachine) -> Bool
    ) -> [AppIndex] {
        var apps: [AppIndex] = []
        for id in record.all(name) {
            guard let app = knownApps.index(of: AppID(id)), matches(knownApps[app]), !apps.contains(app) else {
                continue
            }
            apps.append(app)
        }
        return apps
    }

    private mutating func restoreApp(_ id: AppID, _ record: SavedRecord, _ policy: (AppID) -> Policy?) {
        let unknown = Policy(timeouts: settings.timeouts, isTransient: true)
        let app = knownApps.insert(id, policy(id) ?? unknown, since: now)
        for text in record.all("deadline") {
            let parts = text.words(maxSplits: 1)
            guard parts.count == 2, let kind = DeadlineKind(rawValue: parts[0]), let time = UInt64(parts[1])
            else { continue }
            shared.deadlines.set(kind, app, at: Instant(microseconds: time))
        }
        change(app) { machine, shared in
            machine.restore(from: record)
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
        let earliest = shared.now + Self.readingTime
        let kinds: [DeadlineKind] = [
            .answer, .resignation, .background, .launch, .comeBack, .tasks, .taskExpiration, .performTask, .hello,
            .woken,
        ]
        for kind in kinds {
            if let due = shared.deadlines[kind, index], due < earliest {
                shared.deadlines.set(kind, index, at: earliest)
            }
        }
    }
}
