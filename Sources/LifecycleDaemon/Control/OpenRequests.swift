import LifecycleCore
import Varlink

/// Which client waits for which request of the core.
///
/// A client that goes away while it waits leaves its request to the core; the answer then finds nobody.
struct OpenRequests {
    private struct Waiting {
        weak var connection: ControlConnection?
        let call: Call.ID
        let reply: (LifecycleCore.Reply) -> Varlink.Reply
    }

    private var waiting: [RequestID: Waiting] = [:]
    private var last: UInt64 = 0

    /// Takes note of who waits, and how the answer is put for them.
    mutating func open(
        _ call: Call.ID, of connection: ControlConnection, reply: @escaping (LifecycleCore.Reply) -> Varlink.Reply
    ) -> RequestID {
        last += 1
        let id = RequestID(last)
        waiting[id] = Waiting(connection: connection, call: call, reply: reply)
        return id
    }

    /// Answers who waits for the request.
    mutating func close(_ id: RequestID, with reply: LifecycleCore.Reply) {
        guard let waiting = waiting.removeValue(forKey: id) else { return }
        waiting.connection?.send(waiting.reply(reply), to: waiting.call)
    }
}
