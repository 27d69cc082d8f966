import Configuration
import ControlAPI
import DequeModule
import Glibc
import LifecycleCore
import Processes
import Systemd
import Varlink

/// Serves the interface `org.lifed`: passes requests to the core, and its replies and transitions to clients.
final class ControlService {
    let version = Version.current
    let history: History
    private let uses: UseReports
    private let interruptions: Interruptions
    let presentation: Presentation
    let server: ControlServer
    /// The time at which the daemon was started, in microseconds since the epoch.
    let started: Int64
    private(set) var problems: [APIProblem] = []
    /// The setting with which the daemon started; a reload does not change it.
    private let containment: DaemonSettings.Containment
    private let log: Log
    private let instance: Instance
    private let path: String
    private let subscriptions = Subscriptions()
    private var requests = OpenRequests()
    /// The replies that are sent when the inputs are handled which the calls have led to.
    private var answers: [(ClientCall, VarlinkReply)] = []
    /// The calls that the root of the daemon performs after the turn.
    private var callsOfDaemon: Deque<ClientCall> = []

    /// - Parameter owner: Returns the owner of a process that connects.
    init(
        socket: consuming ControlSocket, configuration: LoadedConfiguration, presentation: Presentation,
        uses: UseReports, interruptions: Interruptions, history: History, log: Log, instance: Instance, path: String,
        owner: @escaping (ProcessID) -> ProcessOwner
    ) throws {
        self.presentation = presentation
        self.uses = uses
        self.interruptions = interruptions
        self.history = history
        self.log = log
        self.instance = instance
        self.path = path
        containment = configuration.settings.containment
        let (driver, catalog) = (presentation.driver, presentation.catalog)
        started = presentation.exits.time(of: driver.now)
        let service = Service(
            vendor: "lifed", product: "lifed", version: version, url: "",
            interfaces: [LifedInterface.interface, MetricsInterface.interface])
        let overrun = ControlError(
            .subscriptionOverrun, id: nil, reason: "the subscriber read too slowly and missed changes",
            remedy: "subscribe again for the present state")
        server = try ControlServer(
            events: driver.events, socket: socket, log: log, access: AccessPolicy(isSystem: instance == .system),
            service: service, overrun: overrun.reply, owner: owner
        ) { catalog[$0]?.control == .full }
        apply(configuration)
    }

    var driver: CoreDriver { presentation.driver }
    var catalog: AppCatalog { presentation.catalog }
    var processes: AppProcesses { presentation.processes }
    var exits: ExitHistory { presentation.exits }
    var rights: ClientRights { presentation.rights }

    /// One line for `systemctl status`. It holds until the next reload, without the number of running apps.
    var summary: String {
        let problems = self.problems.count
        let manifests = catalog.definitions.all.count { !$0.value.isAdHoc && !$0.value.isFromEntry }
        return "\(manifests) manifest\(manifests == 1 ? "" : "s") read"
            + (problems == 0 ? "" : ", \(problems) configuration problem\(problems == 1 ? "" : "s")")
    }

    func apply(_ configuration: LoadedConfiguration) {
        problems = configuration.problems.map { APIProblem($0) }
        let limits = configuration.settings.limits
        server.access.setAdministrators(configuration.settings.access.administrators)
        server.clientLimit = limits.clients
        server.totalBytesLimit = limits.clientsBytes
        server.limits = ConnectionLimits(message: limits.messageBytes, queuedOutput: limits.monitorBytes)
    }

    func close() { server.close() }

    // MARK: Calls

    private func perform(_ call: ClientCall) throws {
        guard let method = call.method else { return try MetricsCalls(service: self).perform(call) }
        guard allows(method, call) else { return server.refuse(call, "an app has this right over itself only") }
        if method.access == .administrators, let objection = rights.administratorObjection(to: call.scope) {
            throw objection
        }
        try dispatch(method, call.call, call)
    }

    private func allows(_ method: LifedMethod, _ call: ClientCall) -> Bool {
        guard let app = call.scope.onlyApp else { return true }
        switch method.access {
        case .filtered: return true
        case .onItself: return call.id == app
        case .users, .administrators: return false
        }
    }

    /// Makes a request of the core, which answers the call.
    func ask(_ request: Request, for call: ClientCall) throws(ControlError) {
        if let objection = rights.objection(to: request, by: call.scope) { throw objection }
        open(request, for: call)
    }

    private func open(_ request: Request, for call: ClientCall) {
        requests.add(driver.request(request), request, for: call)
    }

