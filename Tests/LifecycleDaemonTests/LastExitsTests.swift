import Glibc
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct LastExitsTests {
    static let clock = AppID("clock")

    func exits(in state: String) -> LastExits {
        let directory = AppRecords.Directory(path: state, isSystem: false, log: RecordingJournal())
        return LastExits(records: AppRecords("exits", of: .exit, in: directory))
    }

    func exit(_ reason: Reason) -> ExitRecord {
        ExitRecord(state: .active, reason: reason, status: .signal(11), instant: Instant(microseconds: 7))
    }

    @Test func exitThatCallsForRestorationIsFoundByTheNextDaemon() throws {
        try withTemporaryDirectory { state in
            let first = exits(in: state)
            first.record(exit(.crash), of: Self.clock, at: 42_000_000)
            let second = exits(in: state)
            let found = try #require(second.recall(Self.clock))
            #expect(found.reason == .crash && found.state == .active && found.status == .signal(11))
            #expect(second.time(of: found, Self.clock) == 42_000_000)
            #expect(second.recall(Self.clock) == nil)
            second.record(exit(.terminate), of: Self.clock, at: 43_000_000)
            #expect(exits(in: state).recall(Self.clock) == nil)
        }
    }

    @Test func failedRestorationIsFoundByTheNextDaemon() throws {
        try withTemporaryDirectory { state in
            var failed = exit(.crash)
            failed.restoreFailure = .restoring
            exits(in: state).record(failed, of: Self.clock, at: 42_000_000)
            #expect(exits(in: state).recall(Self.clock)?.restoreFailure == .restoring)
            exits(in: state).record(exit(.crash), of: Self.clock, at: 43_000_000)
            #expect(exits(in: state).recall(Self.clock)?.restoreFailure == nil)
        }
    }

    @Test func stateThatWasSetAsideIsNotSetAsideAgainByTheNextDaemon() throws {
        try withTemporaryDirectory { state in
            var failed = exit(.crash)
            failed.restoreFailure = .restoring
            exits(in: state).record(failed, of: Self.clock, at: 42_000_000)
            exits(in: state).noteStateSetAside(of: Self.clock)
            let next = exits(in: state)
            let found = try #require(next.recall(Self.clock))
            #expect(found.restoreFailure == .setAside && found.reason == .crash)
            #expect(next.time(of: found, Self.clock) == 42_000_000)
        }
    }

    @Test func listedRecordsAreRecalledLikeOthers() throws {
        try withTemporaryDirectory { state in
            let (none, later) = (AppID("none"), AppID("later"))
            exits(in: state).withList {}
            exits(in: state).record(exit(.crash), of: Self.clock, at: 42_000_000)
            let second = exits(in: state)
            second.withList {
                #expect(second.recall(Self.clock)?.reason == .crash)
                #expect(second.recall(none) == nil)
            }
            exits(in: state).record(exit(.crash), of: later, at: 42_000_000)
            #expect(second.recall(later)?.reason == .crash)
        }
    }

    @Test func malformedRecordIsIgnored() throws {
        try withTemporaryDirectory { state in
            _ = unsafe mkdir(state + "/exits", 0o700)
            let record = SavedRecord(["exit": exit(.crash).text, "time": "421"])
            let whole = StateLine(StateName(.exit, Self.clock), record).bytes
            let cut = String(decoding: whole.dropLast(2), as: UTF8.self)
            for text in [
                "", "exit", "exit clock exit=1:active time=2\n", cut, "\u{0}\u{1}", "run clock exit=1 time=2\n",
            ] {
                let number = unsafe open(state + "/exits/clock", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
                #expect(FileReplacement.write(Array(text.utf8), to: number))
                close(number)
                #expect(exits(in: state).recall(Self.clock) == nil)
            }
        }
    }

    @Test func unwritableStateDirectoryIsNoStateCondition() {
        let exits = exits(in: "/proc/nowhere")
        exits.record(exit(.crash), of: Self.clock, at: 1)
        exits.forget(Self.clock)
    }
}
