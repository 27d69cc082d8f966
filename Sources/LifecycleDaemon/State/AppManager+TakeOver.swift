import Configuration
import LifecycleCore
import Processes
import Systemd

/// Going on with the apps of a daemon that is gone.
extension AppManager {
    /// All that a successor would need, for a state file that is written anew.
    var everythingToKeep: [(StateKind, SavedRecord)] {
        var records: [(StateKind, SavedRecord)] = [(.machine, core.record)]
        if let path = processes.groupsPath {
            records.append((.place, SavedRecord(fields: [.init(name: "cgroups", value: path)])))
        }
        if session.path != nil { records.append((.session, session.saved)) }
        records += ended.records.map { (.ended, $0.saved) }
        for (id, definition) in catalog.definitions where definition.isAdHoc || definition.isFromEntry {
            records.append((.definition, definition.saved(id)))
        }
        for id in core.knownApps.keys {
            guard let record = core.record(of: id) else { continue }
            records.append((.app, record))
            if let launch = processes.record(of: id) { records.append((.launch, launch.saved(id))) }
            if let share = resources.record(of: id) { records.append((.resources, share.saved(id))) }
            if let channel = channels.state(of: id) { records.append((.channel, channel.saved(id))) }
        }
        return records
    }

    /// Takes over what another daemon has left. Before anything else is asked of the core.
    ///
    /// - Parameter descriptors: What was kept open while there was no daemon.
    func takeOver(_ saved: SavedState, configuration: LoadedConfiguration, descriptors: KeptDescriptors) {
        isTakingOver = true
        defer { isTakingOver = false }
        let (settings, _) = describe(configuration)
        // Without them, an app that is frozen could not be thawed.
        if processes.cgroups == nil { processes.keepGroups(at: saved.cgroups) }
        session = FollowedSession(saved: saved.session)
        ended.restore(saved.ended)
        for (id, app) in saved.apps {
            // Whoever asked for an app that was never launched is gone.
            guard catalog[id] == nil, app.core != nil, let record = app.definition else { continue }
            let known = entryDefinition(id, saved: record) ?? AppDefinition(saved: record, defaults: defaults)
            guard var definition = known else { continue }
            if let model = definition.model.flatMap({ catalog[AppID($0)] }) { definition.follow(model) }
            insert(definition, as: id)
        }
        driver.restore(
            Lifecycle(
                restoring: saved.machine, apps: saved.apps.values.compactMap(\.core), settings: settings,
                policy: { catalog[$0]?.policy }, at: driver.now))
        var ended: [(AppID, LifecycleCore.ExitStatus)] = []
        let ids = core.knownApps.keys.sorted()
        for id in ids {
            guard let app = core.knownApps[id], app.isRunning else { continue }
            if let status = adopt(app, saved.apps[id], descriptors) { ended.append((id, status)) }
        }
        // Who was suspended first is to be the kernel's first choice again.
        for app in core.knownApps.values.sorted(by: { $0.since < $1.since }) { resources.enter(app.state, app.id) }
        // What is done from here on must be known to a successor, too.
        keeper.begin()
        for id in ids where core.knownApps[id]?.isAway == true {
            guard let channel = channels.state(of: id) else { continue }
            channels.welcomeAgain(id)
            driver.give(.message(id, .back(lastSequence: channel.toldSequence)))
        }
        for (id, definition) in catalog.definitions {
            driver.give(.define(id, definition.policy))
            recallExit(of: id)
            noteExit(of: id)
        }
        for (id, status) in ended { driver.give(.outcome(id, .exited(status, othersLeft: false))) }
        driver.give(.takeOver)
        processes.lookAtAdopted()
        let running = core.runningCount
        log.log.write(
            LogEntry(
                id: .takenOver, message: "goes on with \(running) app\(running == 1 ? "" : "s") of a lifed before",
                fields: [("LIFED_APPS", String(running))]))
    }

    /// - Returns: How the app ended, when nothing of it is left. One whose program may never have run is not one of
    ///   these: it is started again.
    private func adopt(
        _ app: LifecycleCore.App, _ saved: SavedState.App?, _ descriptors: KeptDescriptors
    ) -> LifecycleCore.ExitStatus? {
        let desiredState: ProcessTree.DesiredState = app.isStoppedOrStopping ? .stopped : .running
        // The daemon may have been killed between two launches, or before this one was more than a wish.
        let record = saved?.launch.flatMap { LaunchRecord($0, desiredState: desiredState) }
        guard let record, record.launched == app.launched else {
            return app.isSpawning ? nil : .unknown
        }
        if record.tree.isAdopted { catalog.beginAdoption(of: app.id) }
        switch processes.adopt(app.id, record, pidfd: descriptors.takeProcess(of: record.tree.token)) {
        case .ended(.code(ExecStatus.failureCode)) where app.isSpawning: return nil
        case .ended(.unknown) where app.isSpawning: return nil
        case .ended(let status): return status
        case .alive:
            if let record = saved?.resources?["resources"].flatMap({ ResourceRecord(text: $0) }) {
                resources.adopt(record, of: app.id)
            }
            if let channel = descriptors.takeChannel(of: record.tree.token) {
                channels.adopt(channel, of: app.id, state: saved?.channel.map { ChannelState($0) } ?? ChannelState())
            }
            return nil
        }
    }

    /// Leaves the pidfds and channels of the apps to the program that takes the place of this one.
    func leave(to reexecution: inout Reexecution) {
        for id in core.knownApps.keys {
            guard let launch = processes.launch(of: id) else { continue }
            let name = DescriptorStore.name(of: launch.token)
            for number in [launch.pidfd, channels.number(of: id)] {
                if let number { reexecution.keep(number, as: name) }
            }
        }
    }

    /// Whether the daemon that is gone has sent SIGTERM already.
    func wasAskedToEnd(_ id: AppID) -> Bool { isTakingOver && processes.record(of: id)?.isAskedToEnd == true }
}

extension ResourceRecord {
    /// As it is kept for a successor of the daemon.
    func saved(_ id: AppID) -> SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        record.add("resources", text)
        return record
    }
}
