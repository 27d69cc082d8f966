import ControlAPI
import Glibc
import Systemd

/// The connections to the daemon, which wake the loop: for short calls, for the calls that bring an app to the foreground, which
/// may take long, and for news of adoptions.
///
/// The daemon that answers first is that of the whole run: while it restarts, the agent waits at its socket.
@MainActor final class DaemonLink {
    /// A connection that wakes the loop.
    @MainActor final class Connection {
        fileprivate var client: ControlClient
        private let wake: IOSource

        fileprivate init(_ client: consuming ControlClient, _ loop: EventLoop) throws(ControlClientError) {
            do throws(SystemdError) {
                wake = try loop.watch(descriptor: client.descriptor, events: .readable) { _ in }
            } catch {
                throw .system(call: error.operation, errno: error.errno)
            }
            self.client = client
        }

        isolated deinit { wake.cancel() }

        /// There is something to read, or the daemon has closed the connection.
        fileprivate var isReadable: Bool {
            var entry = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&entry, 1, 0) > 0
        }
    }

    /// The time for an answer: no short call waits for an app.
    private static let timeout = Duration.seconds(10)

    /// The time that the next call for the foreground waits for the present one, in microseconds.
    private static let patience: Int64 = 250_000

    private let loop: EventLoop
    private let choice: SocketPath.Choice
    private(set) var sockets: [String]
    private var calls: Connection?
    private var adoptions: Connection?
    private var foreground: Connection?
    /// The call for the foreground that is under way.
    private var begun: (step: Follower.Step, time: Int64)?

    init(_ choice: SocketPath.Choice, sockets: [String], loop: EventLoop) {
        (self.choice, self.sockets, self.loop) = (choice, sockets, loop)
    }

    var isConnected: Bool { calls != nil }

    /// Connects to the daemon.
    ///
    /// - Returns: Whether it belongs to root or to the caller.
    func connect() throws(ControlClientError) -> Bool {
        let connection = try open()
        calls = connection
        // Without it, the process of a window that belonged to no app is looked up when the window has the focus again.
        adoptions = try? open()
        do throws(ControlClientError) { try adoptions?.client.monitorAdoptions() } catch { adoptions = nil }
        return connection.client.isTrusted
    }

    func close() { (calls, adoptions, foreground, begun) = (nil, nil, nil, nil) }

    private func open() throws(ControlClientError) -> Connection {
        let trust = SocketPath.trust(choice, environment: variable)
        let client = try ControlClient.connect(toFirstOf: sockets, timeout: Self.timeout, trust: trust)
        sockets = [client.path]
        return try Connection(client, loop)
    }

    /// The daemon has closed the connection: between calls it sends nothing.
    var hasClosed: Bool { calls?.isReadable ?? false }

    /// Makes a short call.
    func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) -> Reply {
        guard let calls else { throw .closed }
        return try calls.client.call(method, parameters)
    }

    /// Reads the news of adoptions that have come.
    ///
    /// - Returns: Whether a process may belong to an app now.
    func hasAdoptions() -> Bool {
        guard let adoptions, adoptions.isReadable else { return false }
        do throws(ControlClientError) {
            return try adoptions.client.takeAdoptions()
        } catch {
            self.adoptions = nil
            return false
        }
    }

    // MARK: The foreground

    /// The instant until which the next call for the foreground has to wait; nil if it has not.
    func foregroundDeadline(at now: Int64) -> Int64? {
        begun.map { $0.time + Self.patience }.flatMap { $0 > now ? $0 : nil }
    }

    /// Begins the call of a step. If the present one takes long, this closes its connection, and the daemon cancels it.
    func begin(_ step: Follower.Step, at now: Int64) throws(ControlClientError) {
        if begun != nil { foreground = nil }
        let connection = if let foreground { foreground } else { try open() }
        foreground = connection
        begun = (step, now)
        switch step {
        case .focus(let app, _): try connection.client.begin(.focus, FocusParameters(id: app))
        case .home: try connection.client.begin(.home)
        case .find, .use, .leave: begun = nil
        }
    }

    /// Reads the reply of the call for the foreground, if it has come.
    ///
    /// - Returns: The step and its error, unless a later call has caused that.
    func takeOutcome() -> (step: Follower.Step, error: ControlError)? {
        guard let foreground, foreground.isReadable else { return nil }
        do throws(ControlClientError) {
            guard begun != nil else { throw .closed }
            // The reply of Focus can be read as that of Home, which may have no app.
            if try foreground.client.reply(to: .home) != nil { begun = nil }
        } catch {
            let step = begun?.step
            begun = nil
            // The other connection reports that the daemon has gone.
            guard case .declined(let answer) = error, let step else {
                self.foreground = nil
                return nil
            }
            if ![.superseded, .interrupted].contains(answer.kind) { return (step, answer) }
        }
        return nil
    }
}
