import ControlAPI
import LifecycleCore
import Varlink

/// A call, and the connection of the client that made it.
struct ClientCall {
    let call: Call
    let connection: ControlConnection

    var scope: ClientScope { connection.scope }
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
        let id: RequestID
        let connection: ControlConnection
        let call: Call.ID
        let form: ReplyForm
    }

    /// The calls at their positions, which the numbers of the requests contain.
    private var pending: [Pending?] = []
    private var freePositions: [Int] = []
    private var count: UInt64 = 0

    /// The bits of a number for the position: more calls cannot wait, since each connection has one.
    private static let positionBits = 24

    mutating func open(_ request: Request, for call: ClientCall) -> RequestID {
        let position = freePositions.popLast() ?? pending.count
        count += 1
        let id = RequestID(count << Self.positionBits | UInt64(position))
        if position == pending.count { pending.append(nil) }
        pending[position] = Pending(
            id: id, connection: call.connection, call: call.call.id, form: request.replyForm)
        return id
    }

    mutating func remove(_ id: RequestID) -> Pending? {
        let position = Int(id.number & (1 << Self.positionBits - 1))
        guard position < pending.count, pending[position]?.id == id else { return nil }
        freePositions.append(position)
        return pending[position].take()
    }

    /// Drops the calls of a client that has gone.
    mutating func removeAll(of connection: ControlConnection) {
        for position in pending.indices where pending[position]?.connection === connection {
            freePositions.append(position)
            pending[position] = nil
        }
    }
}
