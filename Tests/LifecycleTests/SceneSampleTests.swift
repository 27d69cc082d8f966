import Glibc
import Testing

/// What the samples with scenes print, and what they say to the daemon.
@Suite struct SceneSampleTests {
    private func start(_ sample: SceneSample, channel: Int32?) throws -> AppProcess {
        try AppProcess(try sample.command(), channel: channel, environment: try sample.environment())
    }

    @Test(arguments: SceneSample.allCases)
    func `restored, left, back, taken away and terminated`(sample: SceneSample) throws {
        let (daemon, app) = try FakeDaemon.pair()
        let process = try start(sample, channel: app)
        try daemon.greet()
        try daemon.call("will-finish-launching", "inactive", " reason=launch restore=1")
        try daemon.call("did-finish-launching", "inactive", " reason=launch restore=1")
        try daemon.call("scene-will-connect", "inactive", " scene=main role=window reason=restoration info=7")
        try daemon.call("scene-will-enter-foreground", "inactive", " scene=main")
        try daemon.call("scene-did-become-active", "active", " scene=main")
        try daemon.call("scene-will-resign-active", "active", " scene=main")
        let leaving = try daemon.post("scene-did-enter-background", "background", " scene=main background-ms=30000")
        #expect(try daemon.line() == "scene-info scene=main info=8")
        #expect(try daemon.line() == "done seq=\(leaving)")
        try daemon.call("scene-did-disconnect", "background", " scene=main reason=reclaimed")
        try process.signal(SIGTERM)
        let lines = try process.remainingLines().filter { $0.hasPrefix("scene-") }
        let suffix = sample == .c ? " for now" : ""
        #expect(
            lines == [
                "scene-will-connect main unattached restoration 7", "scene-will-enter-foreground main background",
                "scene-did-become-active main foregroundActive", "scene-will-resign-active main foregroundActive",
                "scene-did-enter-background main background", "scene-did-disconnect main unattached\(suffix)",
            ])
        #expect(try process.status() == 0)
    }

    @Test func `the first scene brings the others along`() throws {
        let (daemon, app) = try FakeDaemon.pair()
        let process = try start(.swift, channel: app)
        try daemon.greet()
        let sequence = try daemon.post("scene-will-connect", "inactive", " scene=main role=window reason=user")
        #expect(try daemon.line() == "open-scene scene=inbox role=window")
        #expect(try daemon.line() == "open-scene scene=draft role=window")
        #expect(try daemon.line() == "done seq=\(sequence)")
        try daemon.call("scene-will-connect", "inactive", " scene=inbox role=window reason=app")
        try daemon.call("scene-did-disconnect", "inactive", " scene=main reason=closed")
        try process.signal(SIGTERM)
        #expect(try process.remainingLines().suffix(2) == ["did-discard-session main", "will-terminate inactive"])
    }

    @Test(arguments: SceneSample.allCases)
    func `not launched by lifed, its scenes are in the foreground and stay there`(sample: SceneSample) throws {
        let process = try start(sample, channel: nil)
        var active: [String] = []
        while active.count < sample.sceneCount {
            let line = try #require(try process.line())
            if line.hasPrefix("scene-did-become-active") { active.append(line) }
        }
        #expect(active.first == "scene-did-become-active main foregroundActive")
        try process.signal(SIGTERM)
        _ = try process.remainingLines()
        #expect(try process.status() == 0)
    }
}

/// The samples with scenes, each with what it takes to start it.
enum SceneSample: CaseIterable {
    case swift
    case c

    var sceneCount: Int { self == .swift ? 3 : 1 }

    func command() throws -> [String] {
        switch self {
        case .swift: [Build.product("ScenesApp")]
        case .c: [try Build.cScenes.get()]
        }
    }

    func environment() throws -> [String: String] {
        switch self {
        case .swift: [:]
        case .c: ["LD_LIBRARY_PATH": try Build.cLibrary.get() + "/lib"]
        }
    }
}