    var status: APIStatus {
        let core = driver.core
        return APIStatus(
            version: version, pid: Int64(getpid()), instance: instance == .system ? "system" : "user", socket: path,
            startedUSec: started, foreground: core.appsInForegroundStates.map(\.name),
            interruptions: Array(core.interruptions),
            foregroundBlockers: Array(core.foregroundBlockers), homeApp: core.settings.homeApp?.name,
            apps: Int64(driver.core.knownApps.count), running: Int64(core.runningCount),
            clients: Int64(server.clientCount),
            journal: log.usesJournal, containment: containment == .keeper ? .keeper : nil,
            problems: problems, launchBlocker: driver.store.objection?.description)
    }
}

// MARK: - Methods

extension ControlService: LifedHandler {
    typealias Context = ClientCall
    typealias Failure = any Error

    func failure(_ error: ServiceError) -> any Error { error }

    func focus(_ focus: FocusParameters, for call: ClientCall) throws {
        try ask(.focus(AppID(focus.id), untilAnswered: focus.wait == .answered), for: call)
    }

    func background(_ app: AppParameters, for call: ClientCall) throws {
        try ask(.background(AppID(app.id)), for: call)
    }

    func home(for call: ClientCall) throws { try ask(.home, for: call) }

    func suspend(_ parameters: SuspendParameters, for call: ClientCall) throws {
        try ask(.suspend(AppID(parameters.id), now: parameters.now ?? false), for: call)
    }

    func resume(_ app: AppParameters, for call: ClientCall) throws { try ask(.resume(AppID(app.id)), for: call) }

    func terminate(_ app: AppParameters, for call: ClientCall) throws { try ask(.terminate(AppID(app.id)), for: call) }

    func kill(_ kill: KillParameters, for call: ClientCall) throws {
        let id = AppID(kill.id)
        guard let number = kill.signal, number != SIGKILL else { return try ask(.kill(id), for: call) }
        guard (1...64).contains(number) else { throw ServiceError.invalidParameter("signal") }
        if let objection = rights.objection(to: .kill(id), by: call.scope) { throw objection }
        call.answer(VarlinkReply(AppReply(app: try send(Signal(rawValue: Int32(number)), to: id))))
    }

    /// Sends a signal to the processes of an app. The core takes no part in it: the state of the app stays as it is.
    private func send(_ signal: Signal, to id: AppID) throws(ControlError) -> APIApp {
        guard let app = driver.app(id) else { throw ControlError(Refusal.noSuchApp(id)) }
        guard processes.isRunning(driver.index(of: id)) else { throw ControlError(Refusal.notRunning(id)) }
        guard !signal.changesStops else {
            throw ControlError(
                .refused, id: id.name, reason: "\(signal) stops or continues processes",
                remedy: "use 'lifectl suspend' or 'lifectl resume'")
        }
        if let failure = processes.send(signal, to: driver.index(of: id))?.first {
            throw ControlError(
                .failed, id: id.name, reason: "process \(failure.process.pid) did not get \(signal): \(failure.error)",
                remedy: "'lifectl explain \(id)' names the processes that the daemon may not signal")
        }
        return presentation.app(app)
    }

    func release(_ app: AppParameters, for call: ClientCall) throws { try ask(.release(AppID(app.id)), for: call) }

    func beginInterruption(_ parameters: BeginInterruptionParameters, for call: ClientCall) throws {
        let name = try interruption(parameters.name)
        let request = Request.beginInterruption(name)
        if let objection = rights.objection(to: request, by: call.scope) { throw objection }
        // An interruption that lasts until it is ended by its name does not end with another client.
        let isNew = !driver.core.interruptions.contains(name)
        if isNew, case .member(let user) = call.scope, let reason = interruptions.bound.begin(name, by: user) {
            throw ControlError(
                .refused, id: nil, reason: reason,
                remedy: "list them with 'lifectl status' and end one with 'lifectl interrupt end'")
        }
        if parameters.whileConnected != true {
            interruptions.bound.removeAll(of: name)
        } else if isNew || interruptions.bound.contains(name) {
            interruptions.bound.add(name, to: call.connection)
        }
        open(request, for: call)
    }

    func endInterruption(_ parameters: EndInterruptionParameters, for call: ClientCall) throws {
        let name = try interruption(parameters.name)
        let answer = try parameters.answer.map { name in try launchable(name, for: call.scope) }
        try ask(.endInterruption(name, answer: answer), for: call)
    }

    private func interruption(_ given: String?) throws(ServiceError) -> String {
        let name = given ?? "interruption"
        guard BeginInterruptionParameters.isName(name) else { throw .invalidParameter("name") }
        return name
    }

    func focusScene(_ scene: SceneParameters, for call: ClientCall) throws {
        try ask(.focusScene(AppID(scene.app), SceneID(parameter: scene.scene)), for: call)
    }

