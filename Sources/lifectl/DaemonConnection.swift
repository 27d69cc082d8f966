import ControlAPI
import LifecycleTypes
import Varlink

/// The daemon that a command calls, the time that it waits for an answer, and the form in which it shows the answer.
struct CallOptions: Equatable {
    var choice = SocketPath.Choice.automatic
    var isJSON = false
    /// The value of `--timeout`; nil if it is not given.
    var explicitTimeout: Duration?
    /// A Boolean value that indicates whether a success prints nothing.
    var isQuiet = false
    /// A Boolean value that indicates whether a command waits until its request is done.
    var waits = true
    /// The socket of the daemon that has answered the command; nil before the first answer.
    var answeredSocket: String?

    var timeout: Duration { explicitTimeout ?? .seconds(60) }
}

extension CallOptions {
    /// Returns the sockets at which the daemon may listen, in the order in which they are tried.
    func sockets(doing action: String) throws(Failure) -> [String] {
        // While that daemon restarts, another one does not know of what the command has begun.
        if let answeredSocket { return [answeredSocket] }
        let sockets = SocketPath.candidates(choice, environment: Environment.value)
        guard !sockets.isEmpty else {
            throw Failure(
                .unavailable, action, "XDG_RUNTIME_DIR is not set, so the user's own daemon has no socket",
                remedy: "name its socket with --socket")
        }
        return sockets
    }

    /// Connects to the daemon at the first of the sockets that answers, and warns about one of another user.
    func connect(toFirstOf sockets: [String], timeout: Duration) throws(ControlClientError) -> ControlClient {
        let trust = SocketPath.trust(choice, environment: Environment.value)
        let client = try ControlClient.connect(toFirstOf: sockets, timeout: timeout, trust: trust)
        if !client.isTrusted { ForeignDaemonWarning.show(path: client.path, user: client.daemonUser) }
        return client
    }
}

extension CallOptions {
    /// Prints a reply: with `--json` as JSON, otherwise as the text that is made of it.
    func show(_ reply: some JSONWritable, as text: (TextPresentation) -> String) throws(Failure) {
        guard !isQuiet else { return }
        try StandardStream.output.write(isJSON ? JSON.line(reply) : text(.standardOutput))
    }

    /// Makes one call, and prints its reply, unless the command does not wait for it.
    ///
    /// - Parameter check: Fails if the reply is no success.
    func show<Parameters, Reply: JSONWritable>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, doing action: String,
        waitingFor app: String? = nil, check: (Reply) throws(Failure) -> Void = { _ in },
        as text: (TextPresentation, Reply) -> String
    ) throws(Failure) {
        let session = try DaemonConnection(self, doing: action)
        guard waits else { return try session.post(method, parameters) }
        let reply = try session.call(method, parameters, waitingFor: app)
        try check(reply)
        try show(reply) { text($0, reply) }
    }

    func show<Reply: JSONWritable>(
        _ method: ControlMethod<NoParameters, Reply>, doing action: String, as text: (TextPresentation, Reply) -> String
    ) throws(Failure) {
        try show(method, NoParameters(), doing: action, as: text)
    }

    /// Makes one call over a connection of its own.
    func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, doing action: String,
        waitingFor app: String? = nil
    ) throws(Failure) -> Reply {
        let session = try DaemonConnection(self, doing: action)
        return try session.call(method, parameters, waitingFor: app)
    }

    func call<Reply>(_ method: ControlMethod<NoParameters, Reply>, doing action: String) throws(Failure) -> Reply {
        try call(method, NoParameters(), doing: action)
    }
}

/// The conversation of one command with the daemon.
final class DaemonConnection {
    private var client: ControlClient
    private let action: String
    private let sockets: [String]
    /// The options for other connections of the command, which lead to the same daemon.
    let options: CallOptions
    /// A Boolean value that indicates whether the subscription has had its first reply.
    private var hasState = false

