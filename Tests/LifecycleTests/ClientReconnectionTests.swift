import AppChannel
import Glibc
import LifecycleTypes
import Testing

@testable import LifecycleClient

/// The client and a daemon that goes and comes back, on real sockets.
@Suite struct ClientReconnectionTests {
    private let listener: FakeListener
    private let client: AppClient
    private let daemon: FakeDaemon

    init() throws {
        listener = try FakeListener()
        let (daemon, app) = try FakeDaemon.pair()
        self.daemon = daemon
        client = try AppClient(channel: app, socketPath: listener.path, .leftToTheApp)
        try daemon.greet()
        try daemon.post("did-become-active", "active")
        client.receiveAll()
        guard case .callback(let callback) = client.nextEvent() else {
            Issue.record("no callback")
            return
        }
        client.answer(callback)
        #expect(try daemon.line() == "done seq=1")
    }

    /// Does the client's work until a client is at the listener.
    private func accept() throws -> FakeDaemon {
        try client.work(until: { listener.hasGuest })
        return try listener.accept()
    }

    @Test func `a daemon that comes back finds its app, and the descriptor stays good in the app's own epoll set`()
        throws
    {
        let set = try Poller()
        try set.watch(client.fileDescriptor)
        let number = client.fileDescriptor
        for round in 1...3 {
            try listener.listen()
            if round == 1 { daemon.hangUp() }
            let next = try accept()
            #expect(try next.line() == "hello protocol=1 resume=1")
            #expect(try next.line() == "done seq=1")
            try next.send("welcome protocol=1 app-id=org.example.Test")
            client.receiveAll()
            #expect(client.isManaged)

            #expect(!isReadable(set.descriptor))
            try next.send("granted id=99")
            #expect(isReadable(set.descriptor))
            #expect(client.fileDescriptor == number)
            client.receiveAll()
            listener.close()
        }
    }

    @Test func `while no daemon is there the app waits without being busy, and is awake for its tasks later`() throws {
        daemon.hangUp()
        client.receiveAll()
        #expect(client.isManaged)
        #expect(!client.isReadable, "the next attempt is not due")
        let task = client.beginTask(name: "upload")
        #expect(client.nextEvent() == nil)
        try client.waitUntilReadable()
        client.receive()
        #expect(client.isManaged, "nobody is at the path; that is no refusal")
        #expect(!client.isReadable)

        try listener.listen()
        let next = try accept()
        #expect(try next.line() == "hello protocol=1 resume=1")
        #expect(try next.line() == "begin-task id=\(task.rawValue) name=upload")
        #expect(try next.line() == "done seq=1")
    }

    @Test func `goodbye is heard though the app was about to say something`() throws {
        try listener.listen()
        try daemon.send("goodbye reason=too-many-mistakes")
        daemon.hangUp()
        _ = client.beginTask(name: "upload")
        client.receiveAll()
        #expect(!client.isManaged)
        #expect(!client.isReadable)
        #expect(!listener.hasGuest)
    }

    @Test func `a closed client does not come back`() throws {
        try listener.listen()
        daemon.hangUp()
        client.receiveAll()
        try client.waitUntilReadable()
        client.close()
        #expect(!client.isReadable)
        client.receive()
        #expect(!listener.hasGuest)
    }

    @Test func refusedAppRetriesAFewTimesAndKeepsItsState() throws {
        try listener.listen()
        daemon.hangUp()
        client.receiveAll()
        for _ in 0..<3 {
            try accept().hangUp()
            client.receiveAll()
            #expect(client.isManaged)
        }
        let last = try accept()
        try last.send("goodbye reason=not-an-app")
        last.hangUp()
        client.receiveAll()
        #expect(!client.isManaged)
        #expect(client.state == .active)
    }
}

extension AppClient {
    /// Receives whenever there is something to receive, until a condition holds.
    func work(until condition: () -> Bool) throws {
        while !condition() {
            try waitUntilReadable()
            receive()
        }
    }
}
