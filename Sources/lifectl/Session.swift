import ControlAPI

/// Which daemon is asked, how long it has, and in which form its answer is shown.
struct CallOptions: Equatable {
    var choice = SocketPath.Choice.automatic
    var isJSON = false
    /// The time that was asked for, if any was.
    var explicitTimeout: Duration?

    var timeout: Duration { explicitTimeout ?? .seconds(60) }

    /// Prints a reply: as JSON where that was asked for, and else as the text that is made of it.
    func show<Reply: Encodable>(_ reply: Reply, as text: (Presentation) -> String) throws {
        try StandardStream.output.write(isJSON ? JSON.line(reply) : text(.standardOutput))
    }
}

/// One command's conversation with the daemon.
struct Session: ~Copyable {
    private var client: ControlClient
    private let action: String
    private let sockets: [String]
    private let timeout: Duration?
    private let options: CallOptions

    init(_ options: GlobalOptions, doing action: String) throws(Failure) {
        try self.init(options.call, doing: action)
    }

    /// Connects. The action names in an error message what could not be done.
    init(_ options: CallOptions, doing action: String) throws(Failure) {
        let sockets = SocketPath.candidates(options.choice, environment: Environment.value)
        guard !sockets.isEmpty else {
            throw Failure(
                status: .unavailable,
                message: "\(action): XDG_RUNTIME_DIR is not set, so there is no place for the user's own daemon; "
                    + "name its socket with --socket")
        }
        do throws(ControlClientError) {
            let trust = SocketPath.trust(options.choice, environment: Environment.value)
            client = try ControlClient.connect(toFirstOf: sockets, timeout: options.timeout, trust: trust)
            if !client.isTrusted { ForeignDaemonWarning.show(path: client.path, user: client.daemonUser) }
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: options.timeout)
        }
        self.action = action
        self.sockets = sockets
        timeout = options.timeout
        self.options = options
    }

    /// Calls a method that may take long because of an app; a person who waits for it in a terminal is told why.
    mutating func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, waitingFor app: String
    ) throws(Failure) -> Reply {
        guard StandardStream.error.isTerminal, !options.isJSON else { return try call(method, parameters) }
        let progress = WaitingLine(app: app, options: options)
        var isShown = false
        defer { if isShown { progress.remove() } }
        do throws(ControlClientError) {
            return try client.call(method, parameters) { seconds in
                isShown = true
                progress.show(seconds: seconds)
            }
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
    }

    mutating func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(Failure) -> Reply {
        do throws(ControlClientError) {
            return try client.call(method, parameters)
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
    }

    mutating func call<Reply>(_ method: ControlMethod<Nothing, Reply>) throws(Failure) -> Reply {
        do throws(ControlClientError) {
            return try client.call(method)
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
    }

    mutating func stream<Reply: Decodable>(_ method: String, of type: Reply.Type) throws(Failure) -> [Reply] {
        do throws(ControlClientError) {
            return try client.stream(method, of: type)
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
    }

    mutating func monitor() throws(Failure) {
        do throws(ControlClientError) {
            try client.monitor()
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
    }

    /// Waits for the next change; nil once the daemon has ended the subscription.
    mutating func nextChange(timeout: Duration?) throws(Failure) -> MonitorReply? {
        do throws(ControlClientError) {
            return try client.nextChange(timeout: timeout)
        } catch {
            throw Failure(error, doing: action, sockets: sockets, timeout: timeout)
        }
    }
}

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

/// The warning that the daemon which was named belongs to another user.
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
