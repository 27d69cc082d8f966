import AppChannel
import Glibc
import LifecycleClient
import Testing

@testable import Lifecycle

/// The daemon's end of an app channel, in a test's hands.
///
/// Waiting has a guard of some seconds, so that a test that would hang fails; no test depends on how long anything takes.
final class FakeDaemon {
    struct Silence: Error {}

    static let guardMilliseconds: Int32 = 120_000

    private(set) var descriptor: Int32
    private var input = LineBuffer()
    private var lastSequence: Int64 = 0

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        hangUp()
    }

    /// Both ends of a channel: the daemon's, and the descriptor that is for the app.
    static func pair() throws -> (daemon: FakeDaemon, app: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (FakeDaemon(descriptor: ends[0]), ends[1])
    }

    /// A daemon that has welcomed an app.
    @MainActor
    static func greeting(_ application: LifecycleApplication, _ delegate: any LifecycleDelegate) throws -> FakeDaemon {
        let (daemon, app) = try pair()
        application.attach(try AppClient(channel: app, .leftToTheApp), delegate)
        try daemon.greet()
        application.dispatch()
        return daemon
    }

    func hangUp() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    func send(_ line: String, ending: String = "\n") throws {
        let bytes = Array("\(line)\(ending)".utf8)
        try #require(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// The next line from the app.
    func line() throws -> String {
        while true {
            if case .line(let line) = input.next() { return String(decoding: line, as: UTF8.self) }
            input.append(try bytes())
        }
    }

    /// Returns whether the app has closed the channel and has nothing more to say.
    func isAtEnd() throws -> Bool {
        try input.next() == nil && bytes().isEmpty
    }

    func greet() throws {
        #expect(try line() == "hello protocol=1")
        try send("welcome protocol=1 app-id=org.example.Test")
    }

    /// Sends a callback and waits for its answer, `done seq=N` or what is given instead.
    func call(_ verb: String, _ state: String, _ fields: String = "", answer: String = "") throws {
        let sequence = try post(verb, state, fields)
        #expect(try line() == "done seq=\(sequence)\(answer)")
    }

    /// Sends a callback, and returns its sequence number.
    @discardableResult
    func post(_ verb: String, _ state: String, _ fields: String = "") throws -> Int64 {
        lastSequence += 1
        try send("\(verb) seq=\(lastSequence) deadline-ms=5000 state=\(state)\(fields)")
        return lastSequence
    }

    private func bytes() throws -> [UInt8] {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, Self.guardMilliseconds) == 1 else { throw Silence() }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &piece, piece.count)
        return Array(piece.prefix(max(0, count)))
    }
}
