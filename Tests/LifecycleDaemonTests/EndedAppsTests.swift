import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct EndedAppsTests {
    let store: StateLog

    init() throws { store = try StateLog() }

    func ended() -> EndedApps {
        let directory = AppRecords.Directory(path: "/proc/nowhere", isSystem: false, log: RecordingJournal())
        return EndedApps(store: store, records: AppRecords("ended", of: .ended, in: directory))
    }

    func record(_ name: String, failure: String = "no such file", time: Int64 = 1) -> EndedApps.Record {
        EndedApps.Record(AppID(name), nil, time: time, launchFailure: failure)
    }

    @Test func eachAppHasItsLatestRecord() {
        let ended = ended()
        for time: Int64 in 1...3 { ended.record(record("clock", time: time)) }
        ended.record(record("maps"))
        #expect(ended[AppID("clock")]?.time == 3)
        #expect(ended.saved.map(\.0.name) == ["clock", "maps"])
        #expect(ended[AppID("radio")] == nil)
    }

    @Test func oldestRecordsGoWhenThereAreTooMany() {
        let ended = ended()
        for number in 0...EndedApps.limit { ended.record(record("app-\(number)")) }
        #expect(ended.saved.count == EndedApps.limit)
        #expect(ended[AppID("app-0")] == nil && store.state[.ended, AppID("app-0")] == nil)
        #expect(ended[AppID("app-1")] != nil && store.state[.ended, AppID("app-1")] != nil)
    }

    @Test func oldestRecordsGoWhenTheyHaveTooManyBytes() {
        let ended = ended()
        let large = String(repeating: "x", count: EndedApps.byteLimit / 16)
        for number in 0..<20 { ended.record(record("app-\(number)", failure: large)) }
        #expect(ended.saved.reduce(0) { $0 + $1.1.bytes.count } <= EndedApps.byteLimit)
        #expect((12...15).contains(ended.saved.count))
        #expect(ended[AppID("app-19")]?.launchFailure == large)
        #expect(ended[AppID("app-0")] == nil)
    }

    @Test func savedRecordsAreThoseOfTheNextDaemon() {
        let first = ended()
        first.record(record("clock", failure: "no such file: /usr/bin/clock", time: 7))
        let next = ended()
        next.restore(first.saved)
        #expect(next[AppID("clock")]?.launchFailure == "no such file: /usr/bin/clock")
        #expect(next[AppID("clock")]?.time == 7)
    }
}
