import Glibc
public import Varlink

/// The parameters of a method that takes none, and the reply of one that returns nothing.
public typealias Nothing = NoParameters

/// The users whose daemon a client talks to.
public enum ServerTrust: Sendable {
    /// Root and the caller itself: other users could read what the client sends, and answer what they want.
    case rootAndCaller
    /// Any user.
    case anybody
}

/// A connection to the daemon.
public struct ControlClient: ~Copyable {
    private var client: Client
    private let timeout: Duration?
    /// The path of the socket that answered.
    public let path: String

    /// The user that the daemon runs as; nil if the kernel does not tell.
    public var daemonUser: UInt32? { client.serverUser }

    /// Whether the daemon runs as root or as the caller.
    public var isTrusted: Bool { Self.isTrusted(daemonUser) }

    /// Connects to a socket. The time is for the connection and for each call; nil waits for as long as it takes.
    ///
    /// - Parameter trust: Whose daemon may answer. Nothing is sent to another one.
    public init(
        path: String, timeout: Duration?, trust: ServerTrust = .rootAndCaller
    ) throws(ControlClientError) {
        client = try Self.open(path, timeout, trust)
        self.path = path
        self.timeout = timeout
    }

    private static func open(
        _ path: String, _ timeout: Duration?, _ trust: ServerTrust
    ) throws(ControlClientError) -> Client {
        let client: Client
        do throws(ClientError) {
            client = try Client(path: path, timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
        let user = client.serverUser
        guard trust == .anybody || isTrusted(user) else { throw .untrusted(path: path, user: user) }
        return client
    }

    private static func isTrusted(_ user: UInt32?) -> Bool { user.map { $0 == 0 || $0 == geteuid() } ?? false }

    /// Connects to the first of several sockets that answers. When none does, the error is that of the socket that is
    /// there but cannot be used, if there is one.
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

    /// Readable when a reply may have come, or the daemon has closed the connection. It belongs to the connection.
    public var descriptor: CInt { client.descriptor }

    /// Calls a method without waiting: ``reply(to:)`` looks for its reply.
    public mutating func begin<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) {
        do throws(ClientError) {
            try client.begin(method.name.qualified, parameters, timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
    }

    /// Calls a method that takes no parameters, without waiting.
    public mutating func begin<Reply>(_ method: ControlMethod<Nothing, Reply>) throws(ControlClientError) {
        try begin(method, Nothing())
    }

    /// The reply to the call that was begun; nil as long as it has not come.
    public mutating func reply<Parameters, Reply>(
        to method: ControlMethod<Parameters, Reply>
    ) throws(ControlClientError) -> Reply? {
        do throws(ClientError) {
            guard let reply = try client.next(as: Reply.self, timeout: .zero) else { throw ClientError.closed }
            return reply
        } catch .timedOut {
            return nil
        } catch {
            throw ControlClientError(error)
        }
    }

    /// Calls a method and waits for its reply.
    public mutating func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) -> Reply {
        do throws(ClientError) {
            return try client.call(method.name.qualified, parameters, as: Reply.self, timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
    }

    /// Calls a method, and tells while it waits.
    ///
    /// - Parameter waiting: Called each time that a second has passed without a reply, with how many have.
    public mutating func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, waiting: (Int) -> Void
    ) throws(ControlClientError) -> Reply {
        do throws(ClientError) {
            try client.begin(method.name.qualified, parameters, timeout: timeout)
            var seconds = 0
            while true {
                let rest = timeout.map { $0 - .seconds(seconds) } ?? .seconds(1)
                do throws(ClientError) {
                    guard let reply = try client.next(as: Reply.self, timeout: min(rest, .seconds(1))) else {
                        throw ClientError.closed
                    }
                    return reply
                } catch .timedOut where rest > .seconds(1) || timeout == nil {
                    seconds += 1
                    waiting(seconds)
                }
            }
        } catch {
            throw ControlClientError(error)
        }
    }

    /// Calls a method that takes no parameters.
    public mutating func call<Reply>(
        _ method: ControlMethod<Nothing, Reply>
    ) throws(ControlClientError) -> Reply {
        try call(method, Nothing())
    }

    /// Subscribes to changes; the first reply of ``nextChange(timeout:)`` is the present state.
    public mutating func monitor() throws(ControlClientError) {
        do throws(ClientError) {
            try client.subscribe(MethodName.monitor.qualified, NoParameters(), timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
    }

    /// Calls a method, by its qualified name, that takes nothing and answers with several replies, and waits for them all.
    public mutating func stream<Reply: Decodable>(
        _ method: String, of type: Reply.Type
    ) throws(ControlClientError) -> [Reply] {
        do throws(ClientError) {
            try client.subscribe(method, NoParameters(), timeout: timeout)
            var replies: [Reply] = []
            while let reply = try client.next(as: type, timeout: timeout) { replies.append(reply) }
            return replies
        } catch {
            throw ControlClientError(error)
        }
    }

    /// Waits for the next change; nil when the daemon ended the subscription in order.
    public mutating func nextChange(timeout: Duration?) throws(ControlClientError) -> MonitorReply? {
        do throws(ClientError) {
            return try client.next(as: MonitorReply.self, timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
    }
}

/// Where the control socket is.
public enum SocketPath {
    /// Whose daemon is meant.
    public enum Choice: Equatable, Sendable {
        /// The one that `LIFED_SOCKET` names, or else the user's if it answers, or else the system's.
        case automatic
        /// The user's own.
        case user
        /// The system's.
        case system
        /// The one at a path.
        case path(String)
    }

    /// The variable that names the socket.
    public static let variable = "LIFED_SOCKET"

    /// The system instance's socket.
    public static let system = "/run/lifed/control"

    /// The user instance's socket, or nil where `XDG_RUNTIME_DIR` is not set (to an absolute path, as the XDG Base
    /// Directory Specification demands).
    public static func user(environment: (String) -> String?) -> String? {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return "\(directory)/lifed/control"
    }

    /// Returns the users whose daemon a client talks to: anybody's if the caller has named its socket.
    public static func trust(_ choice: Choice, environment: (String) -> String?) -> ServerTrust {
        switch choice {
        case .path: .anybody
        case .system, .user: .rootAndCaller
        case .automatic: environment(variable).map { $0.isEmpty } ?? true ? .rootAndCaller : .anybody
        }
    }

    /// The sockets to try, in order; empty when the user's own is asked for and there is no place for it.
    public static func candidates(_ choice: Choice, environment: (String) -> String?) -> [String] {
        switch choice {
        case .path(let path): return [path]
        case .system: return [system]
        case .user: return [user(environment: environment)].compactMap(\.self)
        case .automatic:
            if let path = environment(variable), !path.isEmpty { return [path] }
            return [user(environment: environment), system].compactMap(\.self)
        }
    }
}
