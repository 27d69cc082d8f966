import AppChannel
import LifecycleCore

// Events in the app protocol's words.

extension AppEvent {
    /// What the callback says beside what every callback does.
    var fields: [Field] {
        switch self {
        case .openURL(let url, let type, let source): OpenURLFields(url: url, type: type, source: source).fields
        case .continueActivity(let type, let info): ContinueActivityFields(type: type, info: info).fields
        case .performTask(let kind, let payload): PerformTaskFields(kind: kind, payload: payload).fields
        default: []
        }
    }
}

extension AppAnswer {
    init(_ answer: CallbackAnswer) {
        switch answer {
        case .plain: self = .plain
        case .handled(let isHandled): self = .handled(isHandled)
        case .result(let result): self = .result(LifecycleCore.TaskResult(result))
        }
    }
}

extension LifecycleCore.TaskResult {
    init(_ result: AppChannel.TaskResult) {
        self =
            switch result {
            case .newData: .newData
            case .noData: .noData
            case .failed: .failed
            }
    }
}
