import ControlAPI
import Varlink

/// The client that waits for a re-execution. The program that takes the place of this one answers it.
struct ReexecutionClient {
    fileprivate let connection: ControlConnection
    fileprivate let call: Call.ID

    /// Leaves the connection to the program that takes the place of this one.
    func leave(to reexecution: inout Reexecution) { reexecution.keep(connection.number, as: Reexecution.Name.client) }
}

extension ControlService {
    func reexecute(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        try withoutParameters(call)
        onReexecute(ReexecutionClient(connection: connection, call: call.id))
    }

    /// Tells the client that the daemon goes on as it is.
    func refuse(_ client: ReexecutionClient, reason: String, remedy: String) {
        client.connection.send(ControlError(.failed, id: nil, reason: reason, remedy: remedy).reply, to: client.call)
    }

    /// A Boolean value that indicates whether clients wait for replies, apart from subscribers and this one.
    func hasPendingReplies(except client: ReexecutionClient?) -> Bool {
        server?.hasPendingReplies(except: client?.connection) ?? false
    }
}
