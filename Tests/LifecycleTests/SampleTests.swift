import Glibc
import Testing

/// What each sample prints, in the cases of the table of callbacks. The transcripts are the same for all of them.
@Suite struct SampleTests {
    private static let launch = [
        "will-finish-launching inactive", "did-finish-launching inactive", "did-become-active active",
    ]
    private static let leave = ["will-resign-active active", "did-enter-background background"]

    private static func expect(
        _ sample: Sample, _ transcript: [String], _ script: (FakeDaemon, AppProcess) throws -> Void
    ) throws {
        let (daemon, app) = try FakeDaemon.pair()
        let process = try AppProcess(try sample.command(), channel: app, environment: try sample.environment())
        try daemon.greet()
        try script(daemon, process)
        #expect(try process.remainingLines() == transcript)
        #expect(try process.status() == 0)
    }

    @Test(arguments: Sample.allCases)
    func `launched, left, back, and terminated in the foreground`(sample: Sample) throws {
        let transcript =
            Self.launch + Self.leave + ["will-enter-foreground background", "did-become-active active"]
            + ["will-resign-active active", "will-terminate inactive"]
        try Self.expect(sample, transcript) { daemon, process in
            try daemon.launch()
            try daemon.leave()
            try daemon.call("will-enter-foreground", "background")
            try daemon.call("did-become-active", "active")
            try daemon.call("will-resign-active", "active")
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: Sample.allCases)
    func `interrupted, and the interruption dismissed`(sample: Sample) throws {
        let interruption = ["will-resign-active active", "did-become-active active"]
        try Self.expect(sample, Self.launch + interruption + ["will-terminate active"]) { daemon, process in
            try daemon.launch()
            try daemon.call("will-resign-active", "active")
            try daemon.call("did-become-active", "active")
            // From a shell, say: the daemon has not told the app to leave the foreground.
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: Sample.allCases)
    func `interrupted, displaced by another app, and terminated in the background`(sample: Sample) throws {
        try Self.expect(sample, Self.launch + Self.leave + ["will-terminate background"]) { daemon, process in
            try daemon.launch()
            try daemon.leave()
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: Sample.allCases)
    func suspendedAppSeesSIGTERMFirst(sample: Sample) throws {
        try Self.expect(sample, Self.launch + Self.leave + ["will-terminate background"]) { daemon, process in
            try daemon.launch()
            try daemon.leave()
            try process.stop()
            try process.signal(SIGTERM)
            try process.signal(SIGCONT)
        }
    }

    @Test(arguments: Sample.allCases)
    func `launched in the background, then brought to the foreground`(sample: Sample) throws {
        let transcript = [
            "will-finish-launching inactive", "did-finish-launching background", "will-enter-foreground background",
            "did-become-active active", "will-terminate active",
        ]
        try Self.expect(sample, transcript) { daemon, process in
            try daemon.call("will-finish-launching", "inactive", " reason=launch")
            try daemon.call("did-finish-launching", "background", " reason=launch")
            try daemon.call("will-enter-foreground", "background")
            try daemon.call("did-become-active", "active")
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: Sample.allCases)
    func unknownCallbackIsAnswered(sample: Sample) throws {
        try Self.expect(sample, Self.launch + ["will-terminate active"]) { daemon, process in
            try daemon.launch()
            try daemon.call("receive-shadow", "active", " colour=blue%20green")
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: Sample.allCases)
    func appContinuesAfterTheEndOfTheDaemon(sample: Sample) throws {
        try Self.expect(sample, Self.launch + ["will-terminate active"]) { daemon, process in
            try daemon.launch()
            daemon.hangUp()
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: [Sample.swift, .c])
    func connectedAppGetsEventsWorkMemoryAndTimeNotices(sample: Sample) throws {
        let events = [
            "open-url x:y", "continue-activity org.example.read {}", "perform-task fetch new mail",
            "memory-warning active",
            "protected-data-will-become-unavailable active", "protected-data-did-become-available active",
            "significant-time-change active",
        ]
        try Self.expect(sample, Self.launch + events + ["will-terminate active"]) { daemon, process in
            try daemon.launch()
            try daemon.call("open-url", "active", " url=x:y", answer: " handled=yes")
            try daemon.call("continue-activity", "active", " type=org.example.read info=%7B%7D", answer: " handled=yes")
            try daemon.call("perform-task", "active", " kind=fetch payload=new%20mail", answer: " result=new-data")
            try daemon.call("memory-warning", "active")
            try daemon.call("protected-data-will-become-unavailable", "active")
            try daemon.call("protected-data-did-become-available", "active")
            try daemon.call("significant-time-change", "active")
            try process.signal(SIGTERM)
        }
    }

    /// The Python sample's struct of functions is that of a program for an older library.
    @Test func programForAnOlderLibraryDeclinesUnknownEvents() throws {
        try Self.expect(.python, Self.launch + ["will-terminate active"]) { daemon, process in
            try daemon.launch()
            try daemon.call("open-url", "active", " url=x:y", answer: " handled=no")
            try daemon.call("perform-task", "active", " kind=fetch", answer: " result=no-data")
            try daemon.call("memory-warning", "active")
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: Sample.allCases)
    func repeatedCallbackAfterADaemonRestartIsAnsweredWithoutACall(sample: Sample) throws {
        try Self.expect(sample, Self.launch + ["will-terminate active"]) { daemon, process in
            try daemon.launch()
            try daemon.send("\ndid-become-active seq=3 deadline-ms=5000 state=active")
            #expect(try daemon.line() == "done seq=3")
            try process.signal(SIGTERM)
        }
    }

    @Test(arguments: [Sample.swift, .c, .python])
    func appReconnectsToARestartedDaemon(sample: Sample) throws {
        let listener = try FakeListener()
        let (daemon, app) = try FakeDaemon.pair()
        var environment = try sample.environment()
        environment["LIFECYCLE_SOCKET"] = listener.path
        let process = try AppProcess(try sample.command(), channel: app, environment: environment)
        try daemon.greet()
        try daemon.launch()
        daemon.hangUp()
        try listener.listen()
        let next = try listener.accept()
        #expect(try next.line() == "hello protocol=1 resume=3")
        #expect(try next.line() == "done seq=3")
        try next.send("welcome protocol=1 app-id=org.example.Test")
        try next.send("\ndid-become-active seq=3 deadline-ms=5000 state=active")
        #expect(try next.line() == "done seq=3", "a repetition")
        try next.send("will-resign-active seq=4 deadline-ms=5000 state=active")
        #expect(try next.line() == "done seq=4")
        try process.signal(SIGTERM)
        let transcript = Self.launch + ["will-resign-active active", "will-terminate inactive"]
        #expect(try process.remainingLines() == transcript)
    }

    @Test(arguments: Sample.allCases)
    func appWithoutLifedStaysInTheForeground(sample: Sample) throws {
        let process = try AppProcess(try sample.command(), channel: nil, environment: try sample.environment())
        for line in Self.launch { #expect(try process.line() == line) }
        try process.signal(SIGTERM)
        #expect(try process.remainingLines() == ["will-terminate active"])
        #expect(try process.status() == 0)
    }
}

extension FakeDaemon {
    func launch() throws {
        try call("will-finish-launching", "inactive", " reason=launch")
        try call("did-finish-launching", "inactive", " reason=launch")
        try call("did-become-active", "active")
    }

    func leave() throws {
        try call("will-resign-active", "active")
        try call("did-enter-background", "background", " background-ms=30000")
    }
}
