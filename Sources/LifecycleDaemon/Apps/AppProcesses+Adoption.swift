import LifecycleCore
import Processes
import Systemd

/// Processes of a daemon that is gone.
extension AppProcesses {
    /// What has become of an app's processes.
    enum Adopted {
        /// Some of them are left.
        case alive
        /// None is.
        case ended(LifecycleCore.ExitStatus)
    }

    /// Takes over an app that another daemon has started.
    ///
    /// - Parameter pidfd: The main process's, where one was kept open.
    func adopt(_ id: AppID, _ record: LaunchRecord, pidfd: consuming Descriptor?) -> Adopted {
        switch table.restore(record.tree, pidfd: pidfd) {
        case .ended(let status):
            lastPIDs[id] = record.tree.main.pid
            return .ended(LifecycleCore.ExitStatus(status))
        case .alive(let tree):
            let app = makeApp(id, tree, exitPolicy: record.exitPolicy, launched: record.launched)
            app.isAskedToEnd = record.isAskedToEnd
            app.hasReportedExit = record.hasReportedExit
            insert(app)
            return .alive
        }
    }

    /// Takes a process that somebody else has started, with its descendants.
    ///
    /// - Returns: Whether it was still there.
    func takeIn(
        _ id: AppID, _ process: consuming HeldProcess, as definition: AppDefinition, launched: Instant?
    ) -> Bool {
        let tree = table.adopt(process, name: id.name, suspendMethod: definition.suspendMethod)
        guard let tree else { return false }
        let app = makeApp(id, tree, exitPolicy: definition.exitPolicy, launched: launched)
        insert(app)
        watchMain(of: app)
        return true
    }

    /// Lets the processes of an app that was taken in run on by themselves.
    func letGo(_ id: AppID) {
        guard let app = running[id] else { return report(id, .gone) }
        table.release(app.tree)
        forget(app)
        report(id, .exited(.unknown, othersLeft: false))
    }

    /// Looks, once the core has been told of the apps, at what has happened to those that were adopted.
    func lookAtAdopted() {
        for id in running.keys.sorted() {
            guard let app = running[id], !app.tree.isChild else { continue }
            watchMain(of: app)
            if let status = app.tree.exitStatus, !app.hasReportedExit { mainEnded(app, status) }
            checkMain(of: app)
        }
        reapAll()
    }

    /// Removes the control groups in which a daemon that is gone has left nothing.
    func removeEmptyGroups() { table.removeEmptyGroups() }

    func watchMain(of app: RunningApp) {
        guard let descriptor = app.tree.mainDescriptor else { return app.rest() }
        let events: IOEvents = [.readable, .edgeTriggered]
        app.mainWatch = try? loop.watch(descriptor: descriptor, events: events) { [weak self, weak app] _ in
            guard let self, let app else { return }
            app.mainWatch?.cancel()
            app.mainWatch = nil
            checkMain(of: app)
        }
    }

    func checkMain(of app: RunningApp) {
        for event in table.checkMain(of: app.tree.token) { take(event) }
    }
}
