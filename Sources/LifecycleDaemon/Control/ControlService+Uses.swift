import ControlAPI
import LifecycleCore
import Varlink

// What those say who can see or hear the apps.
extension ControlService {
    func setInUse(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let report: SetInUseParameters = try call.parameters()
        guard report.apps.count <= SetInUseParameters.limit else { throw .invalidParameter("apps") }
        let use = LifecycleCore.Use(report.use)
        let core = manager.core
        let ids = report.apps.map { AppID($0) }
        let known = Set(
            ids.filter { core.knownApps[$0] != nil && visibility(of: $0, to: connection.scope) == .everything })
        uses.set(use, to: known, by: connection)
        manager.take(use, of: uses.apps(use))
        let ignored = ids.filter { id in
            guard known.contains(id), let app = core.knownApps[id] else { return true }
            return !core.settings.keptUses.keep(use, app.policy)
        }
        connection.send(Varlink.Reply(SetInUseReply(ignored: ignored.map(\.name))), to: call.id)
    }

    /// What a client has said is no longer so when it has gone.
    func forgetUses(by connection: ControlConnection) {
        for use in uses.remove(connection) { manager.take(use, of: uses.apps(use)) }
    }
}

extension LifecycleCore.Use {
    fileprivate nonisolated init(_ use: ControlAPI.Use) {
        self =
            switch use {
            case .visible: .visible
            case .playing: .playing
            }
    }
}
