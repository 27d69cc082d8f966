import Configuration
import ControlAPI
import LifecycleCore
import Processes
import Varlink

/// Presents the state of the core and of processes in the terms of the control interface.
struct Presentation {
    let driver: CoreDriver
    let catalog: AppCatalog
    let processes: AppProcesses
    let exits: ExitHistory
    let rights: ClientRights
    let suspensions: SuspendedApps
    /// Returns where a user finds the output of an app.
    let outputLocation: (AppID) -> String

    private func time(of instant: Instant) -> Int64 { exits.time(of: instant) }

    // MARK: Apps

    func app(_ app: borrowing AppMachine) -> APIApp {
        let tree = processes.tree(of: app.index)
        return APIApp(
            id: app.id.name, name: catalog[app.id]?.name, state: state(of: app, tree), target: app.target,
            reason: app.reason, foreground: app.state.isForeground, connected: app.isConnected,
            adHoc: app.policy.isTransient, pid: tree.flatMap { $0.exitStatus == nil ? Int64($0.main.pid) : nil },
            containment: tree.map { APIContainment($0.containmentKind) }, sinceUSec: time(of: app.since),
            lastExit: lastExit(of: app), scenes: app.hasScenes ? scenes(of: copy app) : nil,
            stoppedByOther: isStoppedByOther(app, tree))
    }

    private func lastExit(of app: borrowing AppMachine) -> APIExit? {
        guard let last = app.lastExit else { return nil }
        return exit(last, at: exits.time(of: last, app.id), app.reclaimed)
    }

    private func scenes(of app: AppMachine) -> [APIScene] { app.scenes.all.map { scene($0, of: app) } }

    /// Returns the state that the kernel confirms. While the daemon stops an app again that another program has resumed, the app
    /// runs in the background.
    private func state(of app: borrowing AppMachine, _ tree: ProcessTree?) -> AppState {
        guard app.phase == .suspended(isConfirmed: false), let tree, tree.hasRunningMember else { return app.state }
        return .background
    }

    func app(_ app: AppMachine, for scope: ClientScope) -> APIApp {
        let whole = self.app(app)
        return rights.seesAll(of: app.id, scope) ? whole : whole.stateOnly
    }

    func apps(for scope: ClientScope) -> [APIApp] {
        if let only = scope.onlyApp { return driver.app(only).map { [app($0)] } ?? [] }
        return driver.apps.map { app($0, for: scope) }
    }

    /// Returns the apps in the states in which the next transitions begin, whether the kernel confirms them or not.
    func appsBeforeTransitions(for scope: ClientScope) -> [APIApp] {
        var apps = apps(for: scope)
        for index in apps.indices {
            guard let machine = driver.app(AppID(apps[index].id)) else { continue }
            (apps[index].state, apps[index].foreground) = (machine.state, machine.state.isForeground)
        }
        return apps
    }

    /// Returns whether another program keeps the main process stopped or frozen. The kernel reports only the stop of a child; the
    /// state of another process is read each time.
    private func isStoppedByOther(_ app: borrowing AppMachine, _ tree: ProcessTree?) -> Bool {
        guard app.shouldRunNow, let tree else { return false }
        return (app.isStoppedByOther || !tree.isReported) && tree.isMainStopped || tree.isFrozenByOther
    }

    func details(_ app: AppMachine) -> APIDetails {
        let definition = catalog[app.id]
        let user: String? =
            switch definition?.user {
            case .named(let name): name
            case .numbered(let number): String(number)
            case .daemon, nil: nil
            }
        let failure = app.reason == .launchFailed ? exits.ended[app.id] : nil
        let core = driver.core
        return APIDetails(
            app: self.app(app), command: definition?.command ?? [], user: user, manifest: definition?.file,
            adopted: definition?.isAdopted ?? false, units: processes.units(of: app.index),
            processes: processes.processes(of: app.index).enumerated().map { number, info in
                process(info, number: number)
            },
            pendingCallback: app.sentCallback?.delivery.callback.rawValue,
            backgroundUntilUSec: core.endOfBackgroundTime(of: app.id).map(time),
            assertions: app.heldAssertions.map { assertion($0, of: app.id) },
            restartAtUSec: core.deadline(.restart, of: app.id).map(time),
            failures: Int64(app.restart.failures), restartLimitReached: app.restart.isLimitReached,
            uncontrolledProcesses: uncontrolledProcesses(of: app.id), freezeReason: freezeReason(of: app.id),
            launchFailure: failure?.launchFailure, launchRemedy: failure?.launchRemedy, ended: false)
    }

