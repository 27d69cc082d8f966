import Configuration
import ControlAPI
import LifecycleCore
import Processes
import Varlink

// Processes that run already.
extension ControlService {
    /// Tells whose process it is, by the rule by which clients are told apart.
    func findApp(_ call: Call, for connection: ControlConnection) throws(ServiceError) {
        let pid = try processID(call.parameters(as: FindAppParameters.self).pid)
        do throws(ControlError) {
            var found: AppID?
            if let process = try hold(pid) {
                if case .app(let id) = manager.processes.owner(of: pid), process.lives { found = id }
            }
            // An app sees nobody but itself.
            if let only = connection.scope.onlyApp, found != only { found = nil }
            let app = found.flatMap { manager.core.knownApps[$0] }.map { self.app(for: connection.scope, $0) }
            connection.send(Varlink.Reply(FindAppReply(app: app)), to: call.id)
        } catch {
            connection.send(error.reply, to: call.id)
        }
    }

    /// Puts a process under management, or says why not.
    func adopt(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let wanted: AdoptParameters = try call.parameters()
        let pid = try processID(wanted.pid)
        guard wanted.name?.isTitle ?? true else { throw .invalidParameter("name") }
        do throws(ControlError) {
            if manager.core.isShuttingDown { throw ControlError(.shuttingDown) }
            if case .member(let member) = connection.scope, wanted.background != true,
                let objection = MemberAccess.foregroundObjection(to: member)
            {
                throw objection
            }
            guard let process = try hold(pid) else { throw ControlError(noProcess: pid) }
            switch try place(pid, wanted, connection.peer) {
            case .nothing: connection.send(Varlink.Reply(AppReply(app: nil)), to: call.id)
            case .app(let id):
                let app = manager.core.knownApps[id].map { self.app(for: connection.scope, $0) }
                connection.send(Varlink.Reply(AppReply(app: app)), to: call.id)
            case .new(let id, let found, let model):
                // Whatever was found under the number was about the process that is held.
                guard process.lives, !found.isZombie else { throw ControlError(noProcess: pid) }
                manager.defineAdopted(id, found, name: wanted.name, like: model)
                manager.candidates[id] = AdoptionCandidate(process)
                ask(.launch(id, background: wanted.background ?? false), call, connection)
                manager.candidates[id] = nil
            }
        } catch {
            connection.send(error.reply, to: call.id)
        }
    }

    /// What becomes of a wish to adopt.
    private enum AdoptionPlace {
        /// No rule fits.
        case nothing
        /// It is that app's already, and that is as good.
        case app(AppID)
        /// It is to be managed under this id, with the policy of another where that has no manifest.
        case new(AppID, RunningProcess, like: AppID?)
    }

    private func place(
        _ pid: ProcessID, _ wanted: AdoptParameters, _ peer: PeerCredentials
    ) throws(ControlError) -> AdoptionPlace {
        let byRule = wanted.byRule ?? false
        switch manager.processes.owner(of: pid) {
        case .app(let id):
            if byRule { return .app(id) }
            throw ControlError(
                .refused, id: id.name, reason: "process \(pid) is one of this app already",
                remedy: "'lifectl focus \(id)' brings it to the front.")
        case .unknown where !byRule:
            throw ControlError(
                .refused, id: nil, reason: "process \(pid) is lifed's own, or left over from an app that is no more",
                remedy: "")
        case .unknown: return .nothing
        case .noApp: break
        }
        guard let found = RunningProcess(of: pid) else { throw ControlError(noProcess: pid) }
        let rule = manager.rule(for: found)
        if byRule, rule == nil { return .nothing }
        let judgement = AdoptionJudgement(process: found, peer: peer, processes: manager.processes)
        if let objection = judgement.objection { throw objection }
        return .new(try id(for: found, wanted.id, rule), found, like: rule?.id.map { AppID($0) })
    }

    /// The id that was asked for, if it can be had; else that of the rule, or one like it that is free.
    private func id(
        for process: RunningProcess, _ wanted: String?, _ rule: AdoptRule?
    ) throws(ControlError) -> AppID {
        guard let wanted else {
            let program = rule?.id ?? process.executable ?? process.name
            let id = rule?.id.map { AppID($0) }
            return id.flatMap { manager.isFree($0) ? $0 : nil } ?? manager.catalog.freeID(for: [program])
        }
        let id = AppID(wanted)
        if let problem = problem(withName: id) { throw problem }
        guard manager.isFree(id) else {
            throw ControlError(
                .invalidApp, id: wanted, reason: "there is an app of this id, which runs",
                remedy: "Choose another one with --id.")
        }
        return id
    }

    /// A number that a process can have.
    private func processID(_ number: Int64) throws(ServiceError) -> ProcessID {
        guard let pid = ProcessID(exactly: number), pid > 0 else { throw .invalidParameter("pid") }
        return pid
    }

    private func hold(_ pid: ProcessID) throws(ControlError) -> HeldProcess? {
        do throws(Processes.Errno) {
            return try HeldProcess.hold(pid)
        } catch {
            throw ControlError(
                .failed, id: nil, reason: "process \(pid) cannot be looked at: \(error)",
                remedy: "Try again; the daemon may be short of descriptors.")
        }
    }
}

extension ControlError {
    fileprivate init(noProcess pid: ProcessID) {
        self.init(
            .notRunning, id: nil, reason: "there is no process \(pid)",
            remedy: "'ps -e' and 'pgrep' show those there are.")
    }
}

extension String {
    /// Whether it can be an app's name for people, as a manifest's.
    fileprivate var isTitle: Bool {
        (1...256).contains(unicodeScalars.count)
            && !unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
