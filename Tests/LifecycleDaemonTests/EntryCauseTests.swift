import LifecycleCore
import Testing

@testable import LifecycleDaemon

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
