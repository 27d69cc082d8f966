import Glibc
public import Varlink

/// The users whose daemon a client talks to.
public enum ServerTrust: Sendable {
    /// Root and the caller itself: the daemon of another user can read what the client sends, and answer what it wants.
    case rootAndCaller
    /// Any user: the client does not check which user the daemon belongs to.
    case anyUser
}

/// A connection to the daemon.
public struct ControlClient: ~Copyable {
    private var client: VarlinkClient
    private let timeout: Duration?
    /// The path of the socket that answered.
    public let path: String

    /// The user that the daemon runs as; nil if the kernel does not tell.
    public var daemonUser: UInt32? { client.serverUser }

    /// A Boolean value that indicates whether the daemon runs as root or as the caller.
    public var isTrusted: Bool { Self.isTrusted(daemonUser) }

    /// Connects to a socket.
    ///
    /// - Parameters:
    ///   - path: The path of the control socket.
    ///   - timeout: The time for the connection, and for each call; nil for no limit.
    ///   - trust: The users whose daemon may answer. Nothing is sent to the daemon of another user.
    public init(path: String, timeout: Duration?, trust: ServerTrust = .rootAndCaller) throws(ControlClientError) {
        let client = try translatingErrors { () throws(ClientError) in try VarlinkClient(path: path, timeout: timeout) }
        let user = client.serverUser
        guard trust == .anyUser || Self.isTrusted(user) else { throw .untrusted(path: path, user: user) }
        self.client = client
        self.path = path
        self.timeout = timeout
    }

    private static func isTrusted(_ user: UInt32?) -> Bool { user.map { $0 == 0 || $0 == geteuid() } ?? false }

    /// Connects to the first of several sockets that answers.
    ///
    /// - Parameters:
    ///   - paths: The paths of control sockets, in the order in which they are tried.
    ///   - timeout: The time for each connection, and for each call; nil for no limit.
    ///   - trust: The users whose daemon may answer. If another user's daemon answers, the next path is tried.
    /// - Returns: The connection to that socket.
    /// - Throws: ``ControlClientError``: of the first socket that exists, or else of the last one.
    public static func connect(
        toFirstOf paths: [String], timeout: Duration?, trust: ServerTrust = .rootAndCaller
    ) throws(ControlClientError) -> ControlClient {
        var failure: ControlClientError?
        for path in paths {
            do throws(ControlClientError) {
                return try ControlClient(path: path, timeout: timeout, trust: trust)
            } catch {
                switch failure {
                case nil, .absent: failure = error
                default: break
                }
            }
        }
        throw failure ?? .absent(path: "")
    }

    /// The descriptor of the connection, which is readable when a reply may have come, or the daemon has closed it.
    public var descriptor: CInt { client.descriptor }

    /// Calls a method without waiting for its reply, which ``reply(to:)`` returns.
    public mutating func begin<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) {
        try translatingErrors { () throws(ClientError) in
            try client.begin(method.name, parameters, timeout: timeout)
        }
    }

    /// Calls a method without parameters, and does not wait for its reply.
    public mutating func begin<Reply>(_ method: ControlMethod<NoParameters, Reply>) throws(ControlClientError) {
        try begin(method, NoParameters())
    }

    /// Returns the reply to the call that was begun; nil until it has come.
    public mutating func reply<Parameters, Reply>(
        to method: ControlMethod<Parameters, Reply>
    ) throws(ControlClientError) -> Reply? {
        try translatingErrors { () throws(ClientError) in
            do throws(ClientError) {
                return try client.onlyReply(as: Reply.self, timeout: .zero)
            } catch .timedOut {
                return nil
            }
        }
    }

    /// Waits for the reply to the call that was begun.
    public mutating func finish<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>
    ) throws(ControlClientError) -> Reply {
        try translatingErrors { () throws(ClientError) in
            try client.onlyReply(as: Reply.self, timeout: timeout)
        }
    }

    /// Calls a method without a reply: the daemon performs it after the client has gone, too, and reports no error.
    ///
    /// - Parameters:
    ///   - method: The method, whose reply the daemon does not send.
    public mutating func post<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) {
        try translatingErrors { () throws(ClientError) in
            // The daemon identifies a client when it accepts the connection, for which the client must still be there.
            _ = try client.call("org.varlink.service.GetInfo", NoParameters(), as: NoParameters.self, timeout: timeout)
            try client.post(method.name, parameters, timeout: timeout)
        }
    }

    /// Calls a method, and waits for its reply.
    ///
    /// - Returns: The reply, within the time-out of the connection.
    public mutating func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) -> Reply {
        try translatingErrors { () throws(ClientError) in
            try client.call(method.name, parameters, as: Reply.self, timeout: timeout)
        }
    }

    /// Calls a method, and waits for its reply.
    ///
    /// - Parameters:
    ///   - waiting: A function that is called about once a second while there is no reply, with the number of seconds so far and the rest
    ///     of the time; nil for no limit. Its own time counts.
    /// - Returns: The reply, within the time-out of the connection.
    public mutating func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, waiting: (Int, Duration?) -> Void
    ) throws(ControlClientError) -> Reply {
        try translatingErrors { () throws(ClientError) in
            let start = monotonicTime()
            try client.begin(method.name, parameters, timeout: timeout)
            while true {
                let rest = timeout.map { $0 - (monotonicTime() - start) }
                do throws(ClientError) {
                    return try client.onlyReply(as: Reply.self, timeout: min(rest ?? .seconds(1), .seconds(1)))
                } catch .timedOut where rest.map({ $0 > .seconds(1) }) ?? true {
                    let elapsed = monotonicTime() - start
                    waiting(Int(elapsed.components.seconds), timeout.map { $0 - elapsed })
                }
            }
        }
    }

    /// Calls a method without parameters, and waits for its reply.
    public mutating func call<Reply>(_ method: ControlMethod<NoParameters, Reply>) throws(ControlClientError) -> Reply {
        try call(method, NoParameters())
    }

    /// Ends the connection, and waits until the daemon has ended the interruptions and reports that last as long.
    public mutating func disconnect() throws(ControlClientError) {
        try translatingErrors { () throws(ClientError) in try client.disconnect(timeout: timeout) }
    }

    /// Subscribes to changes. The first reply of ``nextChange(timeout:)`` is the present state.
    public mutating func monitor() throws(ControlClientError) {
        try translatingErrors { () throws(ClientError) in
            try client.subscribe(LifedMethod.monitor.qualified, NoParameters(), timeout: timeout)
        }
    }

    /// Subscribes to adoptions; ``takeAdoptions()`` reads the replies.
    public mutating func monitorAdoptions() throws(ControlClientError) {
        try translatingErrors { () throws(ClientError) in
            try client.subscribe(LifedMethod.monitorAdoptions.qualified, NoParameters(), timeout: timeout)
        }
    }

    /// Reads the replies that have come, without waiting.
    ///
    /// - Returns: Whether processes may have joined an app.
    /// - Throws: ``ControlClientError``, and ``ControlClientError/closed`` after the daemon has ended the subscription.
    public mutating func takeAdoptions() throws(ControlClientError) -> Bool {
        var hasJoined = false
        while true {
            do throws(ClientError) {
                guard try client.next(as: NoParameters.self, timeout: .zero) != nil else { throw ClientError.closed }
                hasJoined = true
            } catch .timedOut {
                return hasJoined
            } catch {
                throw ControlClientError(error)
            }
        }
    }

    /// Calls a method without parameters that has several replies, and waits for all of them.
    ///
    /// - Returns: The replies in the order in which they came; the time-out of the connection is for each of them.
    public mutating func stream<Reply: JSONReadable>(
        _ method: String, of type: Reply.Type
    ) throws(ControlClientError) -> [Reply] {
        try translatingErrors { () throws(ClientError) in
            try client.subscribe(method, NoParameters(), timeout: timeout)
            var replies: [Reply] = []
            while let reply = try client.next(as: type, timeout: timeout) { replies.append(reply) }
            return replies
        }
    }

    /// Waits for the next change.
    ///
    /// - Returns: The change; nil after the daemon has ended the subscription.
    public mutating func nextChange(timeout: Duration?) throws(ControlClientError) -> MonitorReply? {
        try translatingErrors { () throws(ClientError) in try client.next(as: MonitorReply.self, timeout: timeout) }
    }
}

