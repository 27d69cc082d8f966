import ControlAPI
import Varlink

/// A connection to the daemon that can be closed and opened again.
final class DaemonLink {
    private final class Connection {
        var client: ControlClient

        init(_ client: consuming ControlClient) { self.client = client }
    }

    /// The time for an answer: the calls of this connection wait for no app.
    private static let timeout = Duration.seconds(10)

    private let sockets: [String]
    private let trust: ServerTrust
    private var connection: Connection?

    init(_ options: CallOptions) {
        sockets = SocketPath.candidates(options.choice, environment: Environment.value)
        trust = SocketPath.trust(options.choice, environment: Environment.value)
    }

    var isConnected: Bool { connection != nil }

    var descriptor: CInt? { connection?.client.descriptor }

    /// The daemon has closed the connection: between calls it sends nothing.
    var hasClosed: Bool { descriptor.map(Descriptor.isReadable) ?? false }

    func connect() throws(ControlClientError) {
        connection = Connection(try ControlClient.connect(toFirstOf: sockets, timeout: Self.timeout, trust: trust))
    }

    func close() { connection = nil }

    private func open() throws(ControlClientError) -> Connection {
        guard let connection else { throw .closed }
        return connection
    }

    func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) -> Reply {
        try open().client.call(method, parameters)
    }

    func begin<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) {
        try open().client.begin(method, parameters)
    }

    func begin<Reply>(_ method: ControlMethod<NoParameters, Reply>) throws(ControlClientError) {
        try open().client.begin(method)
    }

    func monitorAdoptions() throws(ControlClientError) { try open().client.monitorAdoptions() }

    func takeAdoptions() throws(ControlClientError) -> Bool { try open().client.takeAdoptions() }

    func reply<Parameters, Reply>(to method: ControlMethod<Parameters, Reply>) throws(ControlClientError) -> Reply? {
        try open().client.reply(to: method)
    }

    /// Returns the reason for which the daemon counts as gone.
    func reason(_ error: ControlClientError) -> String {
        switch error {
        case .timedOut: "it does not answer"
        case .closed: "it closed the connection"
        default: failure(error).message
        }
    }

    func failure(_ error: ControlClientError) -> Failure {
        Failure(error, doing: "cannot follow", sockets: sockets, timeout: Self.timeout)
    }
}

/// The connection over which the daemon tells that running processes have joined an app.
///
/// Without it, the process of a window that belonged to no app is found when the window has the focus again.
final class AdoptionLink {
    private let link: DaemonLink

    init(_ options: CallOptions) { link = DaemonLink(options) }

    var descriptor: CInt? { link.descriptor }

    func close() { link.close() }

    func open() {
        do throws(ControlClientError) {
            try link.connect()
            try link.monitorAdoptions()
        } catch {
            // The other connection reports that the daemon has gone.
            link.close()
        }
    }

    /// Reads what the daemon has told since the last call.
    ///
    /// - Returns: Whether a process may belong to an app now.
    func hasNews() -> Bool {
        guard let descriptor, Descriptor.isReadable(descriptor) else { return false }
        do throws(ControlClientError) {
            return try link.takeAdoptions()
        } catch {
            link.close()
            return false
        }
    }
}

/// The connection for the calls that bring an app to the foreground, which may take long.
///
/// One call is under way at a time. If it takes long, the next one is made over a new connection, and the daemon cancels the
/// call of the closed one.
final class ForegroundLink {
    /// The time that the next call waits for the present one, in microseconds.
    private static let patience: Int64 = 250_000

    private let link: DaemonLink
    private var begun: (step: Follower.Step, time: Int64)?

    init(_ options: CallOptions) { link = DaemonLink(options) }

    var descriptor: CInt? { link.descriptor }

    /// The next call has to wait.
    var isBusy: Bool { begun != nil && Instants.monotonic < patienceEnd }

    var patienceEnd: Int64 { (begun?.time ?? 0) + Self.patience }

    func close() {
        link.close()
        begun = nil
    }

    func begin(_ step: Follower.Step) throws(ControlClientError) {
        if begun != nil { close() }
        if !link.isConnected { try link.connect() }
        begun = (step, Instants.monotonic)
        switch step {
        case .focus(let app, _): try link.begin(.focus, FocusParameters(id: app))
        case .home: try link.begin(.home)
        case .find, .use, .leave: begun = nil
        }
    }

    /// Reads the reply, if it has come.
    ///
    /// - Returns: The error of the call, unless a later call has caused it.
    func takeOutcome() -> String? {
        guard let descriptor, Descriptor.isReadable(descriptor) else { return nil }
        guard let begun else {
            close()
            return nil
        }
        do throws(ControlClientError) {
            // The reply of Focus can be read as that of Home, which may have no app.
            if try link.reply(to: .home) != nil { self.begun = nil }
            return nil
        } catch {
            guard case .declined(let answer) = error else {
                // The other connection reports that the daemon has gone.
                close()
                return nil
            }
            self.begun = nil
            if [.superseded, .interrupted].contains(answer.kind) { return nil }
            return Failure(answer, doing: "cannot \(begun.step.words)").message
        }
    }
}
