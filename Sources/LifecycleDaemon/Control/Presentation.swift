import Calendar
import Configuration
import ControlAPI
import LifecycleCore
import Processes
import Varlink

/// Presents the state of the core and of processes in the terms of the control interface.
struct Presentation {
    let manager: AppManager

    private func time(of instant: Instant) -> Int64 { manager.exits.time(of: instant) }

    // MARK: Apps

    func app(_ app: AppMachine) -> ControlAPI.App {
        ControlAPI.App(
            id: app.id.name, name: manager.catalog[app.id]?.name, state: State(app.state), target: State(app.target),
            reason: app.reason.rawValue, inFront: manager.core.foreground.contains(app.id), linked: app.isConnected,
            adHoc: app.policy.isTransient, pid: manager.processes.pid(of: app.id).map { Int64($0) },
            containment: manager.processes.containment(of: app.id).map { ControlAPI.Containment($0) },
            since: time(of: app.since),
            lastExit: app.lastExit.map { exit($0, at: manager.exits.time(of: $0, app.id), app.reclaimed) },
            scenes: app.hasScenes ? app.scenes.all.map { scene($0, of: app) } : nil,
            stoppedByOther: isStoppedByOther(app))
    }

    func app(_ app: AppMachine, for scope: ClientScope, _ rights: ClientRights) -> ControlAPI.App {
        let whole = self.app(app)
        return rights.seesAll(of: app.id, scope) ? whole : whole.stateOnly
    }

    func apps(for scope: ClientScope, _ rights: ClientRights) -> [ControlAPI.App] {
        if let only = scope.onlyApp { return manager.app(only).map { [app($0)] } ?? [] }
        return manager.apps.map { app($0, for: scope, rights) }
    }

    /// The kernel reports the stop of a child alone. Another process is read each time.
    private func isStoppedByOther(_ app: AppMachine) -> Bool {
        guard app.shouldRunNow, let tree = manager.processes.tree(of: app.id) else { return false }
        return (app.isStoppedByOther || !tree.isChild) && tree.isMainStopped
    }

    func details(_ app: AppMachine) -> Details {
        let definition = manager.catalog[app.id]
        let user: String? =
            switch definition?.user {
            case .named(let name): name
            case .numbered(let number): String(number)
            case .daemon, nil: nil
            }
        let failure = app.reason == .launchFailed ? manager.exits.ended[app.id] : nil
        let core = manager.core
        return Details(
            app: self.app(app), command: definition?.command ?? [], user: user, manifest: definition?.manifest,
            adopted: definition?.isAdopted ?? false,
            processes: manager.processes.processes(of: app.id).map(process), awaiting: app.awaitedCallback?.rawValue,
            backgroundUntil: core.endOfBackgroundTime(of: app.id).map(time),
            holds: app.heldAssertions.map { hold($0, of: app.id) }, restartAt: core.restartTime(of: app.id).map(time),
            failures: Int64(app.restart.failures), givenUp: app.restart.isLimitReached,
            schedules: manager.schedules.work(of: app.id).map { work in
                Schedule(
                    kind: work.schedule.kind, at: work.schedule.at.description,
                    next: work.due.map { Int64($0.microseconds) })
            }, unheld: unheld(of: app.id), frozen: freezeReason(of: app.id),
            launchFailure: failure?.launchFailure, launchRemedy: failure?.launchRemedy)
    }

    func details(of record: EndedApps.Record) -> Details {
        let app = ControlAPI.App(
            id: record.id.name, name: record.name, state: .notRunning, target: .notRunning,
            reason: (record.exit?.reason ?? .launchFailed).rawValue, inFront: false, linked: false, adHoc: true,
            pid: nil, containment: nil, since: record.time,
            lastExit: record.exit.map { exit($0, at: record.time, record.reclaimed) })
        return Details(
            app: app, command: record.command, user: nil, manifest: nil, adopted: record.isAdopted, processes: [],
            awaiting: nil, backgroundUntil: nil, holds: [], launchFailure: record.launchFailure,
            launchRemedy: record.launchRemedy, ended: true)
    }

    private func hold(_ hold: LifecycleCore.Assertion, of id: AppID) -> ControlAPI.Hold {
        ControlAPI.Hold(
            kind: hold.kind == .task ? .task : .activity, number: Int64(clamping: hold.number), name: hold.name,
            since: time(of: hold.since), until: manager.core.end(of: hold, of: id).map(time))
    }

    private func exit(_ exit: ExitRecord, at time: Int64, _ account: ReclaimRecord?) -> ControlAPI.Exit {
        var result = ControlAPI.Exit(
            state: State(exit.state), reason: exit.reason.rawValue, exitCode: nil, signal: nil, time: time,
            reclaim: exit.reason == .reclaimed ? account.map { Reclaim($0) } : nil)
        switch exit.status {
        case .code(let code): result.exitCode = Int64(code)
        case .signal(let signal): result.signal = Int64(signal)
        case .unknown: break
        }
        return result
    }

