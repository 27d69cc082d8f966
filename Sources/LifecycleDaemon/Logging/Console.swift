import Glibc

/// Standard error, written to only while it takes what is written.
struct Console {
    /// A pipe that is ready takes PIPE_BUF bytes without making the writer wait (pipe(7)).
    private static let longestLine = 4096

    /// - Returns: Whether it was written.
    func write(_ entry: LogEntry) -> Bool {
        let line = Self.line(of: entry)
        var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { return false }
        return unsafe Glibc.write(STDERR_FILENO, line, line.count) == line.count
    }

    /// One line, whatever the texts contain. Put together from bytes: it was a third of what a change of focus cost.
    static func line(of entry: LogEntry) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line += "lifed: ".utf8
        line += entry.message.utf8
        for (name, value) in entry.fields {
            line.append(UInt8(ascii: " "))
            line += name.utf8
            line.append(UInt8(ascii: "="))
            if value.isPlain { line += value.utf8 } else { line += value.debugDescription.utf8 }
        }
        if line.contains(where: { $0 >= 0x80 }) { line = printable(line) }
        if line.count >= longestLine { line.removeLast(line.count - longestLine + 1) }
        for index in line.indices where line[index] < UInt8(ascii: " ") || line[index] == 0x7F {
            line[index] = UInt8(ascii: " ")
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Returns the text with a space for each scalar beyond ASCII on which a terminal acts: C1 controls, direction marks.
    private nonisolated static func printable(_ line: [UInt8]) -> [UInt8] {
        let text = String(decoding: line, as: UTF8.self)
        // As a rule there is an arrow and nothing else: no copy for that.
        guard text.unicodeScalars.contains(where: { commandsTerminal($0) }) else { return line }
        return Array(String(String.UnicodeScalarView(text.unicodeScalars.map { commandsTerminal($0) ? " " : $0 })).utf8)
    }

    private nonisolated static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x80 else { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension String {
    fileprivate var isPlain: Bool {
        !isEmpty && utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }
}
