import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes
import Systemd
import Varlink

/// Serves the interface `org.lifed`: passes requests to the core, and its replies and transitions to clients.
final class ControlService {
    let version = Version.current
    let manager: AppManager
    let presentation: Presentation
    let rights: ClientRights
    let server: ControlServer
    /// The time at which the daemon was started, in microseconds since the epoch.
    let started: Int64
    weak var daemon: (any DaemonController)?
    private(set) var problems: [ControlAPI.Problem] = []
    private let log: Log
    private let instance: Instance
    private let path: String
    private let subscriptions = Subscriptions()
    private var requests = OpenRequests()
    private var uses = UseReports()

    init(
        loop: EventLoop, socket: consuming ControlSocket, manager: AppManager, log: Log, instance: Instance,
        path: String
    ) throws {
        self.manager = manager
        self.log = log
        self.instance = instance
        self.path = path
        presentation = Presentation(manager: manager)
        rights = ClientRights(manager: manager)
        started = manager.exits.time(of: manager.driver.now)
        let service = Service(
            vendor: "lifed", product: "lifed", version: version, url: "",
            interfaces: [LifedInterface.interface, MetricsInterface.interface])
        let overrun = ControlError(
            .subscriptionOverrun, id: nil, reason: "the subscriber read too slowly and missed changes",
            remedy: "Subscribe again for the present state.")
        server = try ControlServer(
            loop: loop, socket: socket, log: log, access: AccessPolicy(isSystem: instance == .system),
            service: service, overrun: overrun.reply)
        server.delegate = self
        manager.observer = self
    }

    /// One line for `systemctl status`. It holds until the next reload, without the number of running apps.
    var summary: String {
        let problems = self.problems.count
        let manifests = manager.catalog.definitions.values.count { !$0.isAdHoc && !$0.isFromEntry }
        return "\(manifests) manifest\(manifests == 1 ? "" : "s") read"
            + (problems == 0 ? "" : ", \(problems) configuration problem\(problems == 1 ? "" : "s")")
    }

    func apply(_ configuration: LoadedConfiguration) {
        problems = configuration.problems.map { ControlAPI.Problem($0) }
        let limits = configuration.settings.limits
        server.access.setAdministrators(configuration.settings.access.administrators)
        rights.forgetUsers()
        server.clientLimit = limits.clients
        server.totalBytesLimit = limits.clientsBytes
        server.limits = ConnectionLimits(message: limits.messageBytes, queuedOutput: limits.monitorBytes)
        server.reviewRights()
    }

    func close() { server.close() }

    // MARK: Calls

    private func perform(_ call: ClientCall) throws {
        if call.call.interface == MetricsInterface.name { return try MetricsCalls(service: self).perform(call) }
        guard let method = MethodName(rawValue: call.call.methodName) else {
            throw ServiceError.methodNotFound(call.call.method)
        }
        guard try allows(method, call) else {
            return server.refuse(call, "an app may not call, except for itself,")
        }
        if method.isForAdministrators, let objection = rights.administratorObjection(to: call.scope) { throw objection }
        try perform(method, call)
    }

    private func allows(_ method: MethodName, _ call: ClientCall) throws(ServiceError) -> Bool {
        guard let app = call.scope.onlyApp else { return true }
        switch method.accessOfApps {
        case .filtered: return true
        case .onItself: return try call.app() == app
        case .refused: return false
        }
    }

    private func perform(_ method: MethodName, _ call: ClientCall) throws {
        let launches = LaunchCalls(service: self)
        let queries = QueryCalls(service: self)
        switch method {
        case .launch: try launches.launch(call)
        case .run: try launches.run(call)
        case .open: try launches.open(call)
        case .continueActivity: try launches.continueActivity(call)
        case .wake: try launches.wake(call)
        case .openScene: try launches.openScene(call)
        case .adopt: try AdoptionCalls(service: self).adopt(call)
        case .findApp: try AdoptionCalls(service: self).findApp(call)
        case .focus:
            let focus: FocusParameters = try call.parameters()
            try ask(Request.focus(AppID(focus.id)).waiting(for: focus.wait), for: call)
        case .suspend:
            let parameters: SuspendParameters = try call.parameters()
            try ask(.suspend(AppID(parameters.id), now: parameters.now ?? false), for: call)
        case .resume: try ask(.resume(call.app()), for: call)
        case .terminate: try ask(.terminate(call.app()), for: call)
        case .kill: try ask(.kill(call.app()), for: call)
        case .disown: try ask(.release(call.app()), for: call)
        case .home:
            try call.checkNoParameters()
            try ask(.home, for: call)
        case .beginInterruption:
            let parameters: InterruptionParameters = try call.parameters()
            try ask(.beginInterruption(interruption(parameters.name)), for: call)
        case .endInterruption: try endInterruption(call)
        case .focusScene: try askScene(call, Request.focusScene)
        case .backgroundScene: try askScene(call, Request.backgroundScene)
        case .closeScene: try askScene(call, Request.closeScene)
        case .simulate:
            let parameters: SimulateParameters = try call.parameters()
            try ask(.machine(LifecycleCore.MachineEvent(parameters.event)), for: call)
        case .simulateMemoryPressure: try ask(Request(call.parameters()), for: call)
        case .setInUse: try setInUse(call)
        case .list: try queries.list(call)
        case .getStatus: try queries.status(status, call)
        case .apps: try queries.apps(call)
        case .describe: try queries.describe(call)
        case .explain: try queries.explain(call)
        case .history: try queries.history(call)
        case .monitor:
            try call.checkNoParameters()
            let present = MonitorReply(number: subscriptions.number, apps: presentation.apps(for: call.scope, rights))
            subscriptions.add(call, present: .continuing(present))
        case .reexecute:
            try call.checkNoParameters()
            daemon?.reexecute(for: call)
        case .reload:
            try call.checkNoParameters()
            daemon?.reload()
            call.answer(Varlink.Reply(ReloadReply(problems: problems)))
        }
    }

