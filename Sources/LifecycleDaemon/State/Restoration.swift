import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The restoration of the apps of the previous daemon.
extension AppManager {
    /// Begins to save, and drops the records of apps that were not restored.
    func beginStore() {
        let core = core
        store.add(.controlGroups, processes.groupsPath.map { SavedRecord(["cgroups": $0]) })
        store.begin(keeping: core.hasRecord(of:))
    }

    /// Leaves the pidfds and channels of the apps to the next program in this process.
    func leave(to reexecution: inout Reexecution) {
        for app in core.knownApps.values {
            guard let launch = processes.launch(of: app.index) else { continue }
            let name = DescriptorStore.name(of: launch.token)
            for number in [launch.pidfd, channels.number(of: app.index)] {
                if let number { reexecution.keep(number, as: name) }
            }
        }
    }

    /// Restores the apps of the previous daemon. Called before any other input of the core.
    ///
    /// - Parameter descriptors: The descriptors that were stored for this daemon.
    func restore(_ saved: SavedState, configuration: LoadedConfiguration, descriptors: StoredDescriptors) {
        isRestoring = true
        defer { isRestoring = false }
        apply(configuration.settings)
        store.restore(saved)
        catalog.restore(saved, configuration)
        // A frozen app can be thawed only through its control group.
        if processes.cgroups == nil { processes.keepGroups(at: saved.cgroups) }
        exits.ended.restore(saved.apps(with: .ended).map { ($0, saved[.ended, $0] ?? SavedRecord()) })
        // In this order of the indexes, each later sort by id takes one comparison an app.
        let records = saved.apps(with: .app).sorted().map { ($0, saved[.app, $0] ?? SavedRecord()) }
        driver.restore(
            Engine(
                restoring: saved[.machine] ?? SavedRecord(), apps: records, settings: catalog.usableSettings,
                policy: { catalog[$0]?.policy }, at: driver.now))
        if let record = saved[.bound] { interruptions.restore(record) }
        let ids = driver.core.knownApps.keys.sorted()
        let look = processes.table.firstLook()
        var ended: [(AppIndex, ExitStatus)] = []
        for id in ids {
            guard let app = driver.app(id), app.isRunning else { continue }
            if let status = restore(app, saved, descriptors, look) { ended.append((app.index, status)) }
        }
        // In this order the app that was suspended first is the kernel's first choice again.
        let states = core.knownApps.values.map { (app: $0.index, state: $0.state, since: $0.since) }
        for app in states.sorted(by: { $0.since < $1.since }) {
            resources.enter(app.state, app.app)
            suspensions.entered(app.state, app.app)
        }
        for announcement in saved.announcements { restore(announcement) }
        // From here on the next daemon must know what is done.
        beginStore()
        announcer.announce(isRestored: true)
        // Entries are written at once before the loop runs.
        announcer.entriesWritten()
        // A deadline that passed meanwhile is not that of a launch that follows one of these exits.
        handleInputs(overdue: ended.map { app, status in .outcome(app, .exited(status, othersLeft: false)) })
        for id in ids {
            guard let app = driver.app(id), app.isReconnecting, let last = channels.welcomeAgain(app.index) else {
                continue
            }
            driver.append(.message(app.index, .reconnected(lastSequence: last)))
        }
        handleInputs()
        catalog.defineAll()
        handleInputs()
        for app in core.knownApps.values { exits.record(app) }
        driver.append(.resumeRestored)
        handleInputs()
        processes.checkRestored()
        interruptions.endAbandoned()
        handleInputs()
        announcer.announce()
        let running = core.runningCount
        log.sink.write(
            LogEntry(
                id: .restored, message: "lifed has restored \(running) app\(running == 1 ? "" : "s")",
                fields: [("LIFED_APPS", String(running))]))
    }

    /// Adds a transition that the previous daemon did not announce. The end of an app has the decision of how it has ended.
    private func restore(_ announcement: Announcement) {
        if case .app(let step) = announcement, step.to == .notRunning, let exit = driver.app(step.app)?.lastExit,
            exit.instant == step.instant
        {
            announcer.keep([.decision(.exited(step.app, exit), of: nil)])
        }
        announcer.keep([announcement])
    }

    /// - Returns: The exit of an app of which nothing is left; nil if some is, or if its program may never have run: the
    ///   core launches it again.
    private func restore(
        _ app: AppMachine, _ saved: SavedState, _ descriptors: StoredDescriptors, _ look: FirstLook
    ) -> ExitStatus? {
        let desiredState: ProcessTree.DesiredState = app.isStoppedOrStopping ? .stopped : .running
        // The previous daemon may have ended between two launches, or before this one had begun.
        let record = saved[.launch, app.id].flatMap { LaunchRecord($0, desiredState: desiredState) }
        guard let record, record.launched == app.launched else {
            if let record { processes.unmanagedTrees.append(record.tree) }
            return app.isSpawning ? nil : .unknown
        }
        if record.tree.isAdopted { catalog.restoreAdoption(of: app.id, isUnit: !record.tree.units.isEmpty) }
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

extension AppManager {
    /// Ends the apps of a previous daemon whose state cannot be used: nothing else continues or thaws them. Adopted programs run on.
    ///
    /// - Parameter cause: The reason why they are not restored.
    func endUnrestoredApps(leftIn file: String, bootID: String, cause: DaemonError) {
        let rest = SavedState.readRest(file, bootID: bootID)
        if processes.cgroups == nil { processes.keepGroups(at: rest?.cgroups) }
        log.sink.write(
            LogEntry(
                id: .appsNotRestored, priority: .error,
                message: "cannot restore the apps: \(cause); ending those of the previous daemon",
                fields: [("LIFED_REASON", cause.description)]))
        processes.table.endLeftovers(rest?.trees ?? [], timeout: Timeouts().termination)
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