private func translatingErrors<Result: ~Copyable>(
    _ operation: () throws(ClientError) -> Result
) throws(ControlClientError) -> Result {
    do throws(ClientError) { return try operation() } catch { throw ControlClientError(error) }
}

extension VarlinkClient {
    /// Returns the reply to a call that was begun.
    fileprivate mutating func onlyReply<Reply: JSONReadable>(
        as type: Reply.Type, timeout: Duration?
    ) throws(ClientError) -> Reply {
        guard let reply = try next(as: type, timeout: timeout) else { throw .closed }
        return reply
    }
}

/// The path of the control socket.
public enum SocketPath {
    /// The choice of a daemon.
    public enum Choice: Equatable, Sendable {
        /// The daemon that `LIFED_SOCKET` names; otherwise the user's daemon if it answers, or the system's.
        case automatic
        /// The daemon of the user.
        case user
        /// The daemon of the system.
        case system
        /// The daemon with the socket at a path.
        case path(String)
    }

    /// The variable that names the socket.
    public static let variable = "LIFED_SOCKET"

    /// The path of the system's socket.
    public static let system = "/run/lifed/control"

    /// Returns the path of the user's socket.
    ///
    /// - Parameter environment: Returns the value of a variable.
    /// - Returns: The path; nil if `XDG_RUNTIME_DIR` is not set to an absolute path (XDG Base Directory Specification).
    public static func user(environment: (String) -> String?) -> String? {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return "\(directory)/lifed/control"
    }

    /// Returns the users whose daemon a client talks to.
    ///
    /// - Parameters:
    ///   - choice: The choice of a daemon.
    ///   - environment: Returns the value of a variable; nil if it is not set.
    /// - Returns: Any user if the caller has named the socket by a path or by `LIFED_SOCKET`; otherwise root and the caller.
    public static func trust(_ choice: Choice, environment: (String) -> String?) -> ServerTrust {
        switch choice {
        case .path: .anyUser
        case .system, .user: .rootAndCaller
        case .automatic: environment(variable).map { $0.isEmpty } ?? true ? .rootAndCaller : .anyUser
        }
    }

    /// Returns the paths to try, in order.
    ///
    /// - Parameters:
    ///   - choice: The choice of a daemon.
    ///   - environment: Returns the value of a variable; nil if it is not set.
    /// - Returns: The paths; none for the user's daemon without `XDG_RUNTIME_DIR`.
    public static func candidates(_ choice: Choice, environment: (String) -> String?) -> [String] {
        switch choice {
        case .path(let path): return [path]
        case .system: return [system]
        case .user: return [user(environment: environment)].compactMap { $0 }
        case .automatic:
            if let path = environment(variable), !path.isEmpty { return [path] }
            return [user(environment: environment), system].compactMap { $0 }
        }
    }
}
