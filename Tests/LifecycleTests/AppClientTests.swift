import AppChannel
import Glibc
import LifecycleClient
import LifecycleTypes
import Testing

/// The client on real descriptors. Only one test catches SIGTERM: it belongs to the process.
@Suite struct AppClientTests {
    @Test func `one descriptor says when there is something to do`() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, .leftToTheApp)
        try daemon.greet()
        client.receiveAll()
        #expect(!client.isReadable)
        try daemon.post("did-become-active", "active")
        #expect(client.isReadable)
        client.receiveAll()
        #expect(!client.isReadable)
        guard case .callback(let callback) = client.nextEvent() else {
            Issue.record("no callback")
            return
        }
        client.answer(callback)
        #expect(try daemon.line() == "done seq=1")
        #expect(client.state == .active)
    }

    @Test func `without a channel the launch makes the descriptor readable`() throws {
        let client = try AppClient(channel: nil, .leftToTheApp)
        #expect(client.isReadable)
        client.receive()
        var kinds: [Callback] = []
        while case .callback(let callback) = client.nextEvent() {
            kinds.append(callback.kind)
            client.answer(callback)
        }
        #expect(kinds == [.willFinishLaunching, .didFinishLaunching, .didBecomeActive])
        client.receive()
        #expect(!client.isReadable)
    }

    @Test func `an app that connects itself is launched at once if the daemon hangs up without an answer`() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, socketPath: "/gone", connectsItself: true, .leftToTheApp)
        daemon.hangUp()
        client.receiveAll()
        var kinds: [Callback] = []
        while case .callback(let callback) = client.nextEvent() {
            kinds.append(callback.kind)
            client.answer(callback)
        }
        #expect(kinds == [.willFinishLaunching, .didFinishLaunching, .didBecomeActive])
        #expect(!client.isManaged)
    }

    @Test func appThatLifedDidNotLaunchIsManagedFromItsWelcomeOn() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, socketPath: "/gone", connectsItself: true, .leftToTheApp)
        #expect(!client.isManaged)
        try daemon.greet()
        client.receiveAll()
        #expect(client.isManaged)
    }

    @Test(arguments: [false, true])
    func processThatLifedDoesNotManageLeavesAnInheritedChannelOpen(usesScenes: Bool) throws {
        let (daemon, app) = try FakeDaemon.pair()
        let shared = dup(app)
        let client = try AppClient(channel: app, socketPath: "/gone", usesScenes: usesScenes, .leftToTheApp)
        #expect(try daemon.line() == "hello protocol=1")
        try daemon.send("unmanaged")
        client.receiveAll()
        var kinds: [Callback] = []
        while case .callback(let callback) = client.nextEvent() {
            kinds.append(callback.kind)
            client.answer(callback)
        }
        #expect(kinds.prefix(2) == [.willFinishLaunching, .didFinishLaunching])
        #expect(kinds.last == (usesScenes ? .sceneDidBecomeActive : .didBecomeActive))
        client.endTask(client.beginTask(name: "save"))
        client.close()
        #expect(!client.isManaged)
        #expect(!isReadable(daemon.descriptor), "neither an end nor a message")
        close(shared)
        #expect(try daemon.isAtEnd())
    }

    @Test func appKeepsItsStateWhenTheDaemonHangsUp() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, .leftToTheApp)
        try daemon.greet()
        try daemon.post("did-become-active", "active")
        daemon.hangUp()
        client.receiveAll()
        guard case .callback(let callback) = client.nextEvent() else {
            Issue.record("no callback")
            return
        }
        client.answer(callback)
        #expect(client.state == .active)
        #expect(!client.isManaged)
        client.endTask(client.beginTask(name: "a"))
        #expect(client.nextEvent() == nil)
        #expect(!client.isReadable)
    }

    @Test func `goodbye closes the channel`() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, .leftToTheApp)
        try daemon.greet()
        try daemon.send("goodbye reason=too-many-mistakes")
        client.receiveAll()
        #expect(!client.isManaged)
        #expect(try daemon.isAtEnd())
    }

    @Test func slowDaemonBlocksNothingAndGetsAllOutput() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, .leftToTheApp)
        try daemon.greet()
        var count = 0
        while client.nextEvent() == nil, count < 1_000_000 {
            _ = client.beginTask(name: "x")
            count += 1
        }
        #expect(count > 1000 && count < 1_000_000)
        for id in 1..<count {
            if client.isReadable { client.receive() }
            #expect(try daemon.line() == "begin-task id=\(id) name=x")
        }
        #expect(!client.isReadable)
    }

    @Test func onlyOneClientCatchesSIGTERM() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let client = try AppClient(channel: app, .caught)
        defer { client.close() }
        let (other, refused) = try FakeDaemon.pair()
        let error = #expect(throws: SystemError.self) { try AppClient(channel: refused, .caught) }
        #expect(error?.code == EBUSY)
        #expect(!isReadable(other.descriptor), "one that fails leaves the channel as it is")
        close(refused)
        try daemon.post("will-enter-foreground", "background")
        client.receive()
        // To the process: a thread of a test may have its signals blocked.
        try #require(kill(getpid(), SIGTERM) == 0)
        try client.waitUntilReadable()
        client.receive()
        #expect(client.nextEvent() == .terminate)
        #expect(client.nextEvent() == nil)
    }
}

extension AppClient {
    /// A Boolean value that indicates whether the descriptor is readable, at present.
    var isReadable: Bool { LifecycleTests.isReadable(fileDescriptor) }

    func waitUntilReadable() throws {
        var item = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&item, 1, FakeDaemon.guardMilliseconds) == 1)
    }

    func receiveAll() {
        // A limited amount at once; what is there is there at once, because both ends are here.
        for _ in 0..<16 { receive() }
    }
}

/// Returns whether a descriptor is readable, at present.
func isReadable(_ descriptor: Int32) -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&item, 1, 0) == 1
}
