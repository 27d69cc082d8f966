import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The restoration of the apps of the previous daemon.
extension Daemon {
    /// Restores the apps of the previous daemon, or begins with those of the configuration.
    ///
    /// - Parameter descriptors: The descriptors that were stored for this daemon.
    func restore(with configuration: LoadedConfiguration, _ descriptors: StoredDescriptors) throws {
        let names = descriptors.names
        apply(configuration.settings)
        if let saved = try readState() {
            restore(saved, configuration, descriptors)
        } else {
            parts.exits.ended.restore()
            parts.catalog.apply(configuration)
            turn.handleInputs()
            beginStore()
            parts.processes.checkRestored()
        }
        if !names.isEmpty {
            let inUse = parts.processes.tokens.map { DescriptorStore.name(of: $0) }
            for name in names.subtracting(inUse) { DescriptorStore.discard(name, log: log) }
        }
        descriptors.closeRest()
    }

    /// Reads the state of the previous daemon. Ends the apps of a state that cannot be used.
    ///
    /// - Throws: A ``DaemonError`` if a later attempt may succeed: a daemon that starts without the state would replace it,
    ///   and the stopped apps would stay stopped.
    private func readState() throws -> SavedState? {
        do throws(DaemonError) {
            return try SavedState.read(paths.stateFile, bootID: bootID)
        } catch {
            if error.isTransient { throw DaemonError(.start, "cannot restore the apps: \(error)") }
            endUnrestoredApps(error)
            return nil
        }
    }

    /// Ends the apps of a previous daemon whose state cannot be used: nothing else continues or thaws them. Adopted programs run on.
    private func endUnrestoredApps(_ cause: DaemonError) {
        let rest = SavedState.readRest(paths.stateFile, bootID: bootID)
        parts.processes.keepGroups(at: rest?.cgroups)
        log.write(
            LogEntry(
                id: .appsNotRestored, priority: .error,
                message: "cannot restore the apps: \(cause); ending those of the previous daemon",
                fields: [("LIFED_REASON", cause.description)]))
        parts.processes.table.endLeftovers(rest?.trees ?? [], timeout: Timeouts().termination)
    }

    /// Begins to save, and drops the records of apps that were not restored.
    private func beginStore() {
        let core = parts.driver.core
        store.add(.controlGroups, parts.processes.table.groups.map { SavedRecord(["cgroups": $0.path]) })
        store.begin(keeping: core.hasRecord(of:))
    }

    private func restore(
        _ saved: SavedState, _ configuration: LoadedConfiguration, _ descriptors: StoredDescriptors
    ) {
        let (driver, catalog, processes) = (parts.driver, parts.catalog, parts.processes)
        store.restore(saved)
        catalog.restore(saved, configuration)
        processes.keepGroups(at: saved.cgroups)
        parts.exits.ended.restore(saved.apps(with: .ended).map { ($0, saved[.ended, $0] ?? SavedRecord()) })
        // In this order of the indexes, each later sort by id takes one comparison an app.
        let records = saved.apps(with: .app).sorted().map { ($0, saved[.app, $0] ?? SavedRecord()) }
        driver.restore(
            Engine(
                restoring: saved[.machine] ?? SavedRecord(), apps: records, settings: catalog.usableSettings,
                policy: { catalog[$0]?.policy }, at: driver.now))
        if let record = saved[.bound] { parts.interruptions.restore(record) }
        let ids = driver.core.knownApps.keys.sorted()
        let look = processes.table.firstLook()
        var ended: [Input] = []
        for id in ids {
            guard let app = driver.app(id), app.isRunning else { continue }
            if let status = restore(app, saved, descriptors, look) {
                ended.append(.outcome(app.index, .exited(status, othersLeft: false)))
            }
        }
        // In this order the app that was suspended first is the kernel's first choice again.
        let states = driver.core.knownApps.values.map { (app: $0.index, state: $0.state, since: $0.since) }
        for app in states.sorted(by: { $0.since < $1.since }) {
            parts.resources.enter(app.state, app.app)
            parts.suspensions.entered(app.state, app.app)
        }
        keepUnannounced(of: saved)
        // From here on the next daemon must know what is done.
        beginStore()
        turn.announcer.announce(isRestored: true)
        // Entries are written at once before the loop runs.
        turn.announcer.entriesWritten()
        // A deadline that passed meanwhile is not that of a launch that follows one of these exits.
        turn.handleInputs(overdue: ended, isRestoring: true)
        for id in ids {
            guard let app = driver.app(id), app.isReconnecting,
                let last = parts.channels.welcomeAgain(app.index)
            else { continue }
            driver.append(.message(app.index, .reconnected(lastSequence: last)))
        }
        turn.handleInputs(isRestoring: true)
        catalog.defineAll()
        turn.handleInputs(isRestoring: true)
        for app in driver.core.knownApps.values { parts.exits.record(app) }
        driver.append(.resumeRestored)
        turn.handleInputs(isRestoring: true)
        processes.checkRestored()
        parts.interruptions.endAbandoned()
        turn.handleInputs(isRestoring: true)
        turn.announcer.announce()
        let running = driver.core.runningCount
        log.write(
            LogEntry(
                id: .restored, message: "lifed has restored \(running) app\(running == 1 ? "" : "s")",
                fields: [("LIFED_APPS", String(running))]))
    }

