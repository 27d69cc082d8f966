import ControlAPI
import LifecycleCore
import Processes
import Varlink

// Processes that run already.
extension ControlService {
    /// Tells whose process it is, by the rule by which clients are told apart.
    func findApp(_ call: Call, for connection: ControlConnection) throws(ServiceError) {
        let pid = try processID(call.parameters(as: FindAppParameters.self).pid)
        do throws(Processes.Errno) {
            var found: AppID?
            if let process = try HeldProcess.hold(pid) {
                if case .app(let id) = manager.processes.owner(of: pid), process.lives { found = id }
            }
            // An app sees nobody but itself.
            if let only = connection.scope.onlyApp, found != only { found = nil }
            let app = found.flatMap { manager.core.knownApps[$0] }.map(presentation.app)
            connection.send(Varlink.Reply(FindAppReply(app: app)), to: call.id)
        } catch {
            connection.send(ControlError(cannotLookAt: pid, error).reply, to: call.id)
        }
    }

    /// A number that a process can have.
    private func processID(_ number: Int64) throws(ServiceError) -> ProcessID {
        guard let pid = ProcessID(exactly: number), pid > 0 else { throw .invalidParameter("pid") }
        return pid
    }
}

extension ControlError {
    fileprivate init(cannotLookAt pid: ProcessID, _ error: Processes.Errno) {
        self.init(
            .failed, id: nil, reason: "process \(pid) cannot be looked at: \(error)",
            remedy: "Try again; the daemon may be short of descriptors.")
    }
}