    func details(of record: EndedApps.Record) -> APIDetails {
        let app = APIApp(
            id: record.id.name, name: record.name, state: .notRunning, target: .notRunning,
            reason: record.exit?.reason ?? .launchFailed, foreground: false, connected: false, adHoc: true,
            sinceUSec: record.time,
            lastExit: record.exit.map { exit($0, at: record.time, record.reclaimed) }, stoppedByOther: false)
        return APIDetails(
            app: app, command: record.command, adopted: record.isAdopted, processes: [], assertions: [], failures: 0,
            restartLimitReached: false, uncontrolledProcesses: [], launchFailure: record.launchFailure,
            launchRemedy: record.launchRemedy, ended: true)
    }

    private func assertion(_ held: Assertion, of id: AppID) -> APIAssertion {
        APIAssertion(
            kind: held.kind == .task ? .task : .mode, number: Int64(clamping: held.number), name: held.name,
            sinceUSec: time(of: held.since), untilUSec: driver.core.end(of: held, of: id).map(time))
    }

    private func exit(_ exit: ExitRecord, at time: Int64, _ account: ReclaimRecord?) -> APIExit {
        var result = APIExit(
            state: exit.state, reason: exit.reason, timeUSec: time,
            reclaim: exit.reason == .reclaimed ? account.map { APIReclaim($0) } : nil,
            restoreFailed: exit.restoreFailure != nil)
        switch exit.status {
        case .code(let code): result.exitCode = Int64(code)
        case .signal(let signal): result.signal = Int64(signal)
        case .unknown: break
        }
        return result
    }

    private func freezeReason(of id: AppID) -> String? {
        switch processes.tree(of: driver.index(of: id))?.freezeReason {
        case nil: nil
        case .method: "its manifest sets suspendMethod"
        case .other: "another program has frozen its control group or one above, and has to thaw it"
        case .notChild: "it is not a child of this daemon, which would not notice a SIGCONT of another program"
        case .refused(let refused):
            "this daemon may not signal "
                + (processes.tree(of: driver.index(of: id))?.processes() ?? []).filter { info in
                    refused.contains { $0.pid == info.pid }
                }.map(\.subject).joined(separator: ", ")
        }
    }

    private func uncontrolledProcesses(of id: AppID) -> [APIUncontrolledProcess] {
        guard let tree = processes.tree(of: driver.index(of: id)) else { return [] }
        let cause =
            tree.owner == nil
            ? "this daemon may not stop it; launch the app with the system's daemon"
            : "it does not run as the user of the app; stop it as that user or as root"
        let foreign = tree.foreignProcesses().map { ($0, cause) }
        let unrelated = processes.unrelatedProcesses(youngerThan: tree).map {
            ($0, "its app is unknown; end it with the program that started it")
        }
        return (foreign + unrelated).enumerated().map { number, found in
            APIUncontrolledProcess(
                pid: Int64(found.0.info.pid), command: command(of: found.0.info, number: number),
                user: found.0.userName, cause: found.1)
        }
    }

    func helpers(_ helpers: [Helper]) -> [APIHelper] {
        helpers.enumerated().map { number, helper in
            APIHelper(process: process(helper.process, number: number), app: helper.app)
        }
    }

    /// The number of processes whose command lines are read for one list. A child reads each of them.
    private static let commandLineLimit = 100

    private func command(of info: ProcessInfo, number: Int) -> String {
        number < Self.commandLineLimit ? info.commandLine(processes.memory).joined(separator: " ") : info.name
    }

    private func process(_ info: ProcessInfo, number: Int) -> APIProcess {
        APIProcess(
            pid: Int64(info.pid), parentPid: Int64(info.parent), command: command(of: info, number: number),
            state: String(info.state.letter), cpuTimeUSec: Int64(clamping: info.processorMicroseconds))
    }

    // MARK: Apps that can be launched

