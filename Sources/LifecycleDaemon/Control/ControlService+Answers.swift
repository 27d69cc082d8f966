import ControlAPI
import LifecycleCore
import Varlink

// What people ask when they wonder: why, what next, and what happened.
extension ControlService {
    func explain(_ id: AppID, to scope: ClientScope) -> Varlink.Reply {
        guard let app = manager.core.knownApps[id] else {
            guard let details = endedDetails(of: id, to: scope) else { return ControlError(.noSuchApp(id)).reply }
            return Varlink.Reply(
                ExplainReply(explanation: Explanation(details: details, next: nil, obstacles: [], prospects: [])))
        }
        if case .member(let user) = scope, let objection = members.objection(to: id, by: user) {
            return objection.reply
        }
        var explanation = Explanation(
            details: presentation.details(app), next: manager.core.nextState(of: id).map { State($0) },
            obstacles: manager.core.obstacles(of: id).map(presentation.obstacle),
            prospects: manager.core.forecast(of: id).map(presentation.prospect))
        // An app sees nobody but itself, and no interruption of the person that it is not.
        if scope.onlyApp != nil {
            for index in explanation.obstacles.indices where explanation.obstacles[index].kind.isAboutOthers {
                explanation.obstacles[index].names = []
            }
        }
        return Varlink.Reply(ExplainReply(explanation: explanation))
    }

    /// Returns the last that is known of an app that has ended and was forgotten, as far as the client may see it.
    func endedDetails(of id: AppID, to scope: ClientScope) -> Details? {
        if case .member(let user) = scope, manager.ended[id]?.user != user { return nil }
        return presentation.details(ofEnded: id)
    }

    /// Returns the helpers, as far as the client may see them.
    func helpers(for scope: ClientScope) -> [ControlAPI.Helper] {
        scope == .everything ? manager.processes.helpers.map(presentation.helper) : []
    }

    func tellHistory(_ call: Call, to connection: ControlConnection) throws(ServiceError) {
        let wanted: HistoryParameters = try call.parameters()
        if let limit = wanted.limit, limit < 0 { throw .invalidParameter("limit") }
        let id = wanted.id.map { AppID($0) }
        let scope = connection.scope
        if let id, manager.core.knownApps[id] != nil, visibility(of: id, to: scope) != .everything {
            return connection.send(ServiceError.permissionDenied.reply, to: call.id)
        }
        let ring = manager.past.events
        let limit = wanted.limit.map { Int(clamping: $0) } ?? EventRing.capacity
        let events = ring.last(limit) { app in
            (id == nil || app == id) && visibility(of: app, to: scope) == .everything
        }.map(presentation.event)
        let since = ring.start.map { presentation.time(of: $0) } ?? started
        connection.send(Varlink.Reply(HistoryReply(since: since, events: events)), to: call.id)
    }
}

extension ObstacleKind {
    fileprivate var isAboutOthers: Bool { self == .place || self == .interruption }
}

extension Presentation {
    fileprivate func obstacle(_ obstacle: LifecycleCore.Obstacle) -> ControlAPI.Obstacle {
        func make(_ kind: ObstacleKind, _ names: [String] = [], until: Instant? = nil) -> ControlAPI.Obstacle {
            ControlAPI.Obstacle(kind: kind, names: names, until: until.map(time))
        }
        switch obstacle {
        case .process(let step, let until): return make(ObstacleKind(step), until: until)
        case .answer(let callback, let scene, let since, let until):
            var result = make(.answer, [callback.rawValue] + (scene.map { [$0.name] } ?? []), until: until)
            result.since = time(of: since)
            return result
        case .place(let others): return make(.place, others.map(\.name))
        case .backgroundTime(let until): return make(.backgroundTime, until: until)
        case .hold(let hold, let until):
            var result = make(hold.kind == .task ? .task : .activity, [hold.name], until: until)
            result.since = time(of: hold.since)
            return result
        case .work(let kind, let until): return make(.work, kind.map { [$0] } ?? [], until: until)
        case .launch(let until): return make(.launch, until: until)
        case .channel(let until): return make(.channel, until: until)
        case .scenes: return make(.scenes)
        case .interruption(let name): return make(.interruption, [name])
        case .concealment(let concealment): return make(.concealment, [concealment.rawValue])
        case .policy: return make(.manifest)
        case .request: return make(.request)
        case .use(.visible): return make(.visible)
        case .use(.playing): return make(.playing)
        case .restart(let instant): return make(.restart, until: instant)
        case .givenUp: return make(.givenUp)
        case .stoppedByOther: return make(.stoppedByOther)
        }
    }

    fileprivate func prospect(_ prospect: LifecycleCore.Prospect) -> ControlAPI.Prospect {
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

    fileprivate func event(_ entry: EventRing.Entry) -> HistoryEvent {
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
            event.reason = manager.ended[entry.app]?.launchFailure ?? event.reason
        }
        if event.kind == .exited { event.from = State(entry.from) }
        return event
    }
}

extension ObstacleKind {
    fileprivate init(_ step: Route.ProcessStep) {
        self =
            switch step {
            case .spawn: .start
            case .stop: .stop
            case .resume: .resume
            case .terminate, .reap: .end
            }
    }
}
