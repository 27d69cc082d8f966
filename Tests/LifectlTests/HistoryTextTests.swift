import ControlAPI
import Glibc
import LifecycleTypes
import Testing
import Varlink

@testable import lifectl

/// A change of state, at a time in milliseconds.
func step(
    _ time: Int64, _ id: String, _ from: AppState, _ to: AppState, _ reason: Reason = .focus, callback: Int64? = nil
) -> APIHistoryEvent {
    APIHistoryEvent(
        kind: .transition, id: id, timeUSec: time * 1000, from: from, to: to, reason: reason, pid: 7,
        answerUSec: callback)
}

@Suite struct HistoryTextTests {
    private let plain = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: 66_000_000)

    private func entry(_ json: String) throws -> HistoryEntry? {
        try JournalctlEntry(json: JSONValue(parsing: json)).history
    }

    @Test func anEntryOfTheJournalIsHistory() throws {
        let entry = try #require(
            try entry(
                """
                {"__REALTIME_TIMESTAMP":"1500","MESSAGE_ID":"367840df9a3849ab8fecdee164406af3","MESSAGE":"a: b",
                "PRIORITY":"6","LIFED_APP":"a","LIFED_FROM":"active","LIFED_TO":"inactive","LIFED_REASON":"home",
                "LIFED_CALLBACK_USEC":"42","LIFED_STATE_USEC":"43","LIFED_PID":"7","_CMDLINE":["x","y"],"_BINARY":[1,2,3],"LONG":null}
                """))
        #expect(
            entry.event
                == APIHistoryEvent(
                    kind: .transition, id: "a", timeUSec: 1500, from: .active, to: .inactive, reason: .home, pid: 7,
                    answerUSec: 42, stateUSec: 43))
        #expect(entry.priority == 6 && entry.app == "a")
    }

    @Test func theOtherKindsAreKnown() throws {
        func event(_ kind: APIHistoryKind, _ more: String) throws -> APIHistoryEvent? {
            try entry(
                #"{"__REALTIME_TIMESTAMP":"1","MESSAGE_ID":"\#(kind.messageID.rawValue)","LIFED_APP":"a",\#(more)}"#)?
                .event
        }
        #expect(try event(.callbackTimeout, #""LIFED_CALLBACK":"open-url""#)?.callback == "open-url")
        #expect(try event(.killed, #""MESSAGE":"m""#)?.kind == .killed)
        #expect(try event(.exited, #""LIFED_SIGNAL":"SIGSEGV""#)?.signal == 11)
        #expect(try event(.exited, #""LIFED_EXIT_CODE":"3""#)?.exitCode == 3)
        #expect(try event(.exited, #""LIFED_SIGNAL":"signal 40""#)?.signal == 40)
        #expect(try event(.launchFailed, #""LIFED_REASON":"no such file""#)?.error == "no such file")
        // A step whose states this program does not know is shown, and counts for nothing.
        #expect(try event(.transition, #""LIFED_FROM":"new","LIFED_TO":"active""#) == nil)
        #expect(try entry(#"{"MESSAGE":"no time"}"#) == nil)
    }

    /// With these `lifectl stats` would end in an overflow. The fuzzer's target for the journal was written for it.
    @Test func numbersThatAreNoTimesAreLeftOut() throws {
        for number in [String(Int64.min), "-1", "253402300800000000", String(Int64.max), "9223372036854775808"] {
            #expect(try entry(#"{"__REALTIME_TIMESTAMP":"\#(number)"}"#) == nil)
            let kind = MessageID.transition.rawValue
            let step = try entry(
                #"{"__REALTIME_TIMESTAMP":"1","MESSAGE_ID":"\#(kind)","LIFED_APP":"a","LIFED_FROM":"active","#
                    + #""LIFED_TO":"inactive","LIFED_CALLBACK_USEC":"\#(number)"}"#)
            #expect(step?.event != nil && step?.event?.callback == nil)
        }
    }

    @Test func journalIsQueriedForTheNeededEntries() {
        let source = JournalSource(
            users: [0, 7], query: HistoryQuery(app: "a b", since: 2_500_000, lines: 3, follows: true))
        let command = source.command
        #expect(command.first == "journalctl")
        #expect(command.suffix(4) == ["SYSLOG_IDENTIFIER=lifed", "_UID=0", "_UID=7", "LIFED_APP=a b"])
        for word in ["--since=@2", "--lines=3", "--follow", "--priority=info"] { #expect(command.contains(word)) }
    }

    @Test func onlyEntriesOfTheDaemonsUserCount() {
        #expect(JournalSource.users(.system) == [0])
        #expect(JournalSource.users(.user) == [geteuid()])
        #expect(JournalSource.users(.path("/nonexistent")) == [geteuid()])
        #expect(Set(JournalSource.users(.automatic)) == [0, geteuid()])
        // Where one has answered, its socket says whose it is, however it was found.
        var status = DoctorTests.status
        status.socket = "/"
        #expect(JournalSource.users(.automatic, of: status) == [0])
    }

    @Test func refusalOfTheJournalIsReported() {
        let hint = ["Hint: You are currently not seeing messages from other users and the system."]
        func status(_ code: Int32, _ complaints: [String], isEmpty: Bool) -> ExitCode? {
            JournalSource.judge(code, complaints, isEmpty: isEmpty)?.status
        }
        #expect(status(0, hint, isEmpty: true) == .notPermitted)
        #expect(status(0, hint, isEmpty: false) == nil)
        #expect(
            status(1, ["No journal files were opened due to insufficient permissions."], isEmpty: true) == .notPermitted
        )
        #expect(status(1, ["No journal files were found."], isEmpty: true) == nil)
        #expect(status(1, ["Failed to open: Input/output error"], isEmpty: true) == .failed)
        #expect(status(0, [], isEmpty: true) == nil)
    }

    @Test func lineHasTimeAndEvent() {
        let line = plain.history(HistoryEntry(step(65_000, "a", .active, .inactive, .home, callback: 1234)))
        #expect(line.hasSuffix("a: active → inactive (home, answered after 1.2 ms)"))
        #expect(!plain.history(HistoryEntry(step(65_000, "a", .active, .inactive)), withApp: false).contains("a:"))
        let exit = APIHistoryEvent(kind: .exited, id: "a\u{1b}", timeUSec: 0, reason: .crash, signal: 11)
        #expect(plain.history(HistoryEntry(exit)).hasSuffix("a\\u{1b} was ended by SIGSEGV (crash)"))
    }

    @Test func aChildsLinesAreRead() throws {
        let child = try ChildProcess(["sh", "-c", "echo one; echo; printf two; echo no >&2; exit 3"])
        var lines: [String] = []
        while let line = child.nextLine() { lines.append(String(decoding: line, as: UTF8.self)) }
        #expect(lines == ["one", "", "two"])
        let (status, complaints) = child.finish()
        #expect(status == 3 && complaints == ["no"])
        #expect(throws: ChildProcess.CannotStart.self) {
            _ = try ChildProcess(["/nonexistent/program"])
        }
    }
}

