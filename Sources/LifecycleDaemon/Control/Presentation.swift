import Calendar
import Configuration
import ControlAPI
import LifecycleCore
import Processes

/// Puts what the core and the kernel know into the words of the control interface.
struct Presentation {
    let manager: AppManager

    func app(_ app: LifecycleCore.App) -> ControlAPI.App {
        ControlAPI.App(
            id: app.id.name, name: manager.catalog[app.id]?.name, state: State(app.state), target: State(app.target),
            reason: app.reason.rawValue, inFront: manager.core.front.contains(app.id), linked: app.isLinked,
            adHoc: app.policy.isTransient, pid: manager.processes.pid(of: app.id).map { Int64($0) },
            containment: manager.processes.containment(of: app.id).map { ControlAPI.Containment($0) },
            since: time(of: app.since), lastExit: app.lastExit.map { exit($0, of: app.id, app.reclaimed) },
            scenes: app.hasScenes ? app.scenes.all.map { scene($0, of: app) } : nil,
            stoppedByOther: isStoppedByOther(app))
    }

    /// The kernel tells of the stop of a child alone: another process is looked at each time.
    private func isStoppedByOther(_ app: LifecycleCore.App) -> Bool {
        guard app.isToRunNow, let tree = manager.processes.tree(of: app.id) else { return false }
        return (app.isStoppedByOther || !tree.isChild) && tree.isMainStopped
    }

    func details(_ app: LifecycleCore.App) -> Details {
        let definition = manager.catalog[app.id]
        let user: String? =
            switch definition?.user {
            case .named(let name): name
            case .numbered(let number): String(number)
            case .daemon, nil: nil
            }
        let failure = app.reason == .launchFailed ? manager.ended[app.id] : nil
        return Details(
            app: self.app(app), command: definition?.command ?? [], user: user, manifest: definition?.manifest,
            adopted: definition?.isAdopted ?? false,
            processes: manager.processes.processes(of: app.id).map(process), awaiting: app.awaitedCallback?.rawValue,
            backgroundUntil: manager.core.endOfBackgroundTime(of: app.id).map(time),
            holds: app.holds.map { hold($0, of: app.id) }, restartAt: manager.core.restartTime(of: app.id).map(time),
            failures: Int64(app.failures), givenUp: app.isGivenUp,
            schedules: manager.schedules.work(of: app.id).map { work in
                Schedule(
                    kind: work.schedule.kind, at: work.schedule.at.description,
                    next: work.due.map { Int64($0.microseconds) })
            }, unheld: unheld(of: app.id), frozen: frozen(app.id),
            launchFailure: failure?.launchFailure, launchRemedy: failure?.launchRemedy)
    }

    /// Returns the last that is known of an app that has ended and was forgotten; nil for any other.
    func details(ofEnded id: AppID) -> Details? {
        guard let record = manager.ended[id] else { return nil }
        let app = ControlAPI.App(
            id: id.name, name: record.name, state: .notRunning, target: .notRunning,
            reason: (record.exit?.reason ?? .launchFailed).rawValue, inFront: false, linked: false, adHoc: true,
            pid: nil,
            containment: nil, since: record.time,
            lastExit: record.exit.map { exit($0, at: record.time, record.reclaimed) })
        return Details(
            app: app, command: record.command, user: nil, manifest: nil, adopted: record.isAdopted, processes: [],
            awaiting: nil, backgroundUntil: nil, holds: [], launchFailure: record.launchFailure,
            launchRemedy: record.launchRemedy, ended: true)
    }

    func transition(_ step: LifecycleCore.Transition) -> ControlAPI.Transition {
        ControlAPI.Transition(
            id: step.app.name, from: State(step.from), to: State(step.to), reason: step.reason.rawValue,
            time: time(of: step.instant), pid: manager.processes.pid(of: step.app).map { Int64($0) },
            callback: step.answerTime.map { Int64(clamping: $0.wholeMicroseconds) })
    }

    private func hold(_ hold: LifecycleCore.Hold, of id: AppID) -> ControlAPI.Hold {
        ControlAPI.Hold(
            kind: hold.kind == .task ? .task : .activity, number: Int64(clamping: hold.number), name: hold.name,
            since: time(of: hold.since), until: manager.core.end(of: hold, of: id).map(time))
    }

    /// The instant on the wall clock, as it stands now.
    func time(of instant: Instant) -> Int64 { manager.time(of: instant) }

    private func exit(_ exit: LifecycleCore.Exit, of id: AppID, _ account: Reclaimed?) -> ControlAPI.Exit {
        self.exit(exit, at: manager.time(of: exit, id), account)
    }

    private func exit(_ exit: LifecycleCore.Exit, at time: Int64, _ account: Reclaimed?) -> ControlAPI.Exit {
        var result = ControlAPI.Exit(
            state: State(exit.state), reason: exit.reason.rawValue, exitCode: nil, signal: nil,
            time: time,
            reclaim: exit.reason == .reclaimed ? account.map { ControlAPI.Reclaim($0) } : nil)
        switch exit.status {
        case .code(let code): result.exitCode = Int64(code)
        case .signal(let signal): result.signal = Int64(signal)
        case .unknown: break
        }
        return result
    }

    /// Returns why an app is frozen; nil where it is not.
    private func frozen(_ id: AppID) -> String? {
        switch manager.processes.tree(of: id)?.freezeReason {
        case nil: nil
        case .method: "its manifest says so (suspendMethod)"
        case .notChild: "it is not a child of this daemon, so a SIGCONT from another program would not be noticed"
        case .refused(let processes):
            "this daemon's user may not signal " + processes.map { "process \($0.pid)" }.joined(separator: ", ")
        }
    }

    private func unheld(of id: AppID) -> [ControlAPI.UnheldProcess]? {
        let tree = manager.processes.tree(of: id)
        let foreigners = tree?.foreignProcesses() ?? []
        let reason =
            tree?.owner == nil
            ? "this daemon's user may not stop it; start the app with the daemon of the system"
            : "it does not run as the user of the app"
        let unheld = foreigners.map { each in
            ControlAPI.UnheldProcess(
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
}

extension ControlAPI.Containment {
    init(_ kind: ContainmentKind) {
        self =
            switch kind {
            case .processGroup: .processGroup
            case .cgroup: .cgroup
            }
    }
}

extension State {
    init(_ state: AppState) {
        self =
            switch state {
            case .notRunning: .notRunning
            case .inactive: .inactive
            case .active: .active
            case .background: .background
            case .suspended: .suspended
            case .terminating: .terminating
            }
    }
}

extension ControlAPI.Problem {
    init(_ problem: Configuration.Problem) {
        self.init(file: problem.file, line: problem.line.map { Int64($0) }, message: problem.message)
    }
}
