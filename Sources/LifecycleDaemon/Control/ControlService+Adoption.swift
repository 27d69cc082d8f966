import Configuration
import ControlAPI
import LifecycleCore
import Processes
import Varlink

/// The calls about processes that run already.
extension ControlService {
    /// Answers with the app of a process, by the rule that decides the scope of a client, or with that of a window's claim.
    func findApp(_ parameters: FindAppParameters, for call: ClientCall) throws {
        var found: AppID?
        switch (parameters.pid, parameters.appID) {
        case (let number?, nil):
            let pid = try processID(number)
            let remedy = "ask from the namespace of the daemon, by its number there"
            try requireOwnNamespace(call, "find the app of process \(pid)", remedy: remedy)
            found = try owner(of: pid)
        case (nil, let text?): found = try claimedApp(text)
        case (nil, nil): throw ServiceError.invalidParameter("pid")
        case (_?, _?): throw ServiceError.invalidParameter("appID")
        }
        if let only = call.scope.onlyApp, found != only { found = nil }
        call.answer(VarlinkReply(OptionalAppReply(app: found.flatMap { app($0, for: call) })))
    }

    private func owner(of pid: ProcessID) throws(ControlError) -> AppID? {
        guard let process = try hold(pid), case .app(let id) = processes.owner(of: pid), process.lives else {
            return nil
        }
        return id
    }

    private func claimedApp(_ text: String) throws(ServiceError) -> AppID? {
        guard FindAppParameters.appIDLengths.contains(text.utf8.count) else { throw .invalidParameter("appID") }
        let running = driver.apps.lazy.filter(\.isRunning)
        return AppIDClaim(text).best(among: running.map { ($0.id, self.catalog[$0.id]?.windowClass) })
    }

    func adopt(_ wanted: AdoptParameters, for call: ClientCall) throws {
        let pid = try processID(wanted.pid)
        guard wanted.name.map(AdoptParameters.isName) ?? true else { throw ServiceError.invalidParameter("name") }
        try requireOwnNamespace(
            call, "adopt process \(pid)", remedy: "adopt it from the namespace of the daemon, by its number there")
        if driver.core.isShuttingDown { throw ControlError(.shuttingDown) }
        if wanted.background != true, let objection = rights.foregroundObjection(to: call.scope) {
            throw objection
        }
        guard let process = try hold(pid) else { throw ControlError(noProcess: pid) }
        switch try plan(pid, wanted, call.connection.peer) {
        case .nothing: call.answer(VarlinkReply(OptionalAppReply(app: nil)))
        case .app(let id): call.answer(VarlinkReply(OptionalAppReply(app: app(id, for: call))))
        case .new(let id, let found, let model):
            // A process that still lives is the one that was found under the pid.
            guard process.lives, !found.isZombie else { throw ControlError(noProcess: pid) }
            let request = Request.launch(id, background: wanted.background ?? false)
            // Before the app of the id is changed, which may be another user's.
            if let objection = rights.objection(to: request, by: call.scope) { throw objection }
            let size = found.commandLine.reduce(0) { $0 + $1.utf8.count }
            if let objection = stateObjection(to: id, adding: size, of: found.users[0], call.scope) { throw objection }
            catalog.defineAdopted(id, found, name: wanted.name, like: model)
            processes.hold(AdoptionCandidate(process), for: id)
            try ask(request, for: call)
        }
    }

    private func app(_ id: AppID, for call: ClientCall) -> APIApp? {
        driver.app(id).map { presentation.app($0, for: call.scope) }
    }

    private enum Plan {
        case nothing
        /// The app has the process already.
        case app(AppID)
        /// A new app. The policy is that of the model if the id has no manifest.
        case new(AppID, RunningProcess, model: AppID?)
    }

    private func plan(_ pid: ProcessID, _ wanted: AdoptParameters, _ peer: PeerCredentials) throws(ControlError) -> Plan
    {
        let byRule = wanted.byRule ?? false
        switch processes.owner(of: pid) {
        case .app(let id):
            if byRule { return .app(id) }
            throw ControlError(
                .refused, id: id.name, reason: "cannot adopt process \(pid): it belongs to this app already",
                remedy: "bring it to the foreground with 'lifectl focus \(id)'")
        // The policy names it.
        case .unknown where AdoptionPolicy.isDaemon(pid) && !byRule: break
        case .unknown where !byRule:
            throw ControlError(
                .refused, id: nil,
                reason: "cannot adopt process \(pid): it is a helper of lifed, or left over from an app that has ended",
                remedy: "end it, and run its program with 'lifectl run'")
        case .unknown: return .nothing
        case .noApp: break
        }
        guard let found = RunningProcess(of: pid, memory: processes.memory) else { throw ControlError(noProcess: pid) }
        let rule = catalog.rule(for: found)
        if byRule, rule == nil { return .nothing }
        let policy = AdoptionPolicy(process: found, peer: peer, processes: processes)
        if let objection = policy.objection { throw objection }
        return .new(try id(for: found, wanted.id, rule), found, model: rule?.id.map { AppID($0) })
    }

    /// Returns the id that the client wants, or else that of the rule, or a free one like it.
    private func id(
        for process: RunningProcess, _ wanted: String?, _ rule: AdoptRule?
    ) throws(ControlError) -> AppID {
        guard let wanted else {
            let program = rule?.id ?? process.executable ?? process.name
            let id = rule?.id.map { AppID($0) }
            return id.flatMap { catalog.isFree($0) ? $0 : nil } ?? catalog.definitions.freeID(for: [program])
        }
        let id = AppID(wanted)
        try Self.check(id)
        guard catalog.isFree(id) else {
            throw ControlError(
                .invalidApp, id: wanted, reason: "an app of this id is running",
                remedy: "choose another id with --id")
        }
        return id
    }

    /// Refuses a client to which the number of a process means another process.
    private func requireOwnNamespace(_ call: ClientCall, _ action: String, remedy: String) throws(ControlError) {
        guard !call.connection.client.isInOwnNamespace else { return }
        throw ControlError(
            .refused, id: nil, reason: "cannot \(action): you are in another process namespace", remedy: remedy)
    }

    private func processID(_ number: Int64) throws(ServiceError) -> ProcessID {
        guard let pid = ProcessID(exactly: number), pid > 0 else { throw .invalidParameter("pid") }
        return pid
    }

    private func hold(_ pid: ProcessID) throws(ControlError) -> PinnedProcess? {
        do throws(Errno) {
            return try PinnedProcess.pin(pid)
        } catch {
            throw ControlError(
                .failed, id: nil, reason: "cannot open process \(pid): \(error)",
                remedy: "try again; the daemon may be short of descriptors")
        }
    }
}

extension ControlError {
    fileprivate init(noProcess pid: ProcessID) {
        self.init(
            .noSuchApp, id: nil, reason: "cannot adopt process \(pid): it does not exist",
            remedy: "list the processes with 'ps -e'")
    }
}
