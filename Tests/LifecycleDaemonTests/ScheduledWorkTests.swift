import Calendar
import Configuration
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct ScheduledWorkTests {
    static let mail = AppID("mail")
    static let hour = 3600 * 1_000_000

    func instant(_ hours: Double) -> Timestamp { Timestamp(microseconds: Int(hours * Double(Self.hour))) }

    func work(_ at: String, last: Double, now: Double, jitter: Duration = .zero) throws -> ScheduledWork {
        var schedule = Schedule(at: try CalendarEvent(at), kind: "fetch")
        schedule.jitter = jitter
        return ScheduledWork(schedule, of: Self.mail, last: instant(last), now: instant(now))
    }

    @Test func missedWorkIsDueAtOnceAndOnce() throws {
        var work = try work("*-*-* *:00:00 UTC", last: 100.5, now: 110.25)
        #expect(work.due == instant(101))
        work.begin(Self.mail, now: instant(110.25))
        #expect(work.due == instant(111))
    }

    @Test func jitterIsStableAndDelaysOnlyItsOwnWork() throws {
        let first = try work("*-*-* *:00:00 UTC", last: 100.5, now: 100.5, jitter: .seconds(600))
        let second = try work("*-*-* *:00:00 UTC", last: 100.5, now: 101.001, jitter: .seconds(600))
        let due = try #require(first.due)
        #expect(first.due == second.due)
        #expect(due >= instant(101) && due <= instant(101) + .seconds(600))
        var done = first
        done.begin(Self.mail, now: due)
        #expect(try #require(done.due) >= instant(102))
    }

    @Test func workIsDueAgainAfterALargeStepBackAndNotAfterASmallOne() throws {
        var work = try work("*-*-* *:00:00 UTC", last: 200, now: 200)
        work.update(Self.mail, now: instant(100.5))
        #expect(work.due == instant(101))
        work.begin(Self.mail, now: instant(101))
        work.update(Self.mail, now: Timestamp(microseconds: instant(101).microseconds - 500_000))
        #expect(work.due == instant(102))
    }

    @Test func clockThatBeginsBehindAndIsSetBringsBackNoWork() throws {
        var work = try work("*-*-* *:00:00 UTC", last: 200, now: 1.5)
        #expect(work.due == instant(2))
        work.update(Self.mail, now: instant(200.2))
        #expect(work.due == instant(201))
    }

    @Test func workThatComesDueWhileTheClockIsBehindIsDoneThoughTheClockIsSet() throws {
        var work = try work("*-*-* *:00:00 UTC", last: 200, now: 1.5)
        // The machine has slept.
        work.update(Self.mail, now: instant(2.25))
        #expect(work.due == instant(2))
        work.update(Self.mail, now: instant(0.5))
        #expect(work.due == instant(1))
    }

    @Test func eventInThePastIsNeverDue() throws {
        #expect(try work("1971-01-01 00:00:00 UTC", last: 20_000, now: 20_000).due == nil)
    }
}