    /// Keeps the transitions that the previous daemon did not announce. The end of an app has the decision of how it has ended.
    private func keepUnannounced(of saved: SavedState) {
        for announcement in saved.announcements {
            if case .app(let step) = announcement, step.to == .notRunning,
                let exit = parts.driver.app(step.app)?.lastExit, exit.instant == step.instant
            {
                turn.announcer.keep([.decision(.exited(step.app, exit), of: nil)])
            }
            turn.announcer.keep([announcement])
        }
    }

    /// - Returns: The exit of an app of which nothing is left; nil if some is, or if its program may never have run: the
    ///   core launches it again.
    private func restore(
        _ app: AppMachine, _ saved: SavedState, _ descriptors: StoredDescriptors, _ look: FirstLook
    ) -> ExitStatus? {
        let (processes, channels) = (parts.processes, parts.channels)
        let desiredState: ProcessTree.DesiredState = app.isStoppedOrStopping ? .stopped : .running
        // The previous daemon may have ended between two launches, or before this one had begun.
        let record = saved[.launch, app.id].flatMap { LaunchRecord($0, desiredState: desiredState) }
        guard let record, record.launched == app.launched else {
            if let record { processes.unmanagedTrees.append(record.tree) }
            return app.isSpawning ? nil : .unknown
        }
        if record.tree.isAdopted { parts.catalog.restoreAdoption(of: app.id, isUnit: !record.tree.units.isEmpty) }
        let pidfd = descriptors.takeProcess(of: record.tree.token)
        // A launch may have failed with the previous daemon.
        let status = processes.restore(
            app.index, record, pidfd: pidfd, after: app.isSpawning ? nil : look)
        if let status {
            switch status {
            case .code(ExecStatus.failureCode) where app.isSpawning: return nil
            case .unknown where app.isSpawning: return nil
            case .code, .signal, .unknown: return status
            }
        }
        // Those of an earlier launch stay until there are others.
        let isOfLaunch: (Instant?) -> Bool = { $0 == nil || $0 == app.launched }
        if let values = saved[.resources, app.id].flatMap({ SavedResources($0) }), isOfLaunch(values.launched) {
            processes.restoreResources(values.record, of: app.index)
        }
        let progress = saved[.channel, app.id].map { ChannelProgress($0) }.flatMap {
            isOfLaunch($0.launched) ? $0 : nil
        }
        if let channel = descriptors.takeChannel(of: record.tree.token) {
            channels.restore(channel, of: app.index, progress: progress ?? ChannelProgress(launched: app.launched))
        } else if let process = progress?.process {
            channels.remember(process, of: app.index)
            // The next hello is the first on its channel.
            store.add(.channel, ChannelProgress(process: process).saved, of: app.id)
        }
        return nil
    }
}

extension JournalSink {
    /// Writes the entries about the processes of apps that a daemon does not restore.
    func write(_ report: ResumedLeftovers) {
        for failure in report.failures { write(.warning, failure.description) }
        guard report.hasResumed else { return }
        let thawed = report.thawed.isEmpty ? "" : ", and thawed \(report.thawed.count) control groups"
        write(
            .notice, "lifed has continued \(report.continued.count) processes of apps that it does not restore\(thawed)"
        )
    }
}

extension SavedState {
    /// The processes of the apps.
    fileprivate var trees: [SavedTree] {
        apps(with: .launch).compactMap { app in
            self[.launch, app].flatMap { LaunchRecord($0, desiredState: .stopped)?.tree }
        }
    }

    /// The directory of the apps' control groups; nil for none.
    fileprivate var cgroups: String? { self[.controlGroups]?["cgroups"] }
}