    /// - Parameter all: Includes entries that cannot be launched or are hidden from menus.
    func availableApps(all: Bool) throws(ControlError) -> [APIAvailableApp] {
        var apps: [APIAvailableApp] = []
        for (id, definition) in catalog.definitions.all where !definition.isAdHoc && !definition.isFromEntry {
            apps.append(
                APIAvailableApp(
                    id: id.name, name: definition.name, source: .manifest, file: definition.manifest.file,
                    running: driver.isRunning(id), shown: true))
        }
        let described = Set(apps.map(\.id))
        let findings = try ControlError.reading { () throws(LoadFailure) in try catalog.entries?.all() ?? [:] }
        for (id, finding) in findings where !described.contains(id) {
            let app = availableApp(id, finding)
            if all || (app.shown && app.problem == nil) { apps.append(app) }
        }
        return apps.sorted { $0.id < $1.id }
    }

    private func availableApp(_ id: String, _ finding: DesktopEntries.Finding) -> APIAvailableApp {
        let isRunning = driver.isRunning(AppID(id))
        return switch finding {
        case .entry(let entry):
            APIAvailableApp(
                id: id, name: entry.manifest.name, source: .desktopEntry, file: entry.manifest.file,
                running: isRunning, shown: entry.isShown)
        case .unusable(let problem):
            APIAvailableApp(
                id: id, name: nil, source: .desktopEntry, file: problem.file, running: isRunning, shown: false,
                problem: problem.description)
        }
    }

    // MARK: Scenes and transitions

    func scene(_ scene: Scene, of app: AppMachine) -> APIScene {
        APIScene(
            id: scene.id.name, role: scene.role, state: scene.state, target: app.sceneTarget(of: scene),
            reason: scene.reason,
            sinceUSec: time(of: scene.since), info: scene.info)
    }

    func transition(_ step: Transition) -> APITransition {
        APITransition(
            id: step.app.name, from: step.from, to: step.to, reason: step.reason,
            timeUSec: time(of: step.instant),
            // The app may have been launched again since its end.
            pid: step.to == .notRunning
                ? nil : processes.pid(of: driver.index(of: step.app)).map { Int64($0) },
            answerUSec: step.answerTime.map { Int64(clamping: $0.wholeMicroseconds) })
    }

    func transition(_ step: SceneTransition) -> APISceneTransition {
        APISceneTransition(
            app: step.app.name, scene: step.scene.name, from: step.from, to: step.to, reason: step.reason,
            timeUSec: time(of: step.instant),
            answerUSec: step.answerTime.map { Int64(clamping: $0.wholeMicroseconds) })
    }

    // MARK: Replies

    func reply(
        _ reply: Reply, _ form: ReplyForm, for scope: ClientScope
    ) -> VarlinkReply {
        switch reply {
        case .reclaimed(let ids): VarlinkReply(SimulateMemoryPressureReply(reclaimed: ids.map(\.name)))
        case .scene(let scene, let app): VarlinkReply(SceneReply(scene: self.scene(scene, of: app)))
        case .done(let app):
            switch form {
            case .app, .restartedApp:
                if let app { VarlinkReply(AppReply(app: self.app(app))) } else { Self.appIsGone }
            // The home app, which may be another user's.
            case .optionalApp:
                VarlinkReply(OptionalAppReply(app: app.map { self.app($0, for: scope) }))
            case .outcome: outcome(.notListening, app)
            case .nothing: VarlinkReply(NoParameters())
            }
        case .ended(let outcome, let app): self.outcome(outcome, app)
        case .refused(let refusal) where form == .restartedApp: errorOfRestart(refusal).reply
        case .refused(let refusal): error(refusal).reply
        }
    }

    /// Returns the error of the launch after the end of an app.
    private func errorOfRestart(_ refusal: Refusal) -> ControlError {
        let error = error(refusal)
        guard error.kind == .launchFailed || error.kind == .ended else { return error }
        return ControlError(
            error.kind, id: error.id, reason: "it has ended, and cannot be launched again: \(error.reason)",
            remedy: error.remedy)
    }

    private func error(_ refusal: Refusal) -> ControlError {
        guard case .notGone(let id) = refusal, let failure = processes.app(driver.index(of: id))?.describeFailedEnd()
        else {
            return ControlError(refusal, outputLocation: outputLocation)
        }
        return ControlError(.failed, id: id.name, reason: "cannot end it: \(failure)", remedy: "")
    }

    /// Presents the outcome of an event. An app that is forgotten by now has none.
    private func outcome(_ outcome: EventOutcome, _ app: AppMachine?) -> VarlinkReply {
        guard let app else { return Self.appIsGone }
        return VarlinkReply(OutcomeReply(app: self.app(app), outcome: outcome))
    }

