import ControlAPI

/// One line on a terminal that says what a command waits for, and for how long it has; it goes when the wait is over.
struct WaitingLine {
    let app: String
    let options: CallOptions

    /// Says what the app is doing, as the daemon explains it.
    func show(seconds: Int) {
        let text = Self.text(app, seconds: seconds, explanation: explanation())
        // A line that goes on in the next one would leave its beginning behind.
        let width = (StandardStream.error.columns ?? 80) - 1
        write("\r\(Presentation.cut(text[...], to: width))\u{1b}[K")
    }

    func remove() { write("\r\u{1b}[K") }

    static func text(_ app: String, seconds: Int, explanation: Explanation?) -> String {
        let present = Presentation(style: Style(isTerminal: false, environment: [:]), now: Instants.now)
        let why = explanation.map { explanation in
            explanation.obstacles.first.map(present.obstacle) ?? explanation.details.app.state.rawValue
        }
        return "\(Text.printable(app)) (\(seconds) s): \(why ?? "no answer yet")"
    }

    /// Asked on a connection of its own, for the other one waits.
    private func explanation() -> Explanation? {
        do throws(Failure) {
            var session = try Session(options, doing: "cannot explain \(app)")
            return try session.call(.explain, AppParameters(id: app)).explanation
        } catch {
            return nil
        }
    }

    /// That nobody sees it is no reason to stop waiting.
    private func write(_ text: String) { try? StandardStream.error.write(text) }
}
