import ControlAPI

/// Whether and how words are coloured.
struct Style {
    let isColoured: Bool

    /// Colours only for a terminal that has them, and not where NO_COLOR (no-color.org) asks for none.
    init(isTerminal: Bool, environment: [String: String]) {
        let terminal = environment["TERM"] ?? ""
        let isUnwanted = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isColoured = isTerminal && !isUnwanted && !terminal.isEmpty && terminal != "dumb"
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

    func heading(_ text: String) -> String {
        coloured(text, "1")
    }

    private func coloured(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
