import Glibc
import Systemd
import Testing

/// These tests set variables of this process, so they are in one suite that runs one after the other.
@Suite(.serialized) struct ServiceManagerTests {
    @Test func notificationsArriveInOneMessage() throws {
        let receiver = try DatagramReceiver()
        try withEnvironment(["NOTIFY_SOCKET": receiver.path]) {
            try ServiceManager.notify([
                .ready, .extendTimeout(.milliseconds(1_500)), .status("2 apps, none in the foreground"),
            ])
        }
        #expect(receiver.receive() == "READY=1\nEXTEND_TIMEOUT_USEC=1500000\nSTATUS=2 apps, none in the foreground")
        #expect(receiver.receive() == nil)
    }

    @Test func aStatusCannotSmuggleInAnAssignment() throws {
        let receiver = try DatagramReceiver()
        try withEnvironment(["NOTIFY_SOCKET": receiver.path]) {
            try ServiceManager.notify([.status("a\nMAINPID=1\r\nREADY=1")])
        }
        #expect(receiver.receive() == "STATUS=a MAINPID=1 READY=1")
    }

    @Test func reloadingCarriesTheInstant() throws {
        let receiver = try DatagramReceiver()
        let loop = try EventLoop()
        let before = loop.freshNow
        try withEnvironment(["NOTIFY_SOCKET": receiver.path]) { try ServiceManager.notify([.reloading, .stopping]) }
        let lines = try #require(receiver.receive()).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "RELOADING=1")
        #expect(lines.last == "STOPPING=1")
        let instant = try #require(UInt64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
        #expect((before...loop.freshNow).contains(instant))
    }

    @Test func withoutAManagerNothingHappens() throws {
        try withEnvironment(["NOTIFY_SOCKET": nil]) {
            try ServiceManager.notify([.ready])
        }
    }

    @Test func aManagerThatIsGoneIsAnError() throws {
        withEnvironment(["NOTIFY_SOCKET": "/nonexistent/notify"]) {
            let error = #expect(throws: SystemdError.self) { try ServiceManager.notify([.ready]) }
            #expect(error?.errno == ENOENT)
        }
    }

    @Test func theLoopPingsNoWatchdogOfAnotherProcess() throws {
        try withEnvironment(["WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "1"]) {
            let loop = try EventLoop()
            let isEnabled = try loop.enableWatchdog()
            #expect(!isEnabled)
        }
        try withEnvironment(["WATCHDOG_USEC": "soon", "WATCHDOG_PID": "\(getpid())"]) {
            let loop = try EventLoop()
            #expect(throws: SystemdError.self) { try loop.enableWatchdog() }
        }
    }

    @Test func theLoopPingsTheWatchdog() throws {
        let receiver = try DatagramReceiver()
        let variables = ["NOTIFY_SOCKET": receiver.path, "WATCHDOG_USEC": "40000", "WATCHDOG_PID": "\(getpid())"]
        try withEnvironment(variables) {
            let loop = try EventLoop()
            #expect(try loop.enableWatchdog())
            var pings = 0
            let poll = try PollingTimer(loop: loop) {
                while let message = receiver.receive() { pings += message.contains("WATCHDOG=1") ? 1 : 0 }
                return pings >= 3
            }
            try run(loop)
            #expect(pings >= 3)
            poll.cancel()
        }
    }

    @Test func nothingPassedIsNoSockets() throws {
        try withEnvironment(["LISTEN_PID": nil, "LISTEN_FDS": nil, "LISTEN_FDNAMES": nil]) {
            let sockets = try ServiceManager.takePassedDescriptors()
            #expect(sockets.isEmpty)
        }
    }

    @Test func passedDescriptorsHaveTheirNamesAndTheVariablesAreGone() throws {
        // Descriptor 3 of this process is no listening socket, and is only looked at.
        let saved = fcntl(3, F_GETFD)
        let placeholder = saved < 0 ? dup2(0, 3) : -1
        defer { if placeholder >= 0 { close(placeholder) } }
        let variables = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "control"]
        try withEnvironment(variables) {
            let sockets = try ServiceManager.takePassedDescriptors()
            #expect(sockets.map(\.name) == ["control"])
            #expect(sockets.map(\.descriptor) == [3])
            #expect(sockets.first?.isListeningUnixStream == false)
            #expect(unsafe getenv("LISTEN_FDS") == nil)
            #expect(unsafe getenv("LISTEN_FDNAMES") == nil)
        }
    }

    @Test func senselessVariablesAreAnError() throws {
        withEnvironment(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "-3"]) {
            #expect(throws: SystemdError.self) { try ServiceManager.takePassedDescriptors() }
        }
    }
}

/// Looks again and again until a condition holds, then ends the loop.
private final class PollingTimer {
    private var timer: TimerSource?

    init(loop: EventLoop, until condition: @escaping () -> Bool) throws {
        timer = try loop.timer { [weak self] in
            if condition() { return loop.exit(code: 0) }
            self?.timer?.arm(atMicroseconds: loop.freshNow + 5_000)
        }
        timer?.arm(atMicroseconds: loop.freshNow)
    }

    func cancel() {
        timer?.cancel()
    }
}

/// Runs `body` with the given variables set, or unset, and puts back what was there.
private func withEnvironment(_ variables: [String: String?], _ body: () throws -> Void) rethrows {
    let before = variables.keys.map { name in (name, unsafe getenv(name).map { unsafe String(cString: $0) }) }
    for (name, value) in variables { set(name, value) }
    defer { for (name, value) in before { set(name, value) } }
    try body()
}

private func set(_ name: String, _ value: String?) {
    if let value { unsafe setenv(name, value, 1) } else { unsafe unsetenv(name) }
}
