import LifecycleCore
import Varlink

/// The subscribers to all changes, with the number of the last change, and the subscribers to adoptions.
final class Subscriptions {
    /// A subscriber without its ``ClientCall``, whose parameters keep the whole message in memory.
    private struct Subscriber {
        let connection: ControlConnection
        let call: Call.ID

        init(_ call: ClientCall) { (connection, self.call) = (call.connection, call.call.id) }

        var scope: ClientScope { connection.scope }
        func answer(_ reply: VarlinkReply) { connection.send(reply, to: call) }
    }

    private var subscribers: [ObjectIdentifier: Subscriber] = [:]
    private var adoptionSubscribers: [ObjectIdentifier: Subscriber] = [:]
    /// The number of the last change; 0 before the first.
    private(set) var number: Int64 = 0

    func add(_ call: ClientCall, present: VarlinkReply) {
        call.connection.isSubscribed = true
        subscribers[ObjectIdentifier(call.connection)] = Subscriber(call)
        call.answer(present)
    }

    /// Sends a change to the subscribers that may see it. Each form is encoded at most once.
    ///
    /// - Parameters:
    ///   - everything: The reply for a client that may see everything.
    ///   - state: The reply for a client that may see the state alone; nil for a change of something else.
    func publish(
        visibility: (ClientScope) -> Visibility, everything: (_ number: Int64) -> VarlinkReply,
        state: ((_ number: Int64) -> VarlinkReply)?
    ) {
        number += 1
        var whole: VarlinkReply?
        var reduced: VarlinkReply?
        for subscriber in subscribers.values {
            let reply: VarlinkReply?
            switch visibility(subscriber.scope) {
            case .nothing: reply = nil
            case .everything:
                whole = whole ?? everything(number)
                reply = whole
            case .state:
                reduced = reduced ?? state?(number)
                reply = reduced
            }
            if let reply { subscriber.answer(reply) }
        }
    }

    func addToAdoptions(_ call: ClientCall) {
        call.connection.isSubscribed = true
        adoptionSubscribers[ObjectIdentifier(call.connection)] = Subscriber(call)
        call.answer(.continuing(NoParameters()))
    }

    /// Tells the subscribers that processes have joined an app.
    ///
    /// - Parameter isVisible: Returns whether a client may see the app.
    func publishAdoption(isVisible: (ClientScope) -> Bool) {
        for subscriber in adoptionSubscribers.values where isVisible(subscriber.scope) {
            subscriber.answer(.continuing(NoParameters()))
        }
    }

    func remove(_ connection: ControlConnection) {
        subscribers[ObjectIdentifier(connection)] = nil
        adoptionSubscribers[ObjectIdentifier(connection)] = nil
    }
}
