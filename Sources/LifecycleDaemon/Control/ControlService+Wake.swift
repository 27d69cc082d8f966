import ControlAPI
import LifecycleCore
import Varlink

extension ControlService {
    /// Wakes an app for a task, and answers with what became of it.
    func wake(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let wake: WakeParameters = try call.parameters()
        guard wake.kind.isWorkKind else { throw .invalidParameter("kind") }
        let payload = wake.payload ?? ""
        guard AppEvent.performTask(kind: wake.kind, payload: payload).fitsALine else {
            throw .invalidParameter("payload")
        }
        let presentation = presentation
        let app: AppID
        do throws(ControlError) {
            app = try launchable(wake.id)
        } catch {
            return connection.send(error.reply, to: call.id)
        }
        let request = Request.wake(app, kind: wake.kind, payload: payload)
        if let objection = objection(to: request, by: connection.scope) {
            return connection.send(objection.reply, to: call.id)
        }
        let id = requests.open(call.id, of: connection) { reply in
            switch reply {
            case .ended(let outcome, let app): presentation.outcome(outcome, app)
            // It cannot be told what it was woken for.
            case .done(let app): presentation.outcome(.notListening, app)
            case .scene(_, let app): presentation.outcome(.notListening, app)
            case .refused(let refusal): ControlError(refusal).reply
            case .reclaimed: presentation.outcome(.lost, nil)
            }
        }
        manager.request(id, request)
    }
}

extension String {
    /// Whether it is a word of a-z, 0-9 and -, as the kinds of work in a manifest are.
    fileprivate var isWorkKind: Bool {
        (1...64).contains(utf8.count)
            && utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}
