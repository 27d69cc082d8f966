import LifecycleCore
import Varlink

/// Those who want to hear of every change, and the number of the last one.
final class Subscriptions {
    private struct Subscriber {
        let connection: ControlConnection
        let call: Call.ID
        let only: AppID?
    }

    private var subscribers: [ObjectIdentifier: Subscriber] = [:]
    /// The number of the last change; 0 before the first.
    private(set) var number: Int64 = 0

    /// Adds a subscriber and sends it the present state as its first reply.
    ///
    /// - Parameter only: The one app that it hears of; nil for all.
    func add(_ connection: ControlConnection, call: Call.ID, only: AppID?, present: Varlink.Reply) {
        connection.isSubscribed = true
        subscribers[ObjectIdentifier(connection)] = Subscriber(connection: connection, call: call, only: only)
        connection.send(present, to: call)
    }

    /// Sends a change to everybody who may hear of it; it is encoded once, and only if there is anybody.
    func publish(about app: AppID, _ reply: (_ number: Int64) -> Varlink.Reply) {
        number += 1
        let listeners = subscribers.values.filter { $0.only == nil || $0.only == app }
        guard !listeners.isEmpty else { return }
        let encoded = reply(number)
        for listener in listeners { listener.connection.send(encoded, to: listener.call) }
    }

    func remove(_ connection: ControlConnection) {
        subscribers[ObjectIdentifier(connection)] = nil
    }
}
