import Glibc
import Testing

/// The library in processes of its own, in the ways that an app can be kept going.
@Suite struct ProcessTests {
    private func start(_ kind: String) throws -> (daemon: FakeDaemon, process: AppProcess) {
        let (daemon, app) = try FakeDaemon.pair()
        let process = try AppProcess(
            [Build.product("LifecycleFixture"), kind], channel: app, environment: ["LIFECYCLE_SOCKET": "/nowhere"])
        try daemon.greet()
        return (daemon, process)
    }

    @Test func appThatLifedDidNotLaunchIsLaunchedIfTheAnswerEndsInTheMiddle() throws {
        let listener = try FakeListener()
        try listener.listen()
        let process = try AppProcess(
            [Build.product("LifecycleFixture"), "own-loop"], channel: nil,
            environment: ["LIFECYCLE_SOCKET": listener.path])
        let daemon = try listener.accept()
        #expect(try daemon.line() == "hello protocol=1")
        try daemon.send("\nunmana", ending: "")
        #expect(try process.line() == "did-become-active")
    }

    @Test func `the main actor and the main queue go on between callbacks, on the main thread`() throws {
        let (daemon, process) = try start("main-thread")
        try daemon.call("did-become-active", "active")
        #expect(try process.line() == "did-become-active")
        let lines = try (0..<4).map { _ in try process.line() ?? "end" }
        #expect(lines.filter { $0 != "main queue" } == (1...3).map { "tick \($0) main thread" })
        #expect(lines.contains("main queue"))
        try daemon.call("did-enter-background", "background")
        try process.signal(SIGTERM)
        #expect(try process.remainingLines() == ["did-enter-background", "will-terminate", "returned"])
        #expect(try process.status() == 0)
    }

    @Test func `an app of tasks only is told and terminated all the same`() throws {
        let (daemon, process) = try start("tasks-only")
        try daemon.call("did-become-active", "active")
        try daemon.call("did-enter-background", "background")
        try process.signal(SIGTERM)
        #expect(
            try process.remainingLines()
                == ["did-become-active", "did-enter-background", "will-terminate", "returned"])
        #expect(try process.status() == 3 << 8, "the app chooses its status")
    }

    @Test func `an app with a shutdown of its own keeps SIGTERM`() throws {
        let (daemon, process) = try start("own-shutdown")
        try daemon.call("did-become-active", "active")
        try process.signal(SIGTERM)
        #expect(try process.remainingLines() == ["did-become-active"])
        #expect(try process.status() == 7 << 8)
    }

    @Test func `cancelling gives the life cycle up`() throws {
        let (daemon, process) = try start("cancelled")
        try daemon.call("did-become-active", "active")
        #expect(try daemon.isAtEnd())
        #expect(try process.remainingLines() == ["did-become-active", "cancelled"])
        #expect(try process.status() == 0)
    }

    @Test func stopEndsTheRunOfTheLifeCycleAndItCanRunAgain() throws {
        let (daemon, process) = try start("stopped")
        try daemon.post("did-become-active", "active")
        #expect(try daemon.isAtEnd())
        #expect(
            try process.remainingLines() == ["did-become-active", "stopped", "did-become-active", "stopped again"])
        #expect(try process.status() == 0)
    }

    @Test func stopOnTheMainThreadReturnsFromRun() throws {
        let (daemon, process) = try start("stopped-main-thread")
        try daemon.post("did-become-active", "active")
        #expect(try daemon.isAtEnd())
        #expect(try process.remainingLines() == ["did-become-active", "returned"])
        #expect(try process.status() == 0)
    }

    @Test func firstSIGTERMCallsAnAppWithItsOwnLoopAndTheSecondEndsIt()
        throws
    {
        let (daemon, process) = try start("own-loop")
        try daemon.call("did-become-active", "active")
        #expect(try process.line() == "did-become-active")
        try process.signal(SIGTERM)
        #expect(try process.line() == "will-terminate")
        #expect(try process.sleeps())
        try process.signal(SIGTERM)
        #expect(try process.remainingLines() == [])
        #expect(try process.status() == SIGTERM)
    }

    @Test(arguments: ["helper", "helper-without-variables"])
    func childOfAnAppInheritsNeitherChannelNorSignalDispositions(
        kind: String
    ) throws {
        let (daemon, process) = try start(kind)
        try daemon.call("did-become-active", "active")
        let variables = kind == "helper" ? "fd 3 socket /nowhere" : "fd none socket none"
        let helper = [variables, "1", "helper ended by \(SIGTERM)"]
        try process.signal(SIGTERM)
        #expect(
            try process.remainingLines() == ["did-become-active"] + helper + ["will-terminate", "returned"])
    }

    @Test func `a forked child's SIGTERM is its own`() throws {
        let library = try Build.cLibrary.get() + "/lib"
        let script = Build.root + "/Tests/LifecycleFixture/fork.py"
        let process = try AppProcess(["python3", script], channel: nil, environment: ["LD_LIBRARY_PATH": library])
        let transcript = [
            "child ended by SIGTERM", "parent was told: False", "again: True", "twice: None", "no such flag: None",
        ]
        #expect(try process.remainingLines() == transcript)
        #expect(try process.status() == 0)
    }
}
