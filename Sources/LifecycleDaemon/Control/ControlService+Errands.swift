import AppChannel
import ControlAPI
import LifecycleCore
import Varlink

// What apps are handed.
extension ControlService {
    func open(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let open: OpenParameters = try call.parameters()
        guard let url = URLText(open.url) else { throw .invalidParameter("url") }
        let type = open.type ?? (url.fileName.map { MediaTypes.shared.type(ofFile: $0) })
        let event = AppEvent.openURL(url.text, type: type, source: connection.scope.source?.name)
        guard event.fitsALine else { throw .invalidParameter(open.type == nil ? "url" : "type") }
        do throws(ControlError) {
            let id = if let name = open.id { try launchable(name) } else { try handler(for: url, type: type) }
            ask(.hand(id, event), call, connection)
        } catch {
            connection.send(error.reply, to: call.id)
        }
    }

    func continueActivity(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let activity: ContinueActivityParameters = try call.parameters()
        guard !activity.type.isEmpty else { throw .invalidParameter("type") }
        let event = AppEvent.continueActivity(type: activity.type, info: activity.info ?? "")
        guard event.fitsALine else { throw .invalidParameter("info") }
        withApp(activity.id, call, connection) { .hand($0, event) }
    }
}

extension Presentation {
    /// What became of an errand; one of an app that is forgotten by now has no other way to be told.
    func outcome(_ outcome: EventOutcome, _ app: LifecycleCore.App?) -> Varlink.Reply {
        guard let app else { return ControlError(.failed, id: nil, reason: "the app is gone", remedy: "").reply }
        return Varlink.Reply(OutcomeReply(app: self.app(app), outcome: ErrandOutcome(outcome)))
    }
}

extension ErrandOutcome {
    init(_ outcome: EventOutcome) {
        self =
            switch outcome {
            case .handled: .handled
            case .declined: .declined
            case .unanswered: .unanswered
            case .notListening: .notListening
            case .lost: .lost
            case .newData: .newData
            case .noData: .noData
            case .failed: .failed
            }
    }
}
