import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct EntryLimiterTests {
    private let interval = EntryLimiter.interval
    private let burst = EntryLimiter.burst

    @Test func causeBeyondItsBurstIsSuppressedAndCounted() {
        var limiter = EntryLimiter()
        let admitted = (0..<100).count { _ in limiter.admits(.user(1000), size: 0, at: 5) }
        #expect(admitted == burst)
        #expect(limiter.nextReport == 5 + interval)
        let early = limiter.takeSuppressed(at: 4 + interval)
        let due = limiter.takeSuppressed(at: 5 + interval)
        #expect(early.isEmpty && due.map(\.count) == [100 - burst])
        #expect(limiter.nextReport == nil)
    }

    @Test func oneCauseDoesNotUseTheShareOfAnother() {
        var limiter = EntryLimiter()
        for _ in 0..<100 { _ = limiter.admits(.user(1000), size: 0, at: 0) }
        let isUserAdmitted = limiter.admits(.user(1001), size: 0, at: 0)
        let isAppAdmitted = limiter.admits(.app(AppID("1000")), size: 0, at: 0)
        #expect(isUserAdmitted && isAppAdmitted)
    }

    @Test func causeHasANewShareWhenItsWindowHasEnded() {
        var limiter = EntryLimiter()
        for _ in 0..<burst { _ = limiter.admits(.user(1000), size: 0, at: 0) }
        let isAdmittedBefore = limiter.admits(.user(1000), size: 0, at: interval - 1)
        let suppressed = limiter.takeSuppressed(at: interval)
        let isAdmittedAfter = limiter.admits(.user(1000), size: 0, at: interval)
        #expect(!isAdmittedBefore && suppressed.count == 1 && isAdmittedAfter)
    }

    @Test func causeHasAShareOfBytes() {
        var limiter = EntryLimiter()
        let large = EntryLimiter.byteLimit / 4
        let admitted = (0..<10).count { _ in limiter.admits(.apps(of: 1000), size: large, at: 0) }
        #expect(admitted == 4)
        let isOtherAdmitted = limiter.admits(.apps(of: 1001), size: large, at: 0)
        #expect(isOtherAdmitted)
        let suppressed = limiter.takeSuppressed(at: interval)
        #expect(suppressed.map(\.count) == [6])
    }

    @Test func causesBeyondTheLimitShareOneWindow() {
        var limiter = EntryLimiter()
        for user in 0..<UInt32(EntryLimiter.causeLimit) { _ = limiter.admits(.user(user), size: 0, at: 0) }
        let admitted = (0..<100).count { limiter.admits(.user(1_000_000 + UInt32($0)), size: 0, at: 0) }
        #expect(admitted == burst)
        let suppressed = limiter.takeSuppressed(at: interval)
        #expect(suppressed.map(\.count) == [100 - burst])
    }
}

@Suite struct EntryCauseTests {
    /// Counts the entries that the limiter admits.
    private final class LimitedJournal: JournalSink {
        private var limiter = EntryLimiter()
        private(set) var written = 0

        func write(_ entry: LogEntry) { written += 1 }

        func write(_ entry: LogEntry, causedBy cause: EntryCause) {
            if limiter.admits(cause, size: entry.size, at: 0) { written += 1 }
        }
    }

    @Test(arguments: [
        Decision.stopRenewed(AppID("clock")), .stoppedByOther(AppID("clock")), .signalPending(AppID("clock")),
        .stopIncomplete(AppID("clock"), SystemFailure(StopFailure.pending([]))),
    ])
    func signalsOfOtherProgramsCauseALimitedNumberOfEntries(decision: Decision) {
        let journal = LimitedJournal()
        for _ in 0..<100 { journal.write(decision, pid: nil, member: nil) }
        #expect(journal.written == EntryLimiter.burst)
    }

    private static let step = Transition(
        app: AppID("clock"), from: .inactive, to: .active, reason: .focus, instant: Instant(microseconds: 2),
        since: Instant(microseconds: 1), answerTime: nil)

    @Test func appsOfAMemberCauseALimitedNumberOfEntries() {
        let journal = LimitedJournal()
        for _ in 0..<1000 { journal.write(Self.step, pid: 1, member: 1000) }
        for _ in 0..<1000 { journal.write(.interruptionBegan("call"), pid: nil, member: 1000) }
        #expect(journal.written == EntryLimiter.burstOfApps)
        for _ in 0..<10 { journal.write(Self.step, pid: 1, member: 1001) }
        #expect(journal.written == EntryLimiter.burstOfApps + 10)
    }

    @Test func appsOfTheDaemonsUserHaveAllEntries() {
        let journal = LimitedJournal()
        for _ in 0..<1000 { journal.write(Self.step, pid: 1, member: nil) }
        #expect(journal.written == 1000)
    }

    @Test func failureOfALaunchIsToldInAFewWords() {
        let journal = RecordingJournal()
        let path = String(repeating: "x", count: 100_000)
        journal.write(
            .launchFailed(AppID("clock"), SystemFailure(StartFailure.preparation(DaemonError(.launch, path)))),
            pid: nil, member: 1000)
        #expect(journal.entries.count == 1 && journal.entries[0].size < 2048)
    }

    @Test func mistakesOfAnAppCauseALimitedNumberOfEntries() {
        let journal = LimitedJournal()
        for _ in 0..<100 { journal.write(mistake: "no such verb", count: 1, by: AppID("clock"), member: nil) }
        #expect(journal.written == EntryLimiter.burst)
    }
}
