import Glibc
import Systemd
import TestSupport
import Testing

private nonisolated let hasBusDaemon = unsafe access("/usr/bin/dbus-daemon", X_OK) == 0

@Suite(.serialized, .enabled(if: hasBusDaemon, "dbus-daemon is not installed")) struct BusTests {
    let loop: EventLoop
    let daemon: BusDaemon

    init() throws {
        loop = try EventLoop()
        daemon = try BusDaemon()
    }

    @Test func aBusThatAppearsLaterIsConnectedTo() throws {
        let bus = try Bus(loop: loop, address: daemon.address) {
            Issue.record("an absent bus is no problem: \($0)")
        }
        let name = bus.watchName("org.freedesktop.DBus") { [loop] owner in
            #expect(owner == "org.freedesktop.DBus")
            loop.exit(code: 0)
        }
        let later = try loop.timer { [daemon] in
            #expect(!bus.isConnected)
            try? daemon.start()
        }
        later.arm(atMicroseconds: loop.freshNow + 50_000)
        try run(loop)
        #expect(name.owner == "org.freedesktop.DBus")
        #expect(bus.isConnected)
    }

    @Test func aBusThatWasRestartedIsConnectedToAgain() throws {
        try daemon.start()
        let bus = try Bus(loop: loop, address: daemon.address) { _ in }
        var owners: [String?] = []
        let name = bus.watchName("org.freedesktop.DBus") { [loop, daemon] owner in
            owners.append(owner)
            switch owners.count {
            case 1: daemon.stop()
            case 2: try? daemon.start()
            default: loop.exit(code: 0)
            }
        }
        try run(loop)
        #expect(owners == ["org.freedesktop.DBus", nil, "org.freedesktop.DBus"])
        _ = name
    }

    @Test func silentBusIsReportedOnceAndDoesNotStopLoop() throws {
        var listener: ListeningSocket? = try ListeningSocket(at: daemon.socket)
        var problems: [String] = []
        let bus = try Bus(loop: loop, address: daemon.address) { [loop] problem in
            problems.append(problem)
            loop.exit(code: 0)
        }
        let later = try loop.timer { _ = listener.take() }
        later.arm(atMicroseconds: loop.freshNow + 20_000)
        try run(loop)
        #expect(problems.count == 1)
        #expect(!bus.isConnected)
    }

    @Test func repliesOfAllShapesAreRead() throws {
        try daemon.start()
        let bus = try Bus(loop: loop, address: daemon.address) { _ in }
        var replies: [String: Result<[BusValue], BusError>] = [:]
        let name = bus.watchName("org.freedesktop.DBus") { [loop] _ in
            for (member, arguments) in [
                ("ListNames", []), ("GetConnectionCredentials", [.text("org.freedesktop.DBus")]), ("GetId", []),
                ("NameHasOwner", [.text("no.such.Name")]), ("GetNameOwner", [.text("no.such.Name")]),
                ("GetConnectionUnixUser", [.text("org.freedesktop.DBus")]),
            ] as [(String, [BusCall.Argument])] {
                let call = BusCall(
                    "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                    member: member, arguments: arguments)
                bus.call(call) { reply in
                    replies[member] = reply
                    if replies.count == 6 { loop.exit(code: 0) }
                }
            }
        }
        try run(loop)
        let values = replies.compactMapValues { try? $0.get().first }
        #expect(values["ListNames"]?.elements?.contains { $0.text == "org.freedesktop.DBus" } == true)
        #expect(values["GetConnectionCredentials"]?.dictionary?["UnixUserID"]?.unsigned == UInt64(geteuid()))
        #expect(values["GetId"]?.text?.count == 32)
        #expect(values["NameHasOwner"]?.bool == false)
        #expect(values["GetConnectionUnixUser"]?.unsigned == UInt64(geteuid()))
        guard case .failure(let error) = replies["GetNameOwner"] else {
            Issue.record("a name without an owner has one")
            return
        }
        #expect(error.name == "org.freedesktop.DBus.Error.NameHasNoOwner")
        _ = name
    }

    /// Any client may send a signal straight to a connection, in any words but only by its own name.
    @Test func signalOfAnotherSenderIsIgnored() throws {
        try daemon.start()
        let bus = try Bus(loop: loop, address: daemon.address) { _ in }
        var heard: [BusMessage] = []
        var slots: [BusSlot?] = []
        let name = bus.watchName("org.freedesktop.DBus") { [daemon, loop] _ in
            // The bus numbers its connections in their order: this one is 0, the sender will be 1.
            for sender in [":1.0", ":1.1", ":1.2"] {
                let rule = BusMatchRule(sender: sender, path: "/x", interface: "test.Interface")
                slots.append(
                    bus.match(rule) { message in
                        heard.append(message)
                        loop.exit(code: 0)
                    })
            }
            daemon.sendSignal(to: ":1.0", path: "/x", name: "test.Interface.Forged", argument: "words")
        }
        try run(loop)
        #expect(heard.map(\.sender) == [":1.1"])
        #expect(heard.first?.member == "Forged")
        #expect(heard.first?.arguments.first?.text == "words")
        _ = name
    }

    @Test func aLoopThatEndsDoesNotWaitForTheBus() throws {
        try daemon.start()
        let bus = try Bus(loop: loop, address: daemon.address) { _ in }
        let name = bus.watchName("org.freedesktop.DBus") { [loop, daemon] _ in
            // More than the eight megabytes that the library asks the kernel to keep for it.
            daemon.freeze()
            for _ in 0..<200 {
                let call = BusCall.allProperties(
                    of: String(repeating: "x", count: 100_000), at: "/", destination: "org.freedesktop.DBus")
                bus.call(call) { _ in }
            }
            loop.exit(code: 0)
        }
        try run(loop)
        _ = name
    }
}
