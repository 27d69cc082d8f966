import ControlAPI
import LifecycleCore
import Varlink

/// The calls that change nothing. Each client sees what its scope allows.
extension ControlService {
    func list(for call: ClientCall) {
        let helpers = call.scope == .everything ? presentation.helpers(processes.helpers) : []
        call.answer(VarlinkReply(ListReply(apps: presentation.apps(for: call.scope), helpers: helpers)))
    }

    /// Answers with the daemon's status. An app sees the part that concerns itself.
    func getStatus(for call: ClientCall) {
        var status = self.status
        // A problem may quote a line of another user's manifest.
        if case .member = call.scope { status.problems = [] }
        if let app = call.scope.onlyApp {
            status.foreground.removeAll { $0 != app.name }
            status.homeApp = status.homeApp == app.name ? app.name : nil
            status.interruptions = []
            status.foregroundBlockers = []
            status.apps = 1
            status.running = driver.app(app)?.state == .notRunning ? 0 : 1
            status.clients = 1
            status.problems = []
            status.launchBlocker = nil
        }
        call.answer(VarlinkReply(GetStatusReply(status: status)))
    }

    func listAvailable(_ wanted: ListAvailableParameters, for call: ClientCall) throws {
        call.answer(VarlinkReply(ListAvailableReply(apps: try presentation.availableApps(all: wanted.all ?? false))))
    }

    func describe(_ wanted: AppParameters, for call: ClientCall) throws {
        let id = AppID(wanted.id)
        let app = try visibleApp(id, call.scope)
        let details = try app.map(presentation.details) ?? endedDetails(of: id, call.scope)
        call.answer(VarlinkReply(DescribeReply(details: details)))
    }

    func explain(_ wanted: AppParameters, for call: ClientCall) throws {
        let id = AppID(wanted.id)
        let scope = call.scope
        guard let app = try visibleApp(id, scope) else {
            let explanation = APIExplanation(
                details: try endedDetails(of: id, scope), conditions: [], prospects: [])
            return call.answer(VarlinkReply(ExplainReply(explanation: explanation)))
        }
        var explanation = presentation.explanation(of: app)
        // An app learns nothing about other apps, nor about interruptions.
        if scope.onlyApp == nil {
            explanation.connectedApps = processes.appsConnected(to: driver.index(of: id))
                .filter { rights.seesAll(of: $0, scope) }.map(\.name)
        } else {
            for index in explanation.conditions.indices {
                let kind = explanation.conditions[index].kind
                if kind == .activationSlot || kind == .interruption { explanation.conditions[index].names = [] }
            }
        }
        call.answer(VarlinkReply(ExplainReply(explanation: explanation)))
    }

    private func visibleApp(_ id: AppID, _ scope: ClientScope) throws(ControlError) -> AppMachine? {
        guard let app = driver.app(id) else { return nil }
        if let objection = rights.objection(to: id, by: scope) { throw objection }
        return app
    }

    private func endedDetails(of id: AppID, _ scope: ClientScope) throws(ControlError) -> APIDetails {
        guard let record = rights.endedApp(id, for: scope) else { throw ControlError(.noSuchApp(id)) }
        return presentation.details(of: record)
    }

    func history(_ wanted: HistoryParameters, for call: ClientCall) throws {
        if let limit = wanted.limit, limit < 0 { throw ServiceError.invalidParameter("limit") }
        let id = wanted.id.map { AppID($0) }
        // An app does not learn which others are known.
        if let id, let only = call.scope.onlyApp, id != only { throw ServiceError.permissionDenied }
        if let id, driver.isKnown(id), !rights.seesAll(of: id, call.scope) { throw ServiceError.permissionDenied }
        let log = history.events
        let limit = wanted.limit.map { Int(clamping: $0) } ?? EventLog.limit
        let events = log.last(limit) { (id == nil || $0.app == id) && $0.isVisible(to: call.scope) }
        let since = log.start.map { exits.time(of: $0) } ?? started
        call.answer(VarlinkReply(HistoryReply(sinceUSec: since, events: events.map(presentation.event))))
    }
}
