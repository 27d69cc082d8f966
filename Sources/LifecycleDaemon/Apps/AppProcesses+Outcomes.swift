import Configuration
import LifecycleCore
import Processes
import Systemd

/// What becomes of what is done to the processes, as the kernel tells of it.
extension AppProcesses {
    /// Without the watch the timers and the reaper find everything out, only later.
    ///
    /// It is triggered by edges, as that of the main process is: many apps can have something to tell at once, when they
    /// end together or are taken over, and of what is ready the kernel would tell again for each that is dealt with.
    func watchChanges(of app: RunningApp) {
        guard let descriptor = app.tree.changeDescriptor else { return }
        let events: IOEvents = [.exceptional, .edgeTriggered]
        app.changeWatch = try? loop.watch(descriptor: descriptor, events: events) { [weak self, weak app] _ in
            guard let self, let app else { return }
            guard let events = table.acknowledgeChange(of: app.tree.token) else {
                app.changeWatch = nil
                return
            }
            if case .stop = app.operation { checkStop(app) }
            for event in events { take(event) }
        }
    }

    func watchExec(of app: RunningApp) throws(SpawnError) {
        guard let descriptor = app.tree.execStatusDescriptor else { return }
        do throws(SystemdError) {
            app.execWatch = try loop.watch(descriptor: descriptor, events: .readable) { [weak self, weak app] _ in
                if let app { self?.readExecStatus(of: app) }
            }
        } catch {
            app.tree.kill()
            table.remove(app.tree.token)
            throw .setUp(step: "watch the new process", error: Processes.Errno(rawValue: error.errno))
        }
    }

    /// Whether the program runs; the child tells once it does, or why it does not.
    func readExecStatus(of app: RunningApp) {
        guard app.execWatch != nil else { return }
        // The tree closes its descriptor once it knows, so nothing may be watching it by then.
        app.execWatch?.isEnabled = false
        switch app.tree.execStatus() {
        case .pending: app.execWatch?.isEnabled = true
        case .running:
            app.execWatch = nil
            report(app.id, .spawned)
        case .failed(let error):
            forget(app)
            report(app.id, .spawnFailed(StartFailure(error)))
        }
    }

    func proceed(_ app: RunningApp) {
        switch app.operation {
        case .none: break
        case .stop: checkStop(app)
        case .kill:
            app.tree.kill()
            checkMain(of: app)
            // A main process that has gained rights is not lifed's to end; the app ends without it.
            if running[app.id] === app, app.tree.isMainForeign, app.tree.processes().isEmpty { return letGo(app.id) }
            app.lookAgain()
        case .drain:
            checkMain(of: app)
            app.lookAgain()
        }
    }

    func checkStop(_ app: RunningApp) {
        guard case .stop(let since, let isReported) = app.operation else { return }
        guard case .pending(let pids) = app.tree.checkStopped() else { return finishStop(app) }
        if !isReported, loop.freshNow - since >= stopTimeout.wholeMicroseconds {
            app.operation = .stop(since: since, isReported: true)
            report(app.id, .stopIncomplete(describe(pids, of: app)))
            // What cannot be frozen in time is not left half frozen; signals go on trying.
            if app.tree.isFreezing, app.tree.stopWithoutFreezing() == .stopped { return finishStop(app) }
        }
        app.lookAgain()
    }

    func finishStop(_ app: RunningApp) {
        app.rest()
        report(app.id, .stopped)
    }

    func describe(_ pids: [ProcessIdentity], of app: RunningApp) -> String {
        let processes = app.tree.processes().filter { info in pids.contains { $0.pid == info.pid } }
        let foreign = Dictionary(app.tree.foreignProcesses().map { ($0.info.pid, $0.userName) }) { first, _ in first }
        let words = processes.prefix(8).map { info in
            let user = foreign[info.pid].map { " of user \($0), which this daemon's user may not stop" } ?? ""
            return "\(info.pid) (\(info.name), \(info.state.letter))\(user)"
        }
        return words.isEmpty ? "processes that keep changing or cannot be listed" : words.joined(separator: ", ")
    }

    /// The child that a SIGCHLD tells of comes first; whoever else it stands for comes when what has to be done for this
    /// one has been, and later the more children there are.
    func reap(_ signal: SignalInfo) {
        for event in table.reap(child: signal.processID).events { take(event) }
        furtherReaping?.begin(after: ReapingPace.pause(children: table.childCount), from: loop.freshNow)
    }

    func reapAll() {
        let reaped = table.reap()
        for event in reaped.events { take(event) }
        if !reaped.isDrained { furtherReaping?.begin(after: 0, from: loop.freshNow) }
    }

    func take(_ event: TreeEvent) {
        guard let id = apps[event.tree], let app = running[id] else { return }
        switch event.change {
        case .mainEnded(let status): mainEnded(app, status)
        case .mainStopped(_, asked: true), .memberStopped: if case .stop = app.operation { checkStop(app) }
        case .mainStopped(_, asked: false): if !app.resumeMirrors() { report(id, .stoppedByOther) }
        case .mainContinued(asked: false), .memberContinued(_, asked: false): report(id, .resumedByOther)
        case .mainContinued(asked: true), .memberContinued(_, asked: true): break
        case .thawed: if case .none = app.operation { report(id, .resumedByOther) }
        case .emptied: emptied(app)
        }
    }

    func mainEnded(_ app: RunningApp, _ status: Processes.ExitStatus) {
        readExecStatus(of: app)
        guard running[app.id] === app else { return }
        let othersLeft = !app.tree.isEmpty
        if !othersLeft { forget(app) }
        // An app that has handed over to its helpers goes on as long as one of them does.
        if othersLeft, case .none = app.operation { app.rest() }
        if othersLeft && app.exitPolicy == .last { return }
        app.hasReportedExit = true
        if othersLeft { onChange(app.id, app.record) }
        report(app.id, .exited(LifecycleCore.ExitStatus(status), othersLeft: othersLeft))
    }

    func emptied(_ app: RunningApp) {
        forget(app)
        if !app.hasReportedExit, let status = app.tree.exitStatus {
            report(app.id, .exited(LifecycleCore.ExitStatus(status), othersLeft: false))
        } else {
            report(app.id, .gone)
        }
    }

    func forget(_ app: RunningApp) {
        app.begin(.none)
        postponedStops?.remove(app.id)
        // The tree is about to close what is watched.
        for watch in [app.execWatch, app.changeWatch, app.mainWatch] { watch?.cancel() }
        app.execWatch = nil
        app.changeWatch = nil
        app.mainWatch = nil
        running[app.id] = nil
        apps[app.tree.token] = nil
        table.remove(app.tree.token)
        onEnd(app.tree.token)
    }
}

extension LifecycleCore.ExitStatus {
    init(_ status: Processes.ExitStatus) {
        switch status {
        case .exited(let code): self = .code(code)
        case .killed(let signal, _): self = .signal(signal.rawValue)
        case .unknown: self = .unknown
        }
    }
}
