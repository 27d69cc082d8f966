import LifecycleCore
import Processes
import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct ConsoleTests {
    private func line(_ message: String, _ fields: (name: String, value: String)...) -> String {
        String(decoding: Console.line(of: LogEntry(message: message, fields: fields)), as: UTF8.self)
    }

    private func line(of transition: Transition, pid: ProcessID?) -> String {
        let journal = RecordingJournal()
        journal.write(transition, pid: pid, member: nil)
        return journal.entries.map { String(decoding: Console.line(of: $0), as: UTF8.self) }.joined()
    }

    @Test func controlsAndDirectionMarksBeyondASCIIBecomeSpaces() {
        let line = line("a\u{9B}b\u{85}c", ("F", "d\u{202E}e\u{2028}f\u{E9}"))
        let scalars = line.dropLast().unicodeScalars
        #expect(scalars.contains("\u{E9}"))
        #expect(!scalars.contains { [.control, .format, .lineSeparator].contains($0.properties.generalCategory) })
    }

    @Test func fieldsFollowTheMessage() {
        #expect(
            line("a: active → inactive", ("LIFED_APP", "a"), ("LIFED_REASON", "focus"))
                == "lifed: a: active → inactive LIFED_APP=a LIFED_REASON=focus\n")
    }

    @Test(arguments: ["", "two words", "a \"word\"", "ä", "tab\tin between"])
    func valueThatIsNotPlainIsQuoted(_ value: String) {
        #expect(line("m", ("F", value)) == "lifed: m F=\(value.debugDescription)\n")
    }

    @Test(arguments: ["a\nb", "a\rb", "a\u{1B}b", "a\u{7F}b", "a\u{0}b"])
    func controlsInAMessageBecomeSpaces(_ message: String) {
        #expect(line(message) == "lifed: a b\n")
    }

    @Test func lineIsLimitedToPIPE_BUF() {
        #expect(line(String(repeating: "x", count: 10_000)).utf8.count == 4096)
        let isCutInACharacter = line("x", ("F", String(repeating: "a", count: 5_000)))
        #expect(isCutInACharacter.utf8.count == 4096 && isCutInACharacter.hasSuffix("a\n"))
    }

    @Test func transitionHasItsMessageAndAllFields() {
        let transition = Transition(
            app: AppID("org.example.Clock"), from: .background, to: .suspended, reason: .idle,
            instant: Instant(microseconds: 5_000_012), since: Instant(microseconds: 5_000_000), answerTime: nil)
        #expect(
            line(of: transition, pid: 71)
                == "lifed: org.example.Clock: background → suspended (idle) LIFED_APP=org.example.Clock LIFED_PID=71 "
                + "LIFED_FROM=background LIFED_TO=suspended LIFED_REASON=idle LIFED_STATE_USEC=12\n")
        let answered = Transition(
            app: AppID("a"), from: .active, to: .inactive, reason: .focus, instant: Instant(microseconds: 0),
            since: Instant(microseconds: 0), answerTime: .microseconds(1_234))
        #expect(line(of: answered, pid: nil).hasSuffix("LIFED_STATE_USEC=0 LIFED_CALLBACK_USEC=1234\n"))
    }
}
