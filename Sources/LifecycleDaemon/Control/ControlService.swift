import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes
import Systemd
import Varlink

/// The interface `org.lifed`: takes calls, asks the core, and puts the answers.
final class ControlService {
    let version = Version.current
    /// Reads the configuration again.
    var onReload: () -> Void = {}
    /// Re-executes the daemon for a client.
    var onReexecute: (ReexecutionClient) -> Void = { _ in }

    let manager: AppManager
    let presentation: Presentation
    private let log: Log
    private let instance: Instance
    private let path: String
    let started: Int64
    private let subscriptions = Subscriptions()
    var requests = OpenRequests()
    var uses = UseReports()
    var members: MemberAccess
    private(set) var problems: [ControlAPI.Problem] = []
    private(set) var server: ControlServer?

    init(
        loop: EventLoop, socket: consuming ControlSocket, manager: AppManager, log: Log, instance: Instance,
        path: String
    ) throws {
        self.manager = manager
        self.log = log
        self.instance = instance
        self.path = path
        presentation = Presentation(manager: manager)
        members = MemberAccess(manager: manager)
        started = presentation.time(of: manager.now)
        let service = Service(
            vendor: "lifed", product: "lifed", version: version, url: "",
            interfaces: [LifedInterface.interface, MetricsInterface.interface])
        let handler = ControlServer.Handler(
            service: service, overrun: Self.overrun,
            scope: { [weak self] process in self?.scope(of: process) ?? .nothing },
            call: { [weak self] call, connection in self?.take(call, from: connection) },
            closed: { [weak self] connection in
                self?.subscriptions.remove(connection)
                self?.forgetUses(by: connection)
            })
        server = try ControlServer(
            loop: loop, socket: socket, log: log, access: AccessPolicy(isSystem: instance == .system),
            handler: handler)
        manager.onReply = { [weak self] in self?.requests.close($0, with: $1) }
        manager.onTransition = { [weak self] in self?.publish($0) }
        manager.onSceneTransition = { [weak self] in self?.publish($0) }
    }

    /// One line about the daemon, for `systemctl status`.
    var summary: String {
        let problems = self.problems.count
        // Only what holds until the next reload: nobody is told when apps come and go.
        let manifests = manager.catalog.definitions.values.count { !$0.isAdHoc && !$0.isFromEntry }
        return "\(manifests) manifest\(manifests == 1 ? "" : "s") read"
            + (problems == 0 ? "" : ", \(problems) configuration problem\(problems == 1 ? "" : "s")")
    }

    /// Takes the limits of a configuration, and what is wrong with it.
    func take(_ configuration: LoadedConfiguration) {
        problems = configuration.problems.map { ControlAPI.Problem($0) }
        let limits = configuration.settings.limits
        server?.access.setAdministrators(configuration.settings.access.administrators)
        members.forgetUsers()
        server?.clientLimit = limits.clients
        server?.totalBytesLimit = limits.clientsBytes
        server?.limits = ConnectionLimits(message: limits.messageBytes, queuedOutput: limits.monitorBytes)
        server?.reviewRights()
    }

    func close() { server?.close() }

    private static let overrun = ControlError(
        .subscriptionOverrun, id: nil, reason: "the subscriber read too slowly and missed changes",
        remedy: "Subscribe again for the present state."
    ).reply

    // MARK: Calls

    private func take(_ call: Call, from connection: ControlConnection) {
        do throws(ServiceError) {
            try dispatch(call, from: connection)
        } catch {
            connection.send(error.reply, to: call.id)
        }
    }

    /// What a process that connects may ask for.
    private func scope(of process: ProcessID) -> ClientScope {
        switch manager.processes.owner(of: process) {
        case .noApp: .everything
        case .app(let id): manager.catalog[id]?.control == .full ? .launcher(id) : .app(id)
        case .unknown: .nothing
        }
    }

    /// Whether the client may call the method, with these parameters.
    private func allows(_ method: MethodName, _ call: Call, from connection: ControlConnection) throws(ServiceError)
        -> Bool
    {
        guard let app = connection.scope.onlyApp else { return true }
        switch method.accessOfApps {
        case .filtered: return true
        case .onItself: return try self.app(of: call) == app
        case .refused: return false
        }
    }

