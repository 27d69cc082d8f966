import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct EntryLimiterTests {
    private let window = EntryLimiter.window
    private let burst = EntryLimiter.burst

    @Test func causeBeyondItsBurstIsSuppressedAndCounted() {
        var limiter = EntryLimiter()
        let admitted = (0..<100).count { _ in limiter.admits(.user(1000), at: 5) }
        #expect(admitted == burst)
        #expect(limiter.nextReport == 5 + window)
        let early = limiter.takeSuppressed(at: 4 + window)
        let due = limiter.takeSuppressed(at: 5 + window)
        #expect(early.isEmpty && due.map(\.count) == [100 - burst])
        #expect(limiter.nextReport == nil)
    }

    @Test func oneCauseDoesNotUseTheShareOfAnother() {
        var limiter = EntryLimiter()
        for _ in 0..<100 { _ = limiter.admits(.user(1000), at: 0) }
        let isUserAdmitted = limiter.admits(.user(1001), at: 0)
        let isAppAdmitted = limiter.admits(.app(AppID("1000")), at: 0)
        #expect(isUserAdmitted && isAppAdmitted)
    }

    @Test func causeHasANewShareWhenItsWindowHasEnded() {
        var limiter = EntryLimiter()
        for _ in 0..<burst { _ = limiter.admits(.user(1000), at: 0) }
        let isAdmittedBefore = limiter.admits(.user(1000), at: window - 1)
        let suppressed = limiter.takeSuppressed(at: window)
        let isAdmittedAfter = limiter.admits(.user(1000), at: window)
        #expect(!isAdmittedBefore && suppressed.count == 1 && isAdmittedAfter)
    }

    @Test func causesBeyondTheLimitShareOneWindow() {
        var limiter = EntryLimiter()
        for user in 0..<UInt32(EntryLimiter.causeLimit) { _ = limiter.admits(.user(user), at: 0) }
        let admitted = (0..<100).count { limiter.admits(.user(1_000_000 + UInt32($0)), at: 0) }
        #expect(admitted == burst)
        let suppressed = limiter.takeSuppressed(at: window)
        #expect(suppressed.map(\.count) == [100 - burst])
    }
}

@Suite struct EntryCauseTests {
    /// Counts the entries that the limiter admits.
    private final class LimitedJournal: JournalSink {
        private var limiter = EntryLimiter()
        private(set) var written = 0

        func write(_ subject: LogSubject) { written += 1 }

        func write(_ entry: LogEntry, causedBy cause: EntryCause) { if limiter.admits(cause, at: 0) { written += 1 } }
    }

    @Test(arguments: [
        Decision.stopRenewed(AppID("clock")), .stoppedByOther(AppID("clock")), .stopIncomplete(AppID("clock"), "4711"),
    ])
    func signalsOfOtherProgramsCauseALimitedNumberOfEntries(decision: Decision) {
        let journal = LimitedJournal()
        let log = LifecycleLog(log: journal)
        for _ in 0..<100 { log.write(decision, pid: nil) }
        #expect(journal.written == EntryLimiter.burst)
    }
}
