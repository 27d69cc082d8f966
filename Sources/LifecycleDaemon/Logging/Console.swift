import CLinux
import Glibc
import Systemd

/// Standard error, written to only while it takes what is written. Several lines are written together.
nonisolated struct Console {
    /// A pipe that is ready takes PIPE_BUF bytes without making the writer wait (pipe(7)).
    private static let writeLimit = 4096

    private var lines: [UInt8] = []
    private var count = 0

    /// Appends an entry as one line, whatever its texts contain.
    ///
    /// - Returns: The number of lines that were refused meanwhile.
    mutating func append(_ entry: LogEntry) -> Int {
        let line = Self.line(of: entry)
        let refused = lines.count + line.count > Self.writeLimit ? flush() : 0
        lines += line
        count += 1
        return refused
    }

    /// Writes the lines.
    ///
    /// - Returns: The number of lines that were refused.
    mutating func flush() -> Int {
        guard count > 0 else { return 0 }
        let refused = Self.write(lines) ? 0 : count
        lines.removeAll(keepingCapacity: true)
        count = 0
        return refused
    }

    private static func write(_ lines: [UInt8]) -> Bool {
        var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { return false }
        return unsafe Glibc.write(STDERR_FILENO, lines, lines.count) == lines.count
    }

    /// Returns the entry as one line of at most PIPE_BUF bytes.
    static func line(of entry: LogEntry) -> [UInt8] {
        let fields = entry.fields.map { name, value in
            " \(name)=" + (isPlain(value) ? value : printable(value.debugDescription))
        }
        let text = "lifed: " + printable(entry.message) + fields.joined()
        return text.utf8.prefix(writeLimit - 1) + [UInt8(ascii: "\n")]
    }

    /// Returns whether a value needs no quotation marks.
    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.allSatisfy { 0x21..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") }
    }

    /// Returns a text with a space for each scalar on which a terminal acts: controls, direction marks, line separators.
    private static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(commandsTerminal(scalar) ? " " : scalar) }
        return String(result)
    }

    private static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7F else { return scalar.value < 0x20 }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
