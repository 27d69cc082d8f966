import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes
import Systemd
import TestSupport
import Testing
import Varlink

@testable import LifecycleDaemon

@Suite struct ControlServerTests {
    /// Answers each call at once, but those that are held, and notes the calls.
    private final class Answerer {
        private(set) var methods: [String] = []
        var holds = false
        private(set) var held: [ClientCall] = []
        /// The owners of the processes of the first clients; those of later ones belong to no app.
        var owners: [ProcessOwner] = []
        var onEvent: () -> Void = {}

        /// Dispatches the events that are there, and answers the calls after each.
        func dispatch(_ events: Events, _ server: ControlServer) throws {
            try events.loop.dispatchReady {
                events.handle(by: server.handle)
                while let call = server.takeCall() {
                    methods.append(call.call.methodName)
                    if holds { held.append(call) } else { call.answer(VarlinkReply(NoParameters())) }
                }
                _ = server.takeClosedConnections()
                onEvent()
            }
        }
    }

    private static let callCount = 10_000

    private func makeServer(in root: String, _ events: Events, _ answerer: Answerer) throws -> ControlServer {
        let service = Service(
            vendor: "lifed", product: "lifed", version: "1", url: "", interfaces: [LifedInterface.interface])
        let overrun = ControlError(.subscriptionOverrun, id: nil, reason: "", remedy: "").reply
        return try ControlServer(
            events: events, socket: try ControlSocket.open(in: root), log: RecordingJournal(),
            access: AccessPolicy(isSystem: false), service: service, overrun: overrun
        ) { _ in
            answerer.owners.popLast() ?? .noApp
        } hasRightsOfUser: { _ in
            false
        }
    }

    /// Sends the calls of a client that does not wait for replies, and reads the replies to all of them.
    private func pipeline(
        _ client: ControlClient, _ answerer: Answerer, _ events: Events, _ server: ControlServer,
        while isGoingOn: () -> Bool
    ) throws {
        var turns = 0
        while isGoingOn() {
            turns += 1
            try #require(turns < 100 * Self.callCount, "the server answers no more")
            client.sendMore()
            try answerer.dispatch(events, server)
            client.receive()
        }
    }

