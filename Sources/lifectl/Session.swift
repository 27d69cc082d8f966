import ControlAPI

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
