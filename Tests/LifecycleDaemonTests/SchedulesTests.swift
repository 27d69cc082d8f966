import Calendar
import Configuration
import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct SchedulesTests {
    @Test func workThatIsDueWhileItsAppEndsIsDoneLater() throws {
        try withTemporaryDirectory { (state: String) throws in
            let loop = try EventLoop()
            let core = RecordingCore()
            let directory = AppRecords.Directory(path: state, isSystem: false, log: RecordingJournal())
            let records = AppRecords("runs", of: .run, in: directory)
            let schedules = try Schedules(loop: loop, records: records, core: core)
            schedules.retryDelay = 1_000
            var manifest = Manifest(id: "mail", file: "mail.toml", command: ["mail"], program: "/usr/bin/mail")
            manifest.schedules = [Schedule(at: try CalendarEvent("*-*-* *:*:* UTC"), kind: "fetch")]
            schedules.apply([manifest])
            core.ending = [AppID("mail")]
            core.onInput = { loop.exit(code: 0) }
            let due = try #require(schedules.work(of: AppID("mail")).first?.due)
            let end = try loop.timer(on: .wall) { core.ending = [] }
            end.arm(atMicroseconds: UInt64(due.microseconds) + 20_000)
            schedules.start()
            _ = try loop.run()
            let isWoken = if case .wake(AppID("mail"), kind: "fetch")? = core.inputs.first { true } else { false }
            #expect(isWoken && core.inputs.count == 1)
            #expect(core.ending.isEmpty)
        }
    }
}
