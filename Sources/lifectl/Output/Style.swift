import ControlAPI

/// Whether and how words are coloured.
struct Style {
    let isColoured: Bool

    /// Colours only for a terminal that has them, and not where NO_COLOR (no-color.org) asks for none.
    init(isTerminal: Bool, environment: @autoclosure () -> [String: String]) {
        guard isTerminal else {
            isColoured = false
            return
        }
        let environment = environment()
        let terminal = environment["TERM"] ?? ""
        let isUnwanted = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isColoured = !isUnwanted && !terminal.isEmpty && terminal != "dumb"
    }

    static var standardOutput: Style {
        Style(isTerminal: StandardStream.output.isTerminal, environment: Environment.current)
    }

    /// A state's word, or text that stands for it, in the state's colour.
    func state(_ state: State, _ text: String? = nil) -> String {
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

    /// A message as urgent as its level of syslog(3): errors red, warnings yellow.
    func urgent(_ text: String, priority: Int) -> String {
        switch priority {
        case ...3: coloured(text, "31")
        case 4: coloured(text, "33")
        default: text
        }
    }

    /// A verdict as a word of four columns, in its colour.
    func verdict(_ verdict: Finding.Verdict) -> String {
        switch verdict {
        case .ok: coloured("ok  ", "32")
        case .less: coloured("less", "33")
        case .bad: coloured("BAD ", "1;31")
        }
    }

    /// The sign of a mark, in its colour.
    func mark(_ kind: Lanes.Mark.Kind) -> String {
        switch kind {
        case .answered: coloured(Self.sign(kind), "32")
        case .unanswered: coloured(Self.sign(kind), "33")
        case .killed: coloured(Self.sign(kind), "1;31")
        }
    }

    /// What stands for a mark, one column wide in every terminal.
    static func sign(_ kind: Lanes.Mark.Kind) -> String {
        switch kind {
        case .answered: "·"
        case .unanswered: "!"
        case .killed: "x"
        }
    }

    func heading(_ text: String) -> String {
        coloured(text, "1")
    }

    private func coloured(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
