import Calendar
import Configuration
import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct SchedulesTests {
    private let loop: EventLoop
    private let core = RecordingCore()

    init() throws { loop = try EventLoop() }

    private func schedules(in state: String) throws -> Schedules {
        let directory = AppRecords.Directory(path: state, isSystem: false, log: RecordingJournal())
        return try Schedules(loop: loop, records: AppRecords("runs", of: .run, in: directory), core: core)
    }

    /// Returns the manifest of an app that fetches each second.
    private func manifest(_ id: String) throws -> Manifest {
        var manifest = Manifest(id: id, file: "\(id).toml", command: [id])
        manifest.schedules = [Schedule(at: try CalendarEvent("*-*-* *:*:* UTC"), kind: "fetch")]
        return manifest
    }

    @Test func workThatIsDueWhileItsAppEndsIsDoneLater() throws {
        try withTemporaryDirectory { (state: String) throws in
            let schedules = try schedules(in: state)
            schedules.retryDelay = 1_000
            schedules.apply([try manifest("mail")])
            core.ending = [AppID("mail")]
            core.onInput = { loop.exit(code: 0) }
            let due = try #require(schedules.work(of: AppID("mail")).first?.due)
            let end = try loop.timer(on: .wall) { core.ending = [] }
            end.arm(atMicroseconds: UInt64(due.microseconds) + 20_000)
            schedules.start()
            _ = try loop.runGuarded()
            let isWoken = if case .wake(AppID("mail"), kind: "fetch")? = core.inputs.first { true } else { false }
            #expect(isWoken && core.inputs.count == 1)
            #expect(core.ending.isEmpty)
        }
    }

    @Test func appThatEndsDelaysNoWorkOfOthers() throws {
        try withTemporaryDirectory { (state: String) throws in
            let schedules = try schedules(in: state)
            // A day.
            schedules.retryDelay = 86_400_000_000
            schedules.apply([try manifest("feeds"), try manifest("mail")])
            core.ending = [AppID("feeds")]
            // At first the work of both is due.
            core.onInput = { if core.inputs.count == 2 { loop.exit(code: 0) } }
            let limit = try loop.timer { loop.exit(code: 1) }
            limit.arm(atMicroseconds: loop.freshNow + 20_000_000)
            schedules.start()
            #expect(try loop.runGuarded() == 0)
            for input in core.inputs {
                let isMail = if case .wake(AppID("mail"), kind: "fetch") = input { true } else { false }
                #expect(isMail, "\(input)")
            }
        }
    }

    @Test func recordOfAManifestThatWasRemovedWithoutADaemonIsRemoved() throws {
        try withTemporaryDirectory { (state: String) throws in
            try schedules(in: state).apply([try manifest("feeds"), try manifest("mail")])
            #expect(names(in: state + "/runs") == ["feeds", "mail"])
            let successor = try schedules(in: state)
            successor.apply([try manifest("mail")])
            #expect(names(in: state + "/runs") == ["mail"])
            successor.apply([])
            #expect(names(in: state + "/runs").isEmpty)
        }
    }
}