    /// Connects to the daemon.
    ///
    /// - Parameter action: The start of an error message: `cannot launch org.example.Clock`.
    init(_ options: CallOptions, doing action: String) throws(Failure) {
        var options = options
        let sockets = try options.sockets(doing: action)
        do throws(ControlClientError) {
            client = try options.connect(toFirstOf: sockets, timeout: options.timeout)
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: options.timeout)
        }
        options.answeredSocket = client.path
        (self.action, self.sockets, self.options) = (action, sockets, options)
    }

    /// Performs an operation of the client, and turns its error into a failure of the command.
    private func perform<Result>(
        _ operation: (inout ControlClient) throws(ControlClientError) -> Result
    ) throws(Failure) -> Result {
        do throws(ControlClientError) {
            return try operation(&client)
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: options.timeout)
        }
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameter app: The app that the call may wait for: on a terminal, a line says what it waits for.
    func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, waitingFor app: String? = nil
    ) throws(Failure) -> Reply {
        guard let app, StandardStream.error.isTerminal, !options.isJSON else {
            return try perform { client throws(ControlClientError) in try client.call(method, parameters) }
        }
        let progress = WaitingLine(app: app, options: options)
        var isShown = false
        defer { if isShown { progress.remove() } }
        return try perform { client throws(ControlClientError) in
            try client.call(method, parameters) { seconds, rest in
                isShown = true
                progress.show(seconds: seconds, within: rest)
            }
        }
    }

    func call<Reply>(_ method: ControlMethod<NoParameters, Reply>) throws(Failure) -> Reply {
        try call(method, NoParameters())
    }

    func begin<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(Failure) {
        try perform { client throws(ControlClientError) in try client.begin(method, parameters) }
    }

    func finish<Parameters, Reply>(_ method: ControlMethod<Parameters, Reply>) throws(Failure) -> Reply {
        try perform { client throws(ControlClientError) in try client.finish(method) }
    }

    func post<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(Failure) {
        try perform { client throws(ControlClientError) in try client.post(method, parameters) }
    }

    /// Ends the conversation, and waits until the daemon has ended what lasts as long.
    func end() throws(Failure) {
        try perform { client throws(ControlClientError) in try client.disconnect() }
    }

    func stream<Reply: JSONReadable>(_ method: String, of type: Reply.Type) throws(Failure) -> [Reply] {
        try perform { client throws(ControlClientError) in try client.stream(method, of: type) }
    }

    func monitor() throws(Failure) {
        try perform { client throws(ControlClientError) in try client.monitor() }
    }

    /// Returns the next change; nil after the daemon has ended the subscription.
    ///
    /// - Throws: ``Failure``, also when the output has no reader any more.
    func nextChange(timeout: Duration?) throws(Failure) -> MonitorReply? {
        let start = monotonicTime()
        while true {
            do throws(ControlClientError) {
                let change = try client.nextChange(timeout: .zero)
                hasState = true
                return change
            } catch {
                let rest = timeout.map { $0 - (monotonicTime() - start) }
                guard error == .timedOut, rest.map({ $0 > .zero }) ?? true else {
                    throw failure(ofMonitor: error, timeout: timeout)
                }
                try StandardStream.output.waitForInput(of: client.descriptor, within: rest)
            }
        }
    }

    private func failure(ofMonitor error: ControlClientError, timeout: Duration?) -> Failure {
        guard hasState, error == .timedOut else {
            return Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
        let time = timeout.map { " within \(Text.seconds($0))" } ?? ""
        return Failure(.timedOut, action, "no app changed\(time)", remedy: "allow more time with --timeout")
    }
}

// MARK: - Lines on standard error

/// A line on a terminal that says what a command waits for, and for how long it has.
struct WaitingLine {
    let app: String
    let options: CallOptions

    /// Shows the line.
    ///
    /// - Parameter rest: The time that the command still waits; nil for no limit.
    func show(seconds: Int, within rest: Duration?) {
        let text = Self.text(app, seconds: seconds, explanation: explanation(within: rest))
        // The carriage return cannot remove the first row of a line that takes two.
        let width = (StandardStream.error.columns ?? 80) - 1
        write("\r\(TextPresentation.cut(text[...], to: width))\u{1b}[K")
    }

    func remove() { write("\r\u{1b}[K") }

    static func text(_ app: String, seconds: Int, explanation: APIExplanation?) -> String {
        let present = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: Instants.now)
        let why = explanation.map { explanation in
            explanation.conditions.first.map(present.condition) ?? explanation.details.app.state.rawValue
        }
        return "\(Text.printable(app)) (\(seconds) s): \(why ?? "no answer yet")"
    }

    /// Asks on a second connection, because the first one waits. The daemon that explains an app does so at once.
    private func explanation(within rest: Duration?) -> APIExplanation? {
        var options = options
        options.explicitTimeout = min(rest ?? .seconds(1), .seconds(1))
        return try? options.call(.explain, AppParameters(id: app), doing: "cannot explain \(app)").explanation
    }

    /// Ignores a failure, which does not end the wait.
    private func write(_ text: String) { try? StandardStream.error.write(text) }
}

/// The warning that the daemon at a socket belongs to another user.
enum ForeignDaemonWarning {
    // lifectl has one thread.
    nonisolated(unsafe) private static var isShown = false

    /// Writes the warning to standard error, once for each run of the program.
    static func show(path: String, user: UInt32?) {
        guard unsafe !isShown else { return }
        unsafe isShown = true
        let words = "\(path) belongs to \(Text.user(user)), whose daemon can read what you send"
        try? StandardStream.error.write("lifectl: warning: \(Text.printable(words))\n")
    }
}
