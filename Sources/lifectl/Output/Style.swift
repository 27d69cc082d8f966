import ControlAPI
import LifecycleTypes

/// The colours of words.
struct Style {
    let isColoured: Bool

    /// Colours only for a terminal that has them, and not if NO_COLOR (no-color.org) is set.
    init(isTerminal: Bool, environment: @autoclosure () -> [String: String]) {
        guard isTerminal else {
            isColoured = false
            return
        }
        let environment = environment()
        let terminal = environment["TERM", default: ""]
        isColoured = environment["NO_COLOR", default: ""].isEmpty && !terminal.isEmpty && terminal != "dumb"
    }

    static var standardOutput: Style {
        Style(isTerminal: StandardStream.output.isTerminal, environment: Environment.current)
    }

    /// Returns the text, or the name of the state, in the colour of the state.
    func state(_ state: AppState, _ text: String? = nil) -> String {
        let code: String =
            switch state {
            case .active: "1;32"
            case .inactive: "33"
            case .background: "36"
            case .suspended: "34"
            case .terminating: "31"
            case .notRunning: "2"
            }
        return coloured(text ?? state.rawValue, code)
    }

    /// Returns the text, or the name of the state, in the colour of the app's state that is most like it.
    func state(_ state: SceneState, _ text: String? = nil) -> String {
        let like: AppState =
            switch state {
            case .foregroundActive: .active
            case .foregroundInactive: .inactive
            case .background: .background
            case .suspended: .suspended
            case .unattached: .notRunning
            }
        return self.state(like, text ?? state.rawValue)
    }

    /// Returns a message in the colour of its level (syslog(3)): errors red, warnings yellow.
    func urgent(_ text: String, priority: Int64) -> String {
        switch priority {
        case ...3: coloured(text, "31")
        case 4: coloured(text, "33")
        default: text
        }
    }

    func verdict(_ verdict: Verdict) -> String {
        switch verdict {
        case .ok: coloured("ok      ", "32")
        case .degraded: coloured("degraded", "33")
        case .failed: coloured("failed  ", "1;31")
        }
    }

    /// Returns the sign of a mark, one column wide in every terminal.
    func mark(_ kind: MarkKind) -> String {
        switch kind {
        case .answered: coloured("·", "32")
        case .unanswered: coloured("!", "33")
        case .killed: coloured("x", "1;31")
        }
    }

    func heading(_ text: String) -> String { coloured(text, "1") }

    private func coloured(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
