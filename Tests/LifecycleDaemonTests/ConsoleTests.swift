import Testing

@testable import LifecycleDaemon

@Suite @MainActor struct ConsoleTests {
    private func line(_ message: String, _ fields: (name: String, value: String)...) -> String {
        String(decoding: Console.line(of: LogEntry(message: message, fields: fields)), as: UTF8.self)
    }

    @Test func controlsAndDirectionMarksBeyondASCIIBecomeSpaces() {
        let line = Console.line(of: LogEntry(message: "a\u{9B}b\u{85}c", fields: [("F", "d\u{202E}e\u{2028}f\u{E9}")]))
        let scalars = String(decoding: line.dropLast(), as: UTF8.self).unicodeScalars
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
        #expect(Console.line(of: LogEntry(message: String(repeating: "x", count: 10_000))).count == 4096)
        #expect(
            Console.line(of: LogEntry(message: "x", fields: [("F", String(repeating: "ä", count: 5_000))])).count
                == 4096)
    }
}