    @Test func clientIsAnsweredWhileAnotherHasThousandsOfCalls() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            let crowd = try ControlClient(at: root, "List", times: Self.callCount)
            crowd.sendMore()
            let modest = try ControlClient(at: root, "GetStatus")
            modest.sendMore()
            try pipeline(crowd, answerer, events, server) { crowd.replyCount < Self.callCount }
            modest.receive()
            #expect(modest.replyCount == 1)
            let before = try #require(answerer.methods.firstIndex(of: "GetStatus"))
            #expect(before <= 3, "\(before) calls of the other client were handled before")
            #expect(answerer.methods.count == Self.callCount + 1)
        }
    }

    @Test func callsBehindOneThatHasWaitedAreHandledInTurns() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            answerer.holds = true
            let client = try ControlClient(at: root, "List", times: Self.callCount)
            client.sendMore()
            try answerer.dispatch(events, server)
            client.sendMore()
            try answerer.dispatch(events, server)
            answerer.holds = false
            try #require(answerer.held.count == 1)
            answerer.held[0].answer(VarlinkReply(NoParameters()))
            #expect(answerer.methods.count <= 2)
            try pipeline(client, answerer, events, server) { client.replyCount < Self.callCount }
            #expect(answerer.methods.count == Self.callCount)
        }
    }

    /// The replies of the service itself fill the queue of a client, too.
    @Test func callBehindALongDescriptionIsAnswered() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            server.limits = ConnectionLimits(queuedOutput: 4096)
            let client = try ControlClient(
                at: root, "org.varlink.service.GetInterfaceDescription", #"{"interface":"org.lifed"}"#)
            client.add("org.varlink.service.GetInfo", "{}")
            client.add("List", "{}")
            client.sendMore()
            for _ in 0..<10 { try answerer.dispatch(events, server) }
            client.receive()
            #expect(client.replyCount == 3)
        }
    }

    /// No event follows a write that was complete.
    @Test func callsAreHandledIfTheClientMakesRoomBetweenTwoWrites() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            let client = try ControlClient(
                at: root, "org.varlink.service.GetInterfaceDescription", #"{"interface":"org.lifed"}"#, times: 20)
            client.sendMore()
            // The socket is full.
            answerer.onEvent = { client.receive() }
            for _ in 0..<20 {
                try answerer.dispatch(events, server)
                client.receive()
            }
            #expect(client.replyCount == 20)
        }
    }

    @Test func callsThatTheServiceAnswersTakeTurns() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            server.limits = ConnectionLimits(queuedOutput: 4096)
            let crowd = try ControlClient(at: root, "org.varlink.service.GetInfo", times: 1000)
            crowd.sendMore()
            try answerer.dispatch(events, server)
            crowd.receive()
            #expect((1..<500).contains(crowd.replyCount))
            try pipeline(crowd, answerer, events, server) { crowd.replyCount < 1000 }
        }
    }

    @Test func clientIsAnsweredBetweenTheExplanationsOfAnother() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            let crowd = try (0..<3).map { _ in try ControlClient(at: root, "Explain", #"{"id":"a"}"#, times: 64) }
            for client in crowd { client.sendMore() }
            let modest = try ControlClient(at: root, "GetStatus")
            modest.sendMore()
            try answerer.dispatch(events, server)
            for client in crowd + [modest] { client.receive() }
            #expect(crowd.map(\.replyCount) == [64, 64, 64] && modest.replyCount == 1)
            let before = try #require(answerer.methods.firstIndex(of: "GetStatus"))
            #expect(before <= 3, "\(before) explanations were made before")
        }
    }

    @Test func callersTakeTurnsHoweverManyConnectionsOneHas() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            answerer.owners = Array(repeating: .app(AppID("a")), count: 20)
            let crowd = try (0..<20).map { _ in try ControlClient(at: root, "Explain", #"{"id":"a"}"#, times: 8) }
            for client in crowd { client.sendMore() }
            let modest = try ControlClient(at: root, "Describe", #"{"id":"a"}"#, times: 8)
            modest.sendMore()
            try answerer.dispatch(events, server)
            let places = answerer.methods.indices.filter { answerer.methods[$0] == "Describe" }
            #expect(places.count == 8 && answerer.methods.count == 168)
            #expect(places.allSatisfy { $0 <= 2 * 8 + 4 }, "\(places)")
        }
    }

    @Test func callsThatWaitForTheirTurnKeepNoClientOut() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            server.clientLimit = 8
            answerer.holds = true
            let crowd = try (0..<8).map { _ in try ControlClient(at: root, "Explain", #"{"id":"a"}"#) }
            for client in crowd { client.sendMore() }
            var late: ControlClient?
            answerer.onEvent = {
                guard late == nil else { return }
                late = try? ControlClient(at: root, "GetStatus")
                late?.sendMore()
            }
            try answerer.dispatch(events, server)
            #expect(answerer.methods.contains("GetStatus"))
        }
    }

    @Test func callThatWaitsForItsTurnEndsWithItsConnection() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            let clients = try (0..<20).map { _ in try ControlClient(at: root, "Explain", #"{"id":"a"}"#) }
            for client in clients { client.sendMore() }
            for client in clients.dropFirst() { client.close() }
            try answerer.dispatch(events, server)
            clients[0].receive()
            #expect(clients[0].replyCount == 1 && server.clientCount == 1)
        }
    }

    @Test func callsOfClientThatHasGoneAreHandled() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, answerer) = (try Events(), Answerer())
            let server = try makeServer(in: root, events, answerer)
            defer { server.close() }
            // A reply could not be sent, and would end the connection.
            let client = try ControlClient(at: root, "Home", flags: #","oneway":true"#, times: 100)
            client.sendMore()
            client.close()
            try answerer.dispatch(events, server)
            #expect(server.clientCount == 0 && answerer.methods.count == 100)
        }
    }
}

/// Each test runs in a process of its own: the daemon's event loop reaps every child of the process, the
/// runner's exit tests included.
@Suite struct ControlServiceTests {
    /// Calls a function for each transition.
    private final class Journal: JournalSink {
        var onTransition: () -> Void = {}

        func write(_ entry: LogEntry) { if entry.id == .transition { onTransition() } }
        func write(_ entry: LogEntry, causedBy cause: EntryCause) { write(entry) }
    }

    private static func makeService(
        in root: String, _ events: Events, _ journal: Journal
    ) throws -> (DaemonParts, ControlService, Turn) {
        let launcher = AppLauncher(
            isSystem: false, stateDirectory: root + "/state", appSocket: root + "/channel",
            environment: AppEnvironment(daemon: [:]), usesJournal: false, descriptorLimit: nil)
        let parts = try DaemonParts(
            events: events, launcher: launcher, store: try StateLog(), table: ProcessTable(), entries: nil,
            log: journal)
        let log = try Log(target: .console, events: events)
        let loader = ConfigurationLoader(directories: [root], instance: .user, searchPath: nil)
        // For the service, this process is no client.
        let service = try ControlService(
            socket: try ControlSocket.open(in: root), configuration: loader.load(), presentation: parts.presentation,
            uses: parts.uses, interruptions: parts.interruptions, history: parts.history, log: log,
            instance: .user, path: root + "/control"
        ) { _ in .noApp }
        let machine = try MachineEvents(
            driver: parts.driver, choice: .ofProcess(isUser: true, environment: [:]), log: log)
        return (parts, service, Turn(parts, service, machine, log: log))
    }