    func backgroundScene(_ scene: SceneParameters, for call: ClientCall) throws {
        try ask(.backgroundScene(AppID(scene.app), SceneID(parameter: scene.scene)), for: call)
    }

    func closeScene(_ scene: SceneParameters, for call: ClientCall) throws {
        try ask(.closeScene(AppID(scene.app), SceneID(parameter: scene.scene)), for: call)
    }

    func simulate(_ parameters: SimulateParameters, for call: ClientCall) throws {
        try ask(.machine(parameters.event), for: call)
    }

    func simulateMemoryPressure(_ pressure: SimulateMemoryPressureParameters, for call: ClientCall) throws {
        try ask(.memoryPressure(pressure.level, all: pressure.all ?? false), for: call)
    }

    func setInUse(_ report: SetInUseParameters, for call: ClientCall) throws {
        guard report.isOfClients else { throw ServiceError.invalidParameter("use") }
        guard report.apps.count <= SetInUseParameters.limit else { throw ServiceError.invalidParameter("apps") }
        let ids = report.apps.map { AppID($0) }
        let known = Set(ids.filter { driver.isKnown($0) && rights.seesAll(of: $0, call.scope) })
        uses.report(report.use, of: known, by: call.connection)
        let core = driver.core
        let ignored = ids.filter { id in
            guard known.contains(id), let app = driver.app(id) else { return true }
            return !core.settings.keptUses.keep(report.use, app.policy)
        }
        answers.append((call, VarlinkReply(SetInUseReply(ignored: ignored.map(\.name)))))
    }

    func monitor(for call: ClientCall) {
        let apps = presentation.appsBeforeTransitions(for: call.scope)
        let present = MonitorReply(number: subscriptions.number, apps: apps)
        subscriptions.add(call, present: .continuing(present))
    }

    func monitorAdoptions(for call: ClientCall) { subscriptions.addToAdoptions(call) }

    func reexecute(for call: ClientCall) { callsOfDaemon.append(call) }
    func reload(for call: ClientCall) { callsOfDaemon.append(call) }
}

// MARK: - Clients

extension ControlService {
    /// Looks for what has happened without notice and concerns a call that is about to be handled.
    func notice(_ call: ClientCall) {
        // Each reply may tell the state of any app.
        processes.noticeContinuations()
        switch call.method {
        case .list: processes.noticeSignals()
        case .describe, .explain: processes.noticeSignals(of: call.id.flatMap { driver.index(of: $0) })
        default: break
        }
    }

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

    func forgetClosedConnections() {
        for connection in server.takeClosedConnections() {
            requests.removeAll(of: connection)
            subscriptions.remove(connection)
            // A use ends with the connection of the client that reported it.
            uses.end(by: connection)
            interruptions.bound.remove(connection)
            interruptions.endAbandoned()
        }
    }
}

// MARK: - Replies and announcements

extension ControlService {
    /// Takes the next call that the root of the daemon is to perform.
    func takeCallOfDaemon() -> ClientCall? { callsOfDaemon.popFirst() }

    /// Sends the replies to calls that the core does not answer.
    func sendAnswers() {
        for (call, reply) in answers { call.answer(reply) }
        answers = []
    }

    func send(_ answer: Ready.Answer) {
        guard let pending = requests.remove(answer.request) else { return }
        let connection = pending.connection
        connection.send(presentation.reply(answer.reply, pending.form, for: connection.scope), to: pending.call)
    }

    /// Tells the subscribers of the transitions, and of the processes that have joined apps.
    func publish(_ announcements: [Announcement]) {
        for announcement in announcements {
            switch announcement {
            case .app(let transition): publish(transition)
            case .scene(let transition): publish(transition)
            case .decision: break
            }
        }
        for id in processes.takeJoined() {
            subscriptions.publishAdoption { self.rights.visibility(of: id, to: $0) == .everything }
        }
    }

    private func publish(_ transition: Transition) {
        let whole = { self.presentation.transition(transition) }
        subscriptions.publish(
            visibility: { self.rights.visibility(of: transition.app, to: $0) },
            everything: { .continuing(MonitorReply(number: $0, transition: whole())) },
            state: { .continuing(MonitorReply(number: $0, transition: whole().stateOnly)) })
        if transition.to == .notRunning { server.closeConnections(of: transition.app) }
    }

    private func publish(_ transition: SceneTransition) {
        subscriptions.publish(
            visibility: { self.rights.visibility(of: transition.app, to: $0) },
            everything: { .continuing(MonitorReply(number: $0, scene: self.presentation.transition(transition))) },
            state: nil)
    }
}
