import LifecycleCore
import Processes
import Systemd

// What scenes do, in words and fields.
extension LifecycleLog {
    func write(_ step: SceneTransition, pid: ProcessID?) {
        var fields = sceneFields(step.app, step.scene, pid)
        fields += [
            ("LIFED_FROM", step.from.rawValue), ("LIFED_TO", step.to.rawValue), ("LIFED_REASON", step.reason.rawValue),
        ]
        if let time = step.answerTime { fields.append(("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))) }
        log.write(
            LogEntry(
                id: .sceneTransition,
                message: "\(step.app)/\(step.scene): \(step.from.rawValue) → \(step.to.rawValue) (\(step.reason))",
                fields: fields))
    }

    func sceneEntry(_ decision: Decision, pid: ProcessID?) -> LogEntry {
        switch decision {
        case .scenesReclaimed(let app, let scenes):
            let names = scenes.map(\.name).joined(separator: ", ")
            return LogEntry(
                id: .scenesReclaimed, priority: .notice,
                message: "\(app): these scenes are disconnected because memory is short: \(names)",
                fields: appFields(app, pid) + [("LIFED_SCENES", names)])
        case .sceneRefused(let app, let refusal):
            let reason = refusal.words
            return LogEntry(
                id: .sceneRefused, priority: .warning, message: "\(app) asked for a scene in vain: \(reason)",
                fields: appFields(app, pid) + [("LIFED_REASON", reason)])
        default: preconditionFailure("\(decision) is not about scenes")
        }
    }

    private func sceneFields(_ app: AppID, _ scene: SceneID, _ pid: ProcessID?) -> [(name: String, value: String)] {
        appFields(app, pid) + [("LIFED_SCENE", scene.name)]
    }
}

extension Refusal {
    fileprivate nonisolated var words: String {
        switch self {
        case .noSuchScene(_, let scene): "it has no scene \(scene)"
        case .noScenes: "its manifest does not say scenes = true"
        case .tooManyScenes(_, let limit): "it has \(limit) scenes already"
        default: "\(self)"
        }
    }
}