    /// Makes a request of the core, which answers the call.
    func ask(_ request: Request, for call: ClientCall) throws(ControlError) {
        if let objection = rights.objection(to: request, by: call.scope) { throw objection }
        manager.request(requests.open(request, for: call), request)
    }

    private func askScene(_ call: ClientCall, _ request: (AppID, SceneID) -> Request) throws {
        let parameters: SceneParameters = try call.parameters()
        try ask(request(AppID(parameters.app), LifecycleCore.SceneID(parameter: parameters.scene)), for: call)
    }

    private func endInterruption(_ call: ClientCall) throws {
        let parameters: EndInterruptionParameters = try call.parameters()
        let name = try interruption(parameters.name)
        let answer = try parameters.answer.map { name in try LaunchCalls(service: self).launchable(name) }
        try ask(.endInterruption(name, answer: answer), for: call)
    }

    private func interruption(_ given: String?) throws(ServiceError) -> String {
        let name = given ?? "interruption"
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .invalidParameter("name")
        }
        return name
    }

    private func setInUse(_ call: ClientCall) throws(ServiceError) {
        let report: SetInUseParameters = try call.parameters()
        guard report.apps.count <= SetInUseParameters.limit else { throw .invalidParameter("apps") }
        let use = LifecycleCore.Use(report.use)
        let ids = report.apps.map { AppID($0) }
        let known = Set(ids.filter { manager.isKnown($0) && rights.seesAll(of: $0, call.scope) })
        uses.set(use, to: known, by: call.connection)
        manager.setUse(use, of: uses.apps(use))
        let core = manager.core
        let ignored = ids.filter { id in
            guard known.contains(id), let app = manager.app(id) else { return true }
            return !core.settings.keptUses.keep(use, app.policy)
        }
        call.answer(Varlink.Reply(SetInUseReply(ignored: ignored.map(\.name))))
    }

    private var status: Status {
        let core = manager.core
        return Status(
            version: version, pid: Int64(getpid()), instance: instance == .system ? "system" : "user", socket: path,
            started: started, front: core.foreground.map(\.name), interruptions: Array(core.interruptions),
            concealments: core.foregroundBlockers.map(\.rawValue),
            homeApp: core.settings.homeApp?.name, apps: Int64(manager.appIDs.count), running: Int64(core.runningCount),
            clients: Int64(server.clientCount), journal: log.usesJournal, problems: problems)
    }
}

// MARK: - Clients

extension ControlService: ControlServerDelegate {
    func handle(_ call: ClientCall) {
        do {
            try perform(call)
        } catch let error as ServiceError {
            call.answer(error.reply)
        } catch let error as ControlError {
            call.answer(error.reply)
        } catch {
            call.refuse(.failed, "\(error)", "")
        }
    }

    func scope(of process: ProcessID) -> ClientScope {
        switch manager.processes.owner(of: process) {
        case .noApp: .everything
        case .app(let id): manager.catalog[id]?.control == .full ? .launcher(id) : .app(id)
        case .unknown: .nothing
        }
    }

    func connectionClosed(_ connection: ControlConnection) {
        subscriptions.remove(connection)
        // A use ends with the connection of the client that reported it.
        for use in uses.remove(connection) { manager.setUse(use, of: uses.apps(use)) }
    }
}

// MARK: - Core

extension ControlService: LifecycleObserver {
    func requestEnded(_ id: RequestID, with reply: LifecycleCore.Reply) {
        // The reply may lead to the next call of the connection, so the request is removed before.
        guard let pending = requests.remove(id) else { return }
        pending.connection?.send(presentation.reply(reply, pending.form), to: pending.call)
    }

    func stateChanged(_ transition: LifecycleCore.Transition) {
        let whole = { self.presentation.transition(transition) }
        subscriptions.publish(
            visibility: { self.rights.visibility(of: transition.app, to: $0) },
            everything: { .continuing(MonitorReply(number: $0, transition: whole())) },
            state: { .continuing(MonitorReply(number: $0, transition: whole().stateOnly)) })
    }

    func sceneStateChanged(_ transition: LifecycleCore.SceneTransition) {
        subscriptions.publish(
            visibility: { self.rights.visibility(of: transition.app, to: $0) },
            everything: { .continuing(MonitorReply(number: $0, scene: self.presentation.transition(transition))) },
            state: nil)
    }
}

extension Request {
    /// Returns the request, answered when the app has reached the goal of the wait.
    func waiting(for goal: WaitGoal?) -> Request {
        switch goal {
        case .answered: .untilAnswered(self)
        case .active, nil: self
        }
    }

    fileprivate init(_ parameters: MemoryPressureParameters) {
        let level: LifecycleCore.MemoryLevel =
            switch parameters.level {
            case .normal: .normal
            case .warning: .warning
            case .critical: .critical
            }
        self = .memoryPressure(level, all: parameters.all ?? false)
    }
}