    private func freezeReason(of id: AppID) -> String? {
        switch manager.processes.tree(of: id)?.freezeReason {
        case nil: nil
        case .method: "its manifest says so (suspendMethod)"
        case .notChild: "it is not a child of this daemon, so a SIGCONT from another program would not be noticed"
        case .refused(let processes):
            "this daemon's user may not signal " + processes.map { "process \($0.pid)" }.joined(separator: ", ")
        }
    }

    private func unheld(of id: AppID) -> [UnheldProcess]? {
        guard let tree = manager.processes.tree(of: id) else { return nil }
        let reason =
            tree.owner == nil
            ? "this daemon's user may not stop it; start the app with the daemon of the system"
            : "it does not run as the user of the app"
        let unheld = tree.foreignProcesses().map { each in
            UnheldProcess(
                pid: Int64(each.info.pid), command: each.info.commandLine.joined(separator: " "),
                user: each.userName, reason: reason)
        }
        return unheld.isEmpty ? nil : unheld
    }

    func helper(_ helper: Processes.Helper) -> ControlAPI.Helper {
        ControlAPI.Helper(process: process(helper.process), app: helper.app)
    }

    private func process(_ info: ProcessInfo) -> ControlAPI.Process {
        ControlAPI.Process(
            pid: Int64(info.pid), parent: Int64(info.parent), command: info.commandLine.joined(separator: " "),
            state: String(info.state.letter), cpuTime: Int64(clamping: info.processorMicroseconds))
    }

    // MARK: Apps that can be launched

    /// - Parameter all: Includes entries that cannot be launched or are hidden from menus.
    func launchable(all: Bool) -> [Launchable] {
        var apps: [Launchable] = []
        for (id, definition) in manager.catalog.definitions where !definition.isAdHoc && !definition.isFromEntry {
            apps.append(
                Launchable(
                    id: id.name, name: definition.name, source: .manifest, file: definition.manifest ?? "",
                    running: manager.isRunning(id)))
        }
        let described = Set(apps.map(\.id))
        for (id, finding) in manager.entries?.all() ?? [:] where !described.contains(id) {
            let app = launchable(id, finding)
            if all || (app.shown && app.problem == nil) { apps.append(app) }
        }
        return apps.sorted { $0.id < $1.id }
    }

    private func launchable(_ id: String, _ finding: DesktopEntries.Finding) -> Launchable {
        let isRunning = manager.isRunning(AppID(id))
        return switch finding {
        case .entry(let entry):
            Launchable(
                id: id, name: entry.manifest.name, source: .desktopEntry, file: entry.manifest.file,
                running: isRunning, shown: entry.isShown)
        case .unusable(let problem):
            Launchable(
                id: id, name: nil, source: .desktopEntry, file: problem.file, running: isRunning, shown: false,
                problem: problem.description)
        }
    }

    // MARK: Scenes and transitions

    func scene(_ scene: LifecycleCore.Scene, of app: AppMachine) -> ControlAPI.Scene {
        ControlAPI.Scene(
            id: scene.id.name, role: scene.role, state: ControlAPI.SceneState(scene.state),
            target: ControlAPI.SceneState(app.sceneTarget(of: scene)), reason: scene.reason.rawValue,
            since: time(of: scene.since), info: scene.info)
    }

    func transition(_ step: LifecycleCore.Transition) -> ControlAPI.Transition {
        ControlAPI.Transition(
            id: step.app.name, from: State(step.from), to: State(step.to), reason: step.reason.rawValue,
            time: time(of: step.instant), pid: manager.processes.pid(of: step.app).map { Int64($0) },
            callback: step.answerTime.map { Int64(clamping: $0.wholeMicroseconds) })
    }

    func transition(_ step: LifecycleCore.SceneTransition) -> ControlAPI.SceneTransition {
        ControlAPI.SceneTransition(
            app: step.app.name, scene: step.scene.name, from: ControlAPI.SceneState(step.from),
            to: ControlAPI.SceneState(step.to),
            reason: step.reason.rawValue, time: time(of: step.instant),
            callback: step.answerTime.map { Int64(clamping: $0.wholeMicroseconds) })
    }

    // MARK: Replies

    func reply(_ reply: LifecycleCore.Reply, _ form: ReplyForm) -> Varlink.Reply {
        switch reply {
        case .reclaimed(let ids): Varlink.Reply(MemoryPressureReply(reclaimed: ids.map(\.name)))
        case .scene(let scene, let app): Varlink.Reply(SceneReply(scene: self.scene(scene, of: app)))
        case .done(let app):
            switch form {
            case .app: Varlink.Reply(AppReply(app: app.map(self.app)))
            case .outcome: outcome(.notListening, app)
            case .nothing: Varlink.Reply(NoParameters())
            }
        case .ended(let outcome, let app): self.outcome(outcome, app)
        case .refused(let refusal): ControlError(refusal).reply
        }
    }

