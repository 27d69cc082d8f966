import ControlAPI

/// A connection to the daemon that comes and goes.
final class DaemonLink {
    private final class Connection {
        var client: ControlClient

        init(_ client: consuming ControlClient) { self.client = client }
    }

    /// What takes longer is no answer: nothing that is asked for here waits for an app.
    private static let timeout = Duration.seconds(10)

    private let sockets: [String]
    private let trust: ServerTrust
    private var connection: Connection?

    init(_ options: GlobalOptions) {
        sockets = SocketPath.candidates(options.choice, environment: Environment.value)
        trust = SocketPath.trust(options.choice, environment: Environment.value)
    }

    var isConnected: Bool { connection != nil }

    var descriptor: CInt? { connection?.client.descriptor }

    /// Whether the daemon has gone: it has nothing to say while it is not asked.
    var hasClosed: Bool { descriptor.map(FollowClock.isReadable) ?? false }

    func connect() throws(ControlClientError) {
        connection = Connection(try ControlClient.connect(toFirstOf: sockets, timeout: Self.timeout, trust: trust))
    }

    func close() { connection = nil }

    func call<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) -> Reply {
        guard let connection else { throw .closed }
        return try connection.client.call(method, parameters)
    }

    func begin<Parameters, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters
    ) throws(ControlClientError) {
        guard let connection else { throw .closed }
        try connection.client.begin(method, parameters)
    }

    func begin<Reply>(_ method: ControlMethod<Nothing, Reply>) throws(ControlClientError) {
        guard let connection else { throw .closed }
        try connection.client.begin(method)
    }

    func reply<Parameters, Reply>(
        to method: ControlMethod<Parameters, Reply>
    ) throws(ControlClientError) -> Reply? {
        guard let connection else { throw .closed }
        return try connection.client.reply(to: method)
    }

    /// Why the daemon counts as gone.
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

/// The connection for what takes its time: bringing an app to the front. One wish at a time is on its way, and one that
/// takes long does not hold up the next: the daemon is told of that over a new connection, and gives up the one before.
final class WishLink {
    /// How long the next wish waits for the one before, in microseconds.
    private static let patience: Int64 = 250_000

    private let link: DaemonLink
    private var begun: (step: Follower.Step, time: Int64)?

    init(_ options: GlobalOptions) { link = DaemonLink(options) }

    var descriptor: CInt? { link.descriptor }

    /// Whether the next wish has to wait.
    var isBusy: Bool { begun.map { _ in FollowClock.now < patienceEnd } ?? false }

    /// When the next wish need not wait any longer.
    var patienceEnd: Int64 { (begun?.time ?? 0) + Self.patience }

    func close() {
        link.close()
        begun = nil
    }

    func begin(_ step: Follower.Step) throws(ControlClientError) {
        if begun != nil { close() }
        if !link.isConnected { try link.connect() }
        begun = (step, FollowClock.now)
        switch step {
        case .focus(let app, _): try link.begin(.focus, FocusParameters(id: app))
        case .home: try link.begin(.home)
        case .find, .use, .leave: begun = nil
        }
    }

    /// Looks whether the wish has been fulfilled.
    ///
    /// - Returns: Why it was not, where somebody should hear of that.
    func outcome() -> String? {
        guard let descriptor, FollowClock.isReadable(descriptor) else { return nil }
        guard let begun else {
            close()
            return nil
        }
        do throws(ControlClientError) {
            let method: ControlMethod<Nothing, AppReply> = .home
            // Focus and Home answer alike.
            if try link.reply(to: method) != nil { self.begun = nil }
            return nil
        } catch {
            guard case .declined(let answer) = error else {
                // That the daemon has gone is noticed where it is said.
                close()
                return nil
            }
            self.begun = nil
            // Somebody has wished for something else since.
            if [.superseded, .interrupted].contains(answer.kind) { return nil }
            return "\(begun.step.words): \(Failure(answer).message)"
        }
    }
}
