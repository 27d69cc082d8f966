import ControlAPI
import Varlink

/// The daemon of all connections of a run: the first daemon that answers.
///
/// While it restarts, the run waits at its socket, and goes to no other daemon.
final class DaemonTarget {
    /// The time for an answer: the calls of these connections wait for no app.
    private static let timeout = Duration.seconds(10)

    private let options: CallOptions
    private let action: String
    private var sockets: [String]

    init(_ options: CallOptions, sockets: [String], doing action: String) {
        (self.options, self.sockets, self.action) = (options, sockets, action)
    }

    func connect() throws(ControlClientError) -> ControlClient {
        let client = try options.connect(toFirstOf: sockets, timeout: Self.timeout)
        sockets = [client.path]
        return client
    }

    func failure(_ error: ControlClientError) -> Failure {
        Failure(error, doing: action, sockets: sockets, timeout: Self.timeout)
    }
}

/// A connection to the daemon that can be closed and opened again.
final class DaemonLink {
    final class Connection {
        var client: ControlClient

        init(_ client: consuming ControlClient) { self.client = client }
    }

    private let target: DaemonTarget
    private var present: Connection?

    init(_ target: DaemonTarget) { self.target = target }

    var isConnected: Bool { present != nil }

    var descriptor: CInt? { present?.client.descriptor }

    /// The daemon has closed the connection: between calls it sends nothing.
    var hasClosed: Bool { descriptor.map(DescriptorIO.isReadable) ?? false }

    func connect() throws(ControlClientError) {
        present = Connection(try target.connect())
    }

    func close() { present = nil }

    /// The present connection.
    ///
    /// - Throws: ``ControlClientError/closed`` if there is none.
    var connection: Connection {
        get throws(ControlClientError) {
            guard let present else { throw .closed }
            return present
        }
    }

    /// Returns the reason for which the daemon counts as gone.
    func reason(_ error: ControlClientError) -> String {
        switch error {
        case .timedOut: "it does not answer"
        case .closed: "it closed the connection"
        case .declined, .absent, .notPermitted, .untrusted, .unreachable, .callTooLong, .parameterNotTaken,
            .notUnderstood,
            .system:
            failure(error).message
        }
    }

    func failure(_ error: ControlClientError) -> Failure { target.failure(error) }
}

/// The connection over which the daemon tells that running processes have joined an app.
///
/// Without it, the process of a window that belonged to no app is found when the window has the focus again.
final class AdoptionLink {
    private let link: DaemonLink

    init(_ target: DaemonTarget) { link = DaemonLink(target) }

    var descriptor: CInt? { link.descriptor }

    func close() { link.close() }

    func open() {
        do throws(ControlClientError) {
            try link.connect()
            try link.connection.client.monitorAdoptions()
        } catch {
            // The other connection reports that the daemon has gone.
            link.close()
        }
    }

    /// Reads what the daemon has told since the last call.
    ///
    /// - Returns: Whether a process may belong to an app now.
    func hasNews() -> Bool {
        guard let descriptor, DescriptorIO.isReadable(descriptor) else { return false }
        do throws(ControlClientError) {
            return try link.connection.client.takeAdoptions()
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

    init(_ target: DaemonTarget) { link = DaemonLink(target) }

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
        case .focus(let app, _): try link.connection.client.begin(.focus, FocusParameters(id: app))
        case .home: try link.connection.client.begin(.home)
        case .find, .use, .leave: begun = nil
        }
    }

    /// Reads the reply, if it has come.
    ///
    /// - Returns: The error of the call, unless a later call has caused it.
    func takeOutcome() -> String? {
        guard let descriptor, DescriptorIO.isReadable(descriptor) else { return nil }
        guard let begun else {
            close()
            return nil
        }
        do throws(ControlClientError) {
            // The reply of Focus can be read as that of Home, which may have no app.
            if try link.connection.client.reply(to: .home) != nil { self.begun = nil }
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