    /// Presents the outcome of an event. An app that is forgotten by now has none.
    private func outcome(_ outcome: EventOutcome, _ app: LifecycleCore.AppMachine?) -> Varlink.Reply {
        guard let app else { return ControlError(.failed, id: nil, reason: "the app is gone", remedy: "").reply }
        return Varlink.Reply(OutcomeReply(app: self.app(app), outcome: ErrandOutcome(outcome)))
    }

    // MARK: Explanations and history

    func explanation(of app: AppMachine) -> Explanation {
        let core = manager.core
        return Explanation(
            details: details(app), next: core.nextState(of: app.id).map { State($0) },
            obstacles: core.obstacles(of: app.id).map(obstacle), prospects: core.forecast(of: app.id).map(prospect))
    }

    private func obstacle(_ obstacle: LifecycleCore.Obstacle) -> ControlAPI.Obstacle {
        func make(_ kind: ObstacleKind, _ names: [String] = [], since: Instant? = nil, until: Instant? = nil)
            -> ControlAPI.Obstacle
        {
            var result = ControlAPI.Obstacle(kind: kind, names: names, until: until.map(time))
            if let since { result.since = time(of: since) }
            return result
        }
        switch obstacle {
        case .process(let step, let until): return make(ObstacleKind(step), until: until)
        case .answer(let callback, let scene, let since, let until):
            return make(.answer, [callback.rawValue] + (scene.map { [$0.name] } ?? []), since: since, until: until)
        case .activationSlot(let others): return make(.place, others.map(\.name))
        case .backgroundTime(let until): return make(.backgroundTime, until: until)
        case .assertion(let hold, let until):
            return make(hold.kind == .task ? .task : .activity, [hold.name], since: hold.since, until: until)
        case .work(let kind, let until): return make(.work, kind.map { [$0] } ?? [], until: until)
        case .launch(let until): return make(.launch, until: until)
        case .channel(let until): return make(.channel, until: until)
        case .scenes: return make(.scenes)
        case .interruption(let name): return make(.interruption, [name])
        case .foregroundBlocked(let concealment): return make(.concealment, [concealment.rawValue])
        case .policy: return make(.manifest)
        case .request: return make(.request)
        case .use(.visible): return make(.visible)
        case .use(.playing): return make(.playing)
        case .restart(let instant): return make(.restart, until: instant)
        case .restartLimitReached: return make(.givenUp)
        case .stoppedByOther: return make(.stoppedByOther)
        }
    }

    private func prospect(_ prospect: LifecycleCore.Prospect) -> ControlAPI.Prospect {
        let time = time(of: prospect.instant)
        return switch prospect.event {
        case .transition(let from, let to, let reason):
            ControlAPI.Prospect(
                kind: .transition, time: time, from: State(from), to: State(to), reason: reason.rawValue)
        case .callback(let callback): ControlAPI.Prospect(kind: .callback, time: time, reason: callback.rawValue)
        case .callbackOverdue(let callback):
            ControlAPI.Prospect(kind: .callbackOverdue, time: time, reason: callback.rawValue)
        case .tasksExpire: ControlAPI.Prospect(kind: .tasksExpire, time: time)
        case .terminate: ControlAPI.Prospect(kind: .terminate, time: time)
        case .kill: ControlAPI.Prospect(kind: .kill, time: time)
        }
    }

    func event(_ entry: EventRing.Entry) -> HistoryEvent {
        var event = HistoryEvent(
            kind: .exited, id: entry.app.name, time: time(of: entry.instant),
            reason: entry.callback?.rawValue ?? entry.reason.rawValue,
            pid: entry.pid > 0 ? Int64(entry.pid) : nil)
        switch entry.kind {
        case .transition:
            event.kind = .transition
            (event.from, event.to) = (State(entry.from), State(entry.to))
            event.callback = entry.answerTime == .max ? nil : Int64(entry.answerTime)
            event.stateTime = entry.stateTime == .max ? nil : Int64(clamping: entry.stateTime)
        case .callbackOverdue: event.kind = .callbackOverdue
        case .killed: event.kind = .killed
        case .code: event.exitCode = Int64(entry.detail)
        case .signal: event.signal = Int64(entry.detail)
        case .ended: break
        case .launchFailed:
            event.kind = .launchFailed
            event.reason = manager.exits.ended[entry.app]?.launchFailure ?? event.reason
        }
        if event.kind == .exited { event.from = State(entry.from) }
        return event
    }
}