    private static func dispatch(_ events: Events, _ service: ControlService, _ turn: Turn) throws {
        try events.loop.dispatchReady {
            events.handle(by: service.server.handle)
            turn.run()
        }
    }

    @Test func useThatOnlyTheDaemonReportsIsRefused() async {
        await #expect(processExitsWith: .success) {
            for use in Use.allCases { try await Self.report(use) }
        }
    }

    private static func report(_ use: Use) throws {
        try withTemporaryDirectory { (root: String) throws in
            let events = try Events()
            let (parts, service, turn) = try makeService(in: root, events, Journal())
            defer { service.close() }
            let client = try ControlClient(at: root, "SetInUse", #"{"use":"\#(use)","apps":[]}"#)
            client.sendMore()
            try dispatch(events, service, turn)
            client.receive()
            let isRefused = use == .relaunched || use == .unfollowed
            let refusal = #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"use"}}"#
            #expect(client.received == (isRefused ? refusal : #"{"parameters":{"ignored":[]}}"#) + "\0")
            #expect(parts.uses.isReported(use) != isRefused)
        }
    }

    @Test func callOfConnectionThatAnAnnouncementClosesIsNotPerformed() async {
        await #expect(processExitsWith: .success) { try await Self.closeByAnnouncement() }
    }

    private static func closeByAnnouncement() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (events, journal) = (try Events(), Journal())
            let (parts, service, turn) = try makeService(in: root, events, journal)
            journal.onTransition = { [weak service] in service?.close() }
            let id = AppID("clock")
            let transition = Transition(
                app: id, from: .active, to: .notRunning, reason: .exit, instant: Instant(microseconds: 1),
                since: Instant(microseconds: 0), answerTime: nil)
            let client = try ControlClient(at: root, "SetInUse", #"{"use":"visible","apps":[]}"#)
            try dispatch(events, service, turn)
            client.add("SetInUse", #"{"use":"playing","apps":[]}"#)
            client.sendMore()
            turn.announcer.keep([.app(transition)])
            try dispatch(events, service, turn)
            #expect(service.server.clientCount == 0)
            #expect(!parts.uses.isReported(.visible) && !parts.uses.isReported(.playing))
        }
    }
}

extension ControlServer {
    /// Handles an event as the daemon does.
    fileprivate func handle(_ event: DaemonEvent) {
        switch event {
        case .clientsConnect: accept()
        case .client(let id, let ready): proceed(with: id, ready)
        case .turnsDue: giveTurns()
        case .longCallDue: passLongCall()
        default: break
        }
    }
}

extension ControlSocket {
    /// Opens the socket of a user's daemon in a directory.
    fileprivate static func open(in root: String) throws -> ControlSocket {
        let options = Options(isUser: true, runtimeDirectory: root, stateDirectory: root, configurationDirectory: root)
        return try open(passed: [], paths: DaemonPaths(options: options, environment: [:]), isSystem: false)
    }
}

/// A client of a control socket that sends calls before it has the replies to those before.
private final class ControlClient {
    private(set) var replyCount = 0
    /// The bytes of the last replies.
    private(set) var received = ""
    private let descriptor: Int32
    private var unsent: ArraySlice<UInt8>
    private var isClosed = false

    init(
        at root: String, _ method: String, _ parameters: String = "{}", flags: String = "", times: Int = 1
    ) throws {
        let call = Self.call(method, parameters, flags)
        unsent = Array(Array(repeating: call, count: times).joined())[...]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        self.descriptor = descriptor
        let path = root + "/control"
        guard unsafe withSocketAddress(path, { unsafe connect(descriptor, $0, $1) }) == 0 else {
            throw FailedCall("connect")
        }
    }

    isolated deinit { close() }

    func add(_ method: String, _ parameters: String) { unsent += Self.call(method, parameters) }

    /// A method without an interface is one of `org.lifed`.
    private static func call(_ method: String, _ parameters: String, _ flags: String = "") -> [UInt8] {
        let name = method.contains(".") ? method : "org.lifed.\(method)"
        return Array(#"{"method":"\#(name)","parameters":\#(parameters)\#(flags)}"#.utf8) + [0]
    }

    /// Sends as much as the socket takes.
    func sendMore() {
        while !unsent.isEmpty {
            let count = unsafe unsent.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
            unsent = unsent.dropFirst(count)
        }
    }

    /// Counts the replies that have come.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            replyCount += buffer[..<count].count { $0 == 0 }
            received = String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(descriptor)
    }
}
