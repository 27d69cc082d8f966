public import Varlink

/// The parameters of a method that takes none, and the reply of one that returns nothing.
public typealias Nothing = NoParameters

/// A connection to the daemon.
public struct ControlClient: ~Copyable {
    private var client: Client
    private let timeout: Duration?
    /// The path of the socket that answered.
    public let path: String

    /// Connects to a socket. The time is for the connection and for each call; nil waits for as long as it takes.
    public init(path: String, timeout: Duration?) throws(ControlClientError) {
        do throws(ClientError) {
            client = try Client(path: path, timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
        self.path = path
        self.timeout = timeout
    }

    /// Connects to the first of several sockets that answers. When none does, the error is that of the socket that is
    /// there but cannot be used, if there is one.
    public static func connect(
        toFirstOf paths: [String], timeout: Duration?
    ) throws(ControlClientError) -> ControlClient {
        var failure: ControlClientError?
        for path in paths {
            do throws(ControlClientError) {
                return try ControlClient(path: path, timeout: timeout)
            } catch {
                switch failure {
                case nil, .absent: failure = error
                default: break
                }
            }
        }
        throw failure ?? .absent(path: "")
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

    /// Waits for the next change; nil when the daemon ended the subscription in order.
    public mutating func nextChange(timeout: Duration?) throws(ControlClientError) -> MonitorReply? {
        do throws(ClientError) {
            return try client.next(as: MonitorReply.self, timeout: timeout)
        } catch {
            throw ControlClientError(error)
        }
    }
}
