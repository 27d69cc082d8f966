import ControlAPI
import LifecycleCore
import Varlink

/// A call, and the connection of the client that made it.
struct ClientCall {
    let call: Call
    let connection: ControlConnection

    var scope: ClientScope { connection.scope }
    /// The method of `org.lifed`; nil for one of another interface.
    var method: LifedMethod? { call.interface == LifedInterface.name ? LifedMethod(rawValue: call.methodName) : nil }
    /// The id among the parameters, before their type is known.
    var id: AppID? { call.parameters["id"]?.string.flatMap { AppID($0) } }
    func answer(_ reply: VarlinkReply) { connection.send(reply, to: call.id) }
    func answer(_ replies: [VarlinkReply]) { connection.send(replies, to: call.id) }

    func refuse(_ kind: ControlError.Kind, _ reason: String, _ remedy: String) {
        answer(ControlError(kind, id: nil, reason: reason, remedy: remedy).reply)
    }
}

/// The form of the reply to a request of the core.
enum ReplyForm {
    case app
    /// As `app`; an error says that the app has ended.
    case restartedApp
    case optionalApp
    case outcome
    case nothing
}

extension Request {
    fileprivate var replyForm: ReplyForm {
        switch self {
        case .beginInterruption, .endInterruption, .machine: .nothing
        case .wake: .outcome
        case .home: .optionalApp
        case .restart: .restartedApp
        case .launch, .focus, .background, .suspend, .resume, .terminate, .kill, .deliver, .release, .memoryPressure,
            .openScene, .focusScene, .backgroundScene, .closeScene:
            .app
        }
    }
}

/// The calls that wait for a reply of the core. The reply to a client that has gone is dropped.
struct OpenRequests {
    struct Pending {
        let connection: ControlConnection
        let call: Call.ID
        let form: ReplyForm
    }

    private var pending: [RequestID: Pending] = [:]

    mutating func add(_ id: RequestID, _ request: Request, for call: ClientCall) {
        pending[id] = Pending(connection: call.connection, call: call.call.id, form: request.replyForm)
    }

    mutating func remove(_ id: RequestID) -> Pending? { pending.removeValue(forKey: id) }

    /// Drops the calls of a client that has gone.
    mutating func removeAll(of connection: ControlConnection) {
        pending = pending.filter { $0.value.connection !== connection }
    }
}
