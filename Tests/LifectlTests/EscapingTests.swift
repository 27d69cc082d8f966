import ControlAPI
import FoundationEssentials
import Glibc
import LifecycleTypes
import TestSupport
import Testing
import Varlink

@testable import lifectl

/// Writes random texts into each format that lifectl writes, and reads them back with a decoder of the format.
///
/// The texts join delimiters with scalars that form one `Character` with what precedes them.
@Suite struct EscapingTests {
    private static let scalars: [Unicode.Scalar] =
        "'\"\\&<>;#$`|%{}=,-a \t\r\n\u{1B}\u{7F}".unicodeScalars + [
            "\u{301}", "\u{200D}", "\u{20DD}", "\u{FE0F}", "\u{85}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{2028}",
            "\u{FEFF}", "\u{FFFE}", "\u{10FFFF}", "\u{1F1E9}", "\u{E9}", "\u{1F600}",
        ]

    static let texts: [String] = {
        var generator = SeededGenerator(seed: 23)
        return (0..<4000).map { _ in
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                text.append(scalars.randomElement(using: &generator) ?? "a")
            }
            return String(text)
        }
    }()

    @Test func aShellReadsEachWordBackAsOneWord() throws {
        for start in stride(from: 0, to: Self.texts.count, by: 1000) {
            let words = Self.texts[start..<(start + 1000)]
            let line = "printf '%s\\0' " + words.map(Escaping.shell).joined(separator: " ") + " 2>&1"
            let output = try Self.output(of: line)
            #expect(output == words.flatMap { Array($0.utf8) + [0] })
        }
    }

    @Test func aPictureIsWellFormedAndReadsBackAsTheIDs() throws {
        for id in Self.texts {
            let events = [
                APIHistoryEvent(kind: .transition, id: id, timeUSec: 0, from: .active, to: .background, reason: .focus)
            ]
            let svg = TimelineDrawing(lanes: Lanes(events, start: 0, end: 1_000_000)).text
            let titles = try XMLText(svg).titles
            #expect(
                titles.contains { $0.unicodeScalars.elementsEqual(XMLText.shown(id).unicodeScalars) },
                "\(id.debugDescription)")
        }
    }

    @Test func aLabelReadsBackAsThePrintableID() throws {
        for id in Self.texts {
            let text = OpenMetrics(
                families: [MetricsDescribeReply(name: "org.lifed.uses", description: id, type: .gauge)],
                metrics: [MetricsListReply(name: "org.lifed.uses", value: .integer(1), object: id)]
            ).text
            let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            try #require(lines.count == 5, "\(id.debugDescription)")
            let sample = Array(lines[2])
            #expect(sample.starts(with: "lifed_uses{app=\"".utf8))
            let value = try Self.label(sample.dropFirst("lifed_uses{app=\"".utf8.count))
            #expect(value == Array(Self.printable(id).utf8), "\(id.debugDescription)")
            #expect(
                !text.unicodeScalars.contains { $0 != "\n" && Self.commandsTerminal($0) }, "\(id.debugDescription)")
        }
    }

    @Test func jsonReadsBackAndCannotCommandATerminal() throws {
        for text in Self.texts {
            let line = JSON.line([text: text])
            #expect(
                try JSONDecoder().decode([String: String].self, from: Data(line.utf8)).first?.value.utf8.elementsEqual(
                    text.utf8) == true)
            #expect(!line.dropLast().unicodeScalars.contains(where: Self.commandsTerminal), "\(text.debugDescription)")
        }
    }

    @Test func printedTextCannotCommandATerminal() {
        for text in Self.texts {
            #expect(Text.printableLines(text) == Self.printable(text, but: ["\n", "\t"]))
            #expect(!Text.printable(text).unicodeScalars.contains(where: Self.commandsTerminal))
        }
    }

    private static func printable(_ text: String, but kept: [Unicode.Scalar] = ["\n"]) -> String {
        text.unicodeScalars.map { kept.contains($0) ? String($0) : Text.printable(String($0)) }.joined()
    }

    private static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private struct Malformed: Error {}

    /// Reads a label's value up to its quotation mark, as OpenMetrics 1.0 escapes it.
    private static func label(_ bytes: ArraySlice<UInt8>) throws -> [UInt8] {
        var rest = bytes
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                guard Array(rest) == Array("} 1".utf8) else { throw Malformed() }
                return value
            case UInt8(ascii: "\\"):
                switch rest.popFirst() {
                case UInt8(ascii: "n"): value.append(UInt8(ascii: "\n"))
                case UInt8(ascii: "\\"): value.append(UInt8(ascii: "\\"))
                case UInt8(ascii: "\""): value.append(UInt8(ascii: "\""))
                default: throw Malformed()
                }
            default: value.append(byte)
            }
        }
        throw Malformed()
    }

    /// What sh(1) prints for a command line.
    private static func output(of line: String) throws -> [UInt8] {
        guard let stream = unsafe popen(line, "r") else { throw Malformed() }
        defer { unsafe pclose(stream) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, stream)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}

/// A strict reader of the part of XML that pictures use.
private struct XMLText {
    struct Malformed: Error { let at: Int }

    private(set) var titles: [String] = []

    /// What a picture shows of a text: printable, and without the two scalars of each plane that XML does not have.
    static func shown(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in Text.printable(text).unicodeScalars {
            result.append(scalar.value == 0xFFFE || scalar.value == 0xFFFF ? "\u{FFFD}" : scalar)
        }
        return String(result)
    }

    init(_ text: String) throws {
        var open: [String] = []
        var content = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        var index = 0
        while index < scalars.count {
            switch scalars[index] {
            case "<":
                var tag = String.UnicodeScalarView()
                var isQuoted = false
                index += 1
                while index < scalars.count, isQuoted || scalars[index] != ">" {
                    if scalars[index] == "\"" { isQuoted.toggle() }
                    guard scalars[index] != "<" else { throw Malformed(at: index) }
                    tag.append(scalars[index])
                    index += 1
                }
                guard index < scalars.count, let first = tag.first else { throw Malformed(at: index) }
                index += 1
                let name = String(tag.drop { $0 == "/" }.prefix { $0.properties.isAlphabetic })
                guard !name.isEmpty else { throw Malformed(at: index) }
                if first == "/" {
                    guard open.popLast() == name else { throw Malformed(at: index) }
                    if name == "title" { titles.append(String(content)) }
                } else if tag.last != "/" {
                    open.append(name)
                }
                content = String.UnicodeScalarView()
            case "&":
                let end = scalars[index...].prefix(7).firstIndex(of: ";")
                guard let end else { throw Malformed(at: index) }
                switch String(String.UnicodeScalarView(scalars[(index + 1)..<end])) {
                case "amp": content.append("&")
                case "lt": content.append("<")
                case "gt": content.append(">")
                case "quot": content.append("\"")
                default: throw Malformed(at: index)
                }
                index = end + 1
            case let scalar:
                let isCharacter =
                    scalar == "\n" || scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                guard isCharacter, scalar != ">" else { throw Malformed(at: index) }
                content.append(scalar)
                index += 1
            }
        }
        guard open.isEmpty else { throw Malformed(at: index) }
    }
}