@Suite struct TimeScaleTests {
    @Test(arguments: [
        (Int64(1), "??:??:??    "), (2, "??-?? ??:??   "), (1000, "????-??-??   "),
    ])
    func labelsHaveTheDayWhereTheScaleIsLonger(_ days: Int64, _ shape: String) {
        let scale = TimeScale(start: 0, end: days * 86_400_000_000, columns: 60)
        let digits = scale.labels.prefix(shape.count).map { $0.isNumber ? "?" : $0 }
        #expect(String(digits).hasPrefix(shape))
        #expect(scale.labels.count <= 60)
    }
}

@Suite struct NewerEventTests {
    private let known = [step(1, "a", .inactive, .active), step(2, "a", .active, .inactive)]

    @Test func eventsBehindTheLastKnownOneAreNewer() {
        let added = step(3, "a", .inactive, .background)
        #expect((known + [added]).newer(than: known) == [added])
        #expect(Array((known + [added]).suffix(2)).newer(than: known) == [added])
        #expect(known.newer(than: []) == known[...] && known.newer(than: known).isEmpty)
        // The last known one is forgotten.
        #expect([added].newer(than: known) == [added])
    }

    @Test func eventsAreKnownAfterTheClockWasSet() {
        let added = step(-7, "a", .inactive, .background)
        let moved = [step(-9, "a", .inactive, .active), step(-8, "a", .active, .inactive)]
        #expect((moved + [added]).newer(than: known) == [added])
    }
}

@Suite struct TimeArgumentTests {
    @Test(arguments: [
        ("10min", Int64(600)), ("1h30min", 5400), ("-2 h", 7200), ("3 days ago", 259_200), ("5s", 5), ("1w", 604_800),
        ("now", 0),
    ])
    func howLongAgo(_ text: String, _ seconds: Int64) {
        #expect(TimeArgument(argument: text)?.meaning == .ago(seconds * 1_000_000))
    }

    @Test func datesAndTimesOfDay() {
        #expect(TimeArgument(argument: "@5")?.microseconds(now: 0) == 5_000_000)
        #expect(TimeArgument(argument: "@253402300799")?.microseconds(now: 0) == 253_402_300_799_000_000)
        // Before the epoch where the time zone is east of Greenwich.
        #expect(TimeArgument(argument: "1970-01-01") != nil)
        #expect(
            TimeArgument(argument: "2026-11-22 12:30:05")?.meaning
                == .local(year: 2026, month: 11, day: 22, seconds: 45_005))
        #expect(
            TimeArgument(argument: "2026-11-22T12:30")?.meaning
                == .local(year: 2026, month: 11, day: 22, seconds: 45_000))
        let now = TimeArgument(argument: "2026-11-22 12:00")?.microseconds(now: 0) ?? 0
        #expect(TimeArgument(argument: "11:00")?.microseconds(now: now) == now - 3_600_000_000)
        #expect(TimeArgument(argument: "today")?.microseconds(now: now) == now - 43_200_000_000)
        #expect(TimeArgument(argument: "2028-02-29") != nil)
        // A time of day that is not yet is that of the day before.
        #expect(TimeArgument(argument: "13:00")?.microseconds(now: now) == now - 82_800_000_000)
    }

    @Test(arguments: [
        "", "soon", "25:00", "12:60", "2026-13-01", "10", "10 lightyears", "2026-11-22 x",
        "2026-02-30", "2027-02-29 12:00", "2026-04-31", "-", "99999999999d",
        // No time from 1970 to 9999: with these, sums overflow.
        String(repeating: "1000000w", count: 16), "1000000w", "60000w", "@-1", "@-9223372036854", "@253402300800",
        "@9223372036854775807",
    ])
    func textThatIsNoTimeIsRefused(_ text: String) {
        #expect(TimeArgument(argument: text) == nil)
    }
}
