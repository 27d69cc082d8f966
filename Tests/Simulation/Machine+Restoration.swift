package import LifecycleCore

/// The promises about what the daemon can say of its apps: a saved core is the same core, and a delayed app has a reason.
extension Machine {
    /// Checks what holds at any instant, for one input of eight; a forecast costs more, and is made for one of 1,024.
    mutating func checkOutlookAndRecords() {
        guard !isTakingOver, !isDead, inputs % 8 == 0 else { return }
        if let difference = core.differenceWhenRestored(at: now) { report("after a restart: \(difference)") }
        for id in core.knownApps.keys.sorted() {
            guard let next = core.nextState(of: id), core.conditions(of: id).isEmpty else { continue }
            report("\(id) is \(states[id] ?? .notRunning), is to be \(next), and has no condition")
        }
        guard inputs % 1024 == 0 else { return }
        for id in core.knownApps.keys.sorted() {
            let instants = core.forecast(of: id).map(\.instant)
            if instants != instants.sorted() { report("the forecast of \(id) is not in the order of time") }
        }
    }
}

extension Engine {
    /// Returns the index of an app that is known, or that the last input has forgotten.
    package func index(of id: AppID) -> AppIndex? {
        var core = self
        return core.latestIndex(of: id)
    }

    /// Returns the id of the app that has an index, or had it last.
    package func id(of index: AppIndex) -> AppID {
        var core = self
        return core.latestID(of: index)
    }

    /// Handles the outcome of an operation, or a change of an app's processes.
    package mutating func handle(_ outcome: Outcome, of id: AppID, at now: Instant) -> Ready {
        index(of: id).map { handle(.outcome($0, outcome), at: now) } ?? Ready()
    }

    /// Handles a message from an app over its channel.
    package mutating func handle(_ message: AppMessage, from id: AppID, at now: Instant) -> Ready {
        index(of: id).map { handle(.message($0, message), at: now) } ?? Ready()
    }

    /// Returns the apps whose records may have changed since the last call, those that were forgotten included.
    package mutating func takeChangedApps() -> [AppID] {
        takeChangedIndexes().map { id(of: $0) }
    }

    /// The fields of the shared record, without the activation slots of apps that are not alive: these join the queue anew.
    fileprivate func comparableFields(of record: SavedRecord) -> [SavedRecord.Field] {
        record.fields.filter { $0.name != "place" || knownApps[AppID($0.value)]?.state.isAlive == true }
    }

    /// Returns how a core that is restored from the records of this one differs from it; nil if it does not.
    fileprivate func differenceWhenRestored(at now: Instant) -> String? {
        let other = Engine(
            restoring: record, apps: records, settings: settings,
            policy: { knownApps[$0]?.policy }, at: now)
        if other.foreground != foreground { return "\(foreground) are in the foreground, then \(other.foreground)" }
        if other.interruptions != interruptions || other.foregroundBlockers != foregroundBlockers {
            return
                "\(interruptions) \(foregroundBlockers) hold, then \(other.interruptions) \(other.foregroundBlockers)"
        }
        if other.runningCount != runningCount { return "\(runningCount) apps run, then \(other.runningCount)" }
        let (shared, restoredShared) = (comparableFields(of: record), comparableFields(of: other.record))
        if shared != restoredShared { return "\(shared), then \(restoredShared)" }
        for id in knownApps.keys.sorted() {
            let (fields, restored) = (comparableFields(of: id), other.comparableFields(of: id))
            if fields != restored { return "\(fields), then \(restored)" }
            guard let app = knownApps[id], app.isRunning else { continue }
            guard let twin = other.knownApps[id] else { return "\(id) is forgotten" }
            if let difference = app.difference(from: twin) { return "\(id) has another \(difference)" }
        }
        return nil
    }

    /// The fields of an app, without the end of the time of tasks, which rests while something keeps the app running: a restored core
    /// does not know that before its first look.
    private func comparableFields(of id: AppID) -> [SavedRecord.Field] {
        record(of: id)?.fields.filter { $0.name != "deadline" || !$0.value.hasPrefix("tasks:") } ?? []
    }
}

extension AppMachine {
    /// Returns the name of a public property that differs; nil if none does.
    fileprivate func difference(from other: AppMachine) -> String? {
        if self.state != other.state || self.reason != other.reason || self.since != other.since { return "state" }
        if self.isConnected != other.isConnected || self.hasScenes != other.hasScenes { return "channel" }
        if self.launched != other.launched || self.argumentURL != other.argumentURL { return "launch" }
        if self.isSpawning != other.isSpawning || self.isStoppedOrStopping != other.isStoppedOrStopping {
            return "operation of the kernel"
        }
        if self.sentCallback?.delivery.callback != other.sentCallback?.delivery.callback { return "callback" }
        if self.isStoppedByOther != other.isStoppedByOther { return "stop by another process" }
        if self.heldAssertions != other.heldAssertions || self.use != other.use { return "hold" }
        if self.scenes != other.scenes { return "scene" }
        if self.events != other.events { return "event" }
        if self.restart.failures != other.restart.failures
            || self.restart.isLimitReached != other.restart.isLimitReached
        {
            return "number of failures"
        }
        return self.lastExit != other.lastExit || self.reclaimed != other.reclaimed ? "last exit" : nil
    }
}
