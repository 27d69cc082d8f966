import ControlAPI
import LifecycleCore
import Varlink

/// The calls that change nothing. Each client sees what its scope allows.
struct QueryCalls {
    unowned let service: ControlService

    private var manager: AppManager { service.manager }
    private var presentation: Presentation { service.presentation }
    private var rights: ClientRights { service.rights }

    func list(_ call: ClientCall) throws {
        try call.checkNoParameters()
        let helpers = call.scope == .everything ? manager.processes.helpers.map(presentation.helper) : []
        call.answer(Varlink.Reply(ListReply(apps: presentation.apps(for: call.scope, rights), helpers: helpers)))
    }

    /// Answers with the daemon's status. An app sees the part that concerns itself.
    func status(_ whole: Status, _ call: ClientCall) throws {
        try call.checkNoParameters()
        var status = whole
        // A problem may quote a line of another user's manifest.
        if case .member = call.scope { status.problems = [] }
        if let app = call.scope.onlyApp {
            status.front.removeAll { $0 != app.name }
            status.homeApp = status.homeApp == app.name ? app.name : nil
            status.interruptions = []
            status.concealments = []
            status.apps = 1
            status.running = manager.app(app)?.state == .notRunning ? 0 : 1
            status.clients = 1
            status.problems = []
        }
        call.answer(Varlink.Reply(StatusReply(status: status)))
    }

    func apps(_ call: ClientCall) throws {
        let wanted: AppsParameters = try call.parameters()
        call.answer(Varlink.Reply(AppsReply(apps: presentation.launchable(all: wanted.all ?? false))))
    }

    func describe(_ call: ClientCall) throws {
        let id = try call.app()
        let app = try visibleApp(id, call.scope)
        let details = try app.map(presentation.details) ?? endedDetails(of: id, call.scope)
        call.answer(Varlink.Reply(DescribeReply(details: details)))
    }

    func explain(_ call: ClientCall) throws {
        let id = try call.app()
        let scope = call.scope
        guard let app = try visibleApp(id, scope) else {
            let explanation = Explanation(
                details: try endedDetails(of: id, scope), next: nil, obstacles: [], prospects: [])
            return call.answer(Varlink.Reply(ExplainReply(explanation: explanation)))
        }
        var explanation = presentation.explanation(of: app)
        // An app learns nothing about other apps, nor about interruptions.
        if scope.onlyApp != nil {
            for index in explanation.obstacles.indices {
                let kind = explanation.obstacles[index].kind
                if kind == .place || kind == .interruption { explanation.obstacles[index].names = [] }
            }
        }
        call.answer(Varlink.Reply(ExplainReply(explanation: explanation)))
    }

    private func visibleApp(_ id: AppID, _ scope: ClientScope) throws(ControlError) -> LifecycleCore.AppMachine? {
        guard let app = manager.app(id) else { return nil }
        if let objection = rights.objection(to: id, by: scope) { throw objection }
        return app
    }

    private func endedDetails(of id: AppID, _ scope: ClientScope) throws(ControlError) -> Details {
        guard let record = rights.endedApp(id, for: scope) else { throw ControlError(.noSuchApp(id)) }
        return presentation.details(of: record)
    }

    func history(_ call: ClientCall) throws {
        let wanted: HistoryParameters = try call.parameters()
        if let limit = wanted.limit, limit < 0 { throw ServiceError.invalidParameter("limit") }
        let id = wanted.id.map { AppID($0) }
        if let id, manager.isKnown(id), !rights.seesAll(of: id, call.scope) { throw ServiceError.permissionDenied }
        let ring = manager.history.events
        let limit = wanted.limit.map { Int(clamping: $0) } ?? EventRing.capacity
        let events = ring.last(limit) { app in (id == nil || app == id) && rights.seesAll(of: app, call.scope) }
        let since = ring.start.map { manager.exits.time(of: $0) } ?? service.started
        call.answer(Varlink.Reply(HistoryReply(since: since, events: events.map(presentation.event))))
    }
}