    private func dispatch(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        if call.interface == MetricsInterface.name { return try tellMetrics(call, to: connection) }
        guard let method = MethodName(rawValue: call.methodName) else { throw .methodNotFound(call.method) }
        guard try allows(method, call, from: connection) else {
            server?.refuse(call, from: connection, "an app may not call, except for itself,")
            return
        }
        if case .member = connection.scope, method.isForAdministrators {
            return connection.send(MemberAccess.administratorsOnly.reply, to: call.id)
        }
        switch method {
        case .launch:
            let launch: LaunchParameters = try call.parameters()
            withApp(launch.id, call, connection) { app in
                Request.launch(app, background: launch.background ?? false).waiting(for: launch.wait)
            }
        case .run: try run(call, from: connection)
        case .focus:
            let focus: FocusParameters = try call.parameters()
            ask(Request.focus(AppID(focus.id)).waiting(for: focus.wait), call, connection)
        case .simulate: try simulate(call, from: connection)
        case .open: try open(call, from: connection)
        case .continueActivity: try continueActivity(call, from: connection)
        case .suspend:
            let parameters: SuspendParameters = try call.parameters()
            ask(.suspend(AppID(parameters.id), now: parameters.now ?? false), call, connection)
        case .resume: ask(.resume(try app(of: call)), call, connection)
        case .wake: try wake(call, from: connection)
        case .setInUse: try setInUse(call, from: connection)
        case .terminate: ask(.terminate(try app(of: call)), call, connection)
        case .kill: ask(.kill(try app(of: call)), call, connection)
        case .home:
            try withoutParameters(call)
            ask(.home, call, connection)
        case .beginInterruption:
            let parameters: InterruptionParameters = try call.parameters()
            ask(.beginInterruption(try interruption(parameters.name)), call, connection)
        case .endInterruption: try endInterruption(call, from: connection)
        case .simulateMemoryPressure: ask(Request(try call.parameters()), call, connection)
        case .openScene: try openScene(call, from: connection)
        case .focusScene: try askScene(call, from: connection, Request.focusScene)
        case .backgroundScene: try askScene(call, from: connection, Request.backgroundScene)
        case .closeScene: try askScene(call, from: connection, Request.closeScene)
        case .list:
            try answer(call, connection) {
                ListReply(apps: apps(for: connection.scope), helpers: helpers(for: connection.scope))
            }
        case .getStatus: try answer(call, connection) { StatusReply(status: status(for: connection.scope)) }
        case .apps: try tellApps(call, to: connection)
        case .describe: connection.send(describe(try app(of: call), to: connection.scope), to: call.id)
        case .findApp: try findApp(call, for: connection)
        case .adopt: try adopt(call, from: connection)
        case .disown: ask(.disown(try app(of: call)), call, connection)
        case .explain: connection.send(explain(try app(of: call), to: connection.scope), to: call.id)
        case .history: try tellHistory(call, to: connection)
        case .monitor: try subscribe(connection, call)
        case .reexecute: try reexecute(call, from: connection)
        case .reload:
            try answer(call, connection) {
                onReload()
                return ReloadReply(problems: problems)
            }
        }
    }

    /// Answers at once, from what is known.
    private func answer(
        _ call: Call, _ connection: ControlConnection, with reply: () -> some Encodable
    ) throws(ServiceError) {
        try withoutParameters(call)
        connection.send(Varlink.Reply(reply()), to: call.id)
    }

    private func subscribe(_ connection: ControlConnection, _ call: Call) throws(ServiceError) {
        try withoutParameters(call)
        let present = MonitorReply(number: subscriptions.number, apps: apps(for: connection.scope))
        subscriptions.add(connection, call: call.id, present: .continuing(present))
    }

    /// The part of an app that a client may see.
    func visibility(of app: AppID, to scope: ClientScope) -> Visibility {
        switch scope {
        case .everything, .launcher: .everything
        case .member(let user): members.owner(of: app) == user ? .everything : .state
        case .app(let own): own == app ? .everything : .nothing
        case .nothing: .nothing
        }
    }

    private func apps(for scope: ClientScope) -> [ControlAPI.App] {
        if let only = scope.onlyApp { return manager.core.knownApps[only].map { [presentation.app($0)] } ?? [] }
        return manager.core.knownApps.values.sorted { $0.id < $1.id }.map { app(for: scope, $0) }
    }

    /// An app as a client may see it that sees all of them.
    func app(for scope: ClientScope, _ app: LifecycleCore.App) -> ControlAPI.App {
        let whole = presentation.app(app)
        return visibility(of: app.id, to: scope) == .everything ? whole : whole.stateOnly
    }

    /// The reason why the client may not make the request.
    func objection(to request: Request, by scope: ClientScope) -> ControlError? {
        guard case .member(let user) = scope else { return nil }
        return members.objection(to: request, by: user)
    }

    private func app(of call: Call) throws(ServiceError) -> AppID {
        AppID(try call.parameters(as: AppParameters.self).id)
    }

    private func endInterruption(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let parameters: EndInterruptionParameters = try call.parameters()
        let name = try interruption(parameters.name)
        guard let answer = parameters.answer else { return ask(.endInterruption(name), call, connection) }
        withApp(answer, call, connection) { .endInterruption(name, answer: $0) }
    }

