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
    mutating func append(_ entry: borrowing JournalEntry) -> Int {
        let start = lines.count
        Self.append(entry, to: &lines)
        guard lines.count > Self.writeLimit, start > 0 else {
            count += 1
            return 0
        }
        let line = lines[start...]
        lines.removeLast(lines.count - start)
        let refused = flush()
        lines += line
        count = 1
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

    /// Appends the entry as one line of at most PIPE_BUF bytes.
    static func append(_ entry: borrowing JournalEntry, to lines: inout [UInt8]) {
        let start = lines.count
        entry.withBytes { append(entry, $0, to: &lines) }
        if lines.count - start >= writeLimit { lines.removeLast(lines.count - start - writeLimit + 1) }
        lines.append(UInt8(ascii: "\n"))
    }

    private static func append(_ entry: borrowing JournalEntry, _ bytes: Span<UInt8>, to lines: inout [UInt8]) {
        var message = 0..<0
        var isPlain = true
        entry.forEachField { field, value, isKnownPlain in
            if field.lowerBound == 0 {
                message = value
            } else {
                isPlain = isPlain && (isKnownPlain || Self.isPlain(bytes.extracting(value)))
            }
        }
        append("lifed: ", to: &lines)
        if isPlain, isPrintable(bytes.extracting(message)) {
            // At once, without the name of the message, and the last space.
            append(bytes.extracting(message.lowerBound..<bytes.count - 1), to: &lines)
        } else {
            appendMessage(bytes.extracting(message), to: &lines)
            entry.forEachField { field, value, _ in
                if field.lowerBound > 0 { appendField(bytes, field, value, to: &lines) }
            }
        }
    }

    /// Appends a field, its value in quotation marks if it needs them.
    private static func appendField(
        _ bytes: Span<UInt8>, _ field: Range<Int>, _ value: Range<Int>, to lines: inout [UInt8]
    ) {
        append(" ", to: &lines)
        if isPlain(bytes.extracting(value)) { return append(bytes.extracting(field), to: &lines) }
        append(bytes.extracting(field.lowerBound..<value.lowerBound), to: &lines)
        let text = text(bytes.extracting(value)).debugDescription.utf8
        appendMessage(text.span, to: &lines)
    }

    private static func isPlain(_ value: Span<UInt8>) -> Bool {
        for index in value.indices where !(0x21..<0x7F ~= value[index]) || value[index] == UInt8(ascii: "\"") {
            return false
        }
        return !value.isEmpty
    }

    /// Appends a text with a space for each scalar on which a terminal acts: controls, direction marks, line separators.
    private static func appendMessage(_ message: Span<UInt8>, to lines: inout [UInt8]) {
        if isPrintable(message) { return append(message, to: &lines) }
        for scalar in text(message).unicodeScalars {
            let utf8 = String(commandsTerminal(scalar) ? " " : scalar).utf8
            append(utf8.span, to: &lines)
        }
    }

    /// Returns whether a text has no such scalar. Most are ASCII alone, or have an arrow besides.
    private static func isPrintable(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            // The arrows from U+2180 to U+21BF.
            if byte == 0xE2, index + 2 < bytes.count, bytes[index + 1] == 0x86 {
                index += 3
                continue
            }
            guard 0x20..<0x7F ~= byte else { return false }
            index += 1
        }
        return true
    }

    private static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7F else { return scalar.value < 0x20 }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    // MARK: Bytes

    private static func text(_ bytes: Span<UInt8>) -> String {
        unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    private static func append(_ text: StaticString, to lines: inout [UInt8]) {
        unsafe lines.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func append(_ bytes: Span<UInt8>, to lines: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe lines.append(contentsOf: $0) }
    }
}
