import LifecycleCore
import Varlink

/// Those who want to hear of every change, and the number of the last one.
final class Subscriptions {
    private struct Subscriber {
        let connection: ControlConnection
        let call: Call.ID
    }

    private var subscribers: [ObjectIdentifier: Subscriber] = [:]
    /// The number of the last change; 0 before the first.
    private(set) var number: Int64 = 0

    /// Adds a subscriber and sends it the present state as its first reply.
    func add(_ connection: ControlConnection, call: Call.ID, present: Varlink.Reply) {
        connection.isSubscribed = true
        subscribers[ObjectIdentifier(connection)] = Subscriber(connection: connection, call: call)
        connection.send(present, to: call)
    }

    /// Sends a change to the subscribers, as far as they may see it. Each form is encoded once, and only if it is needed.
    ///
    /// - Parameters:
    ///   - sees: The part that a client may see.
    ///   - everything: The reply for a client that may see everything.
    ///   - state: The reply for a client that may see the state alone; nil if the change is none of the state.
    func publish(
        sees: (ClientScope) -> Visibility, everything: (_ number: Int64) -> Varlink.Reply,
        state: ((_ number: Int64) -> Varlink.Reply)?
    ) {
        number += 1
        var whole: Varlink.Reply?
        var reduced: Varlink.Reply?
        for subscriber in subscribers.values {
            let reply: Varlink.Reply?
            switch sees(subscriber.connection.scope) {
            case .nothing: reply = nil
            case .everything:
                whole = whole ?? everything(number)
                reply = whole
            case .state:
                reduced = reduced ?? state?(number)
                reply = reduced
            }
            if let reply { subscriber.connection.send(reply, to: subscriber.call) }
        }
    }

    func remove(_ connection: ControlConnection) {
        subscribers[ObjectIdentifier(connection)] = nil
    }
}