    private func interruption(_ given: String?) throws(ServiceError) -> String {
        let name = given ?? "interruption"
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .invalidParameter("name")
        }
        return name
    }

    func withoutParameters(_ call: Call) throws(ServiceError) {
        _ = try call.parameters(as: NoParameters.self)
    }

    // MARK: Requests to the core

    func ask(_ request: Request, _ call: Call, _ connection: ControlConnection) {
        if let objection = objection(to: request, by: connection.scope) {
            return connection.send(objection.reply, to: call.id)
        }
        let presentation = presentation
        let isAboutApp = request.isAboutApp
        let id = requests.open(call.id, of: connection) { reply in
            switch reply {
            case .reclaimed(let ids): Varlink.Reply(MemoryPressureReply(reclaimed: ids.map(\.name)))
            case .scene(let scene, let app): Varlink.Reply(SceneReply(scene: presentation.scene(scene, of: app)))
            case .done(let app):
                isAboutApp ? Varlink.Reply(AppReply(app: app.map(presentation.app))) : Varlink.Reply(NoParameters())
            case .ended(let outcome, let app): presentation.outcome(outcome, app)
            case .refused(let refusal): ControlError(refusal).reply
            }
        }
        manager.request(id, request)
    }

    private func run(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let run: RunParameters = try call.parameters()
        guard run.command.first?.isEmpty == false else { throw .invalidParameter("command") }
        if let directory = run.workingDirectory, !directory.hasPrefix("/") {
            throw .invalidParameter("workingDirectory")
        }
        let id = run.id.map { AppID($0) } ?? manager.catalog.freeID(for: run.command)
        if let error = problem(withNew: id) { return connection.send(error.reply, to: call.id) }
        if case .member(let member) = connection.scope, run.background != true,
            let objection = MemberAccess.foregroundObjection(to: member)
        {
            return connection.send(objection.reply, to: call.id)
        }
        // What somebody has run is theirs, whoever's daemon it is.
        let user: AppDefinition.User = connection.peer.user == geteuid() ? .daemon : .numbered(connection.peer.user)
        manager.define(id, command: run.command, user: user) { definition in
            definition.environment = run.environment ?? [:]
            definition.workingDirectory = run.workingDirectory
            definition.confinement = connection.confinement
        }
        ask(.launch(id, background: run.background ?? false), call, connection)
    }

    func problem(withName id: AppID) -> ControlError? {
        guard !AppIdentifier.isValid(id.name) else { return nil }
        return ControlError(
            .invalidApp, id: id.name, reason: "this is not an id", remedy: "An id is \(AppIdentifier.form).")
    }

    private func problem(withNew id: AppID) -> ControlError? {
        if let problem = problem(withName: id) { return problem }
        guard manager.core.knownApps[id] != nil else { return nil }
        return ControlError(
            .invalidApp, id: id.name, reason: "there is an app of this id", remedy: "Choose another one with --id.")
    }

    private func describe(_ id: AppID, to scope: ClientScope) -> Varlink.Reply {
        guard let app = manager.core.knownApps[id] else {
            guard let details = endedDetails(of: id, to: scope) else { return ControlError(.noSuchApp(id)).reply }
            return Varlink.Reply(DescribeReply(details: details))
        }
        if case .member(let user) = scope, let objection = members.objection(to: id, by: user) {
            return objection.reply
        }
        return Varlink.Reply(DescribeReply(details: presentation.details(app)))
    }

    private func publish(_ transition: LifecycleCore.Transition) {
        let whole = { self.presentation.transition(transition) }
        subscriptions.publish(
            sees: { self.visibility(of: transition.app, to: $0) },
            everything: { .continuing(MonitorReply(number: $0, transition: whole())) },
            state: { .continuing(MonitorReply(number: $0, transition: whole().stateOnly)) })
    }

    private func publish(_ transition: LifecycleCore.SceneTransition) {
        subscriptions.publish(
            sees: { self.visibility(of: transition.app, to: $0) },
            everything: { .continuing(MonitorReply(number: $0, scene: self.presentation.transition(transition))) },
            state: nil)
    }

    /// The daemon's state; an app sees what it is itself part of.
    private func status(for scope: ClientScope) -> Status {
        var status = status
        // A line of a manifest can have what is nobody else's business.
        if case .member = scope { status.problems = [] }
        guard let app = scope.onlyApp else { return status }
        status.front.removeAll { $0 != app.name }
        status.homeApp = status.homeApp == app.name ? app.name : nil
        status.interruptions = []
        status.concealments = []
        status.apps = 1
        status.running = manager.core.knownApps[app]?.state == .notRunning ? 0 : 1
        status.clients = 1
        status.problems = []
        return status
    }

    private var status: Status {
        let core = manager.core
        return Status(
            version: version, pid: Int64(getpid()), instance: instance == .system ? "system" : "user", socket: path,
            started: started, front: core.front.map(\.name), interruptions: Array(core.interruptions),
            concealments: core.concealments.map(\.rawValue),
            homeApp: core.settings.homeApp?.name, apps: Int64(core.knownApps.count), running: Int64(core.runningCount),
            clients: Int64(server?.clientCount ?? 0), journal: log.usesJournal, problems: problems)
    }
}

extension Request {
    /// Whether the answer shows an app.
    fileprivate var isAboutApp: Bool {
        switch self {
        case .beginInterruption, .endInterruption, .machine: false
        default: true
        }
    }
}

extension Request {
    /// Returns the request, answered when the app has got as far as the caller wants to wait.
    fileprivate func waiting(for goal: WaitGoal?) -> Request {
        switch goal {
        case .answered: .untilAnswered(self)
        case .active, nil: self
        }
    }
}