    private static var appIsGone: VarlinkReply {
        ControlError(.failed, id: nil, reason: "the app has ended", remedy: "launch it again").reply
    }

    // MARK: Explanations and history

    func explanation(of app: AppMachine) -> APIExplanation {
        let core = driver.core
        return APIExplanation(
            details: details(app), next: core.nextState(of: app.id),
            conditions: core.conditions(of: app.id).map { condition($0, of: app.id) },
            prospects: core.forecast(of: app.id).map(prospect))
    }

    private func condition(_ condition: StateCondition, of app: AppID) -> APIStateCondition {
        func make(_ kind: APIStateConditionKind, _ names: [String] = [], since: Instant? = nil, until: Instant? = nil)
            -> APIStateCondition
        {
            APIStateCondition(
                kind: kind, names: names, sinceUSec: since.map { time(of: $0) }, untilUSec: until.map(time))
        }
        switch condition {
        case .process(let step, let until): return make(APIStateConditionKind(step), until: until)
        case .answer(let callback, let scene, let since, let until):
            return make(.callback, [callback.rawValue] + (scene.map { [$0.name] } ?? []), since: since, until: until)
        case .activationSlot(let others): return make(.activationSlot, others.map(\.name))
        case .backgroundTime(let until): return make(.backgroundTime, until: until)
        case .assertion(let hold, let until):
            return make(hold.kind == .task ? .task : .mode, [hold.name], since: hold.since, until: until)
        case .work(let kind, let until): return make(.work, kind.map { [$0] } ?? [], until: until)
        case .launch(let until): return make(.launch, until: until)
        case .channel(let until): return make(.connection, until: until)
        case .signal(let until): return make(.signal, until: until)
        case .scenes: return make(.scenes)
        case .interruption(let name): return make(.interruption, [name])
        case .foregroundBlocked(let blocker): return make(.foregroundBlocked, [blocker.word])
        case .policy: return make(.suspendPolicy)
        case .request: return make(.resumeRequest)
        case .use(let use):
            return make(
                APIStateConditionKind(use),
                driver.index(of: app).map { suspensions.users(use, of: $0) } ?? [])
        case .restart(let instant): return make(.restart, until: instant)
        case .restartLimitReached: return make(.restartLimit)
        case .stoppedByOther: return make(.stoppedByOther)
        }
    }

    private func prospect(_ prospect: Prospect) -> APIProspect {
        let time = time(of: prospect.instant)
        return switch prospect.event {
        case .transition(let from, let to, let reason):
            APIProspect(
                kind: .transition, timeUSec: time, from: from, to: to, reason: reason)
        case .callback(let callback): APIProspect(kind: .callback, timeUSec: time, callback: callback.rawValue)
        case .callbackOverdue(let callback):
            APIProspect(kind: .callbackTimeout, timeUSec: time, callback: callback.rawValue)
        case .tasksExpire: APIProspect(kind: .taskExpiration, timeUSec: time)
        case .terminate: APIProspect(kind: .terminate, timeUSec: time)
        case .kill: APIProspect(kind: .kill, timeUSec: time)
        }
    }

    func event(_ entry: EventLog.Entry) -> APIHistoryEvent {
        var event = APIHistoryEvent(
            kind: .exited, id: entry.app.name, timeUSec: time(of: entry.instant),
            reason: entry.callback == nil ? entry.reason : nil, callback: entry.callback?.rawValue,
            pid: entry.pid.map(Int64.init))
        switch entry.kind {
        case .transition:
            event.kind = .transition
            (event.from, event.to) = (entry.from, entry.to)
            event.answerUSec = entry.answerTime.map { Int64(clamping: $0.wholeMicroseconds) }
            event.stateUSec = entry.stateTime.map { Int64(clamping: $0.wholeMicroseconds) }
        case .callbackOverdue: event.kind = .callbackTimeout
        case .killed: event.kind = .killed
        case .code: event.exitCode = Int64(entry.detail)
        case .signal: event.signal = Int64(entry.detail)
        case .ended: break
        case .launchFailed:
            event.kind = .launchFailed
            event.error = exits.ended[entry.app]?.launchFailure
        }
        if event.kind == .exited {
            event.from = entry.from
            event.restoreFailed = entry.restoreFailed ? true : nil
        }
        return event
    }
}
