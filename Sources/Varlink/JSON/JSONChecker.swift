/// Names of objects. A call has few: they need no memory of the heap.
private struct JSONNames {
    private var first: InlineArray<8, Range<Int>> = .init(repeating: 0..<0)
    private var others: [Range<Int>] = []
    private(set) var count = 0

    subscript(index: Int) -> Range<Int> { index < first.count ? first[index] : others[index - first.count] }

    mutating func append(_ name: Range<Int>) {
        if count < first.count { first[count] = name } else { others.append(name) }
        count += 1
    }

    mutating func remove(from index: Int) {
        count = index
        let rest = max(index - first.count, 0)
        if others.count > rest { others.removeSubrange(rest...) }
    }
}

/// The check of a JSON text, in one pass. Errors have no path.
struct JSONChecker {
    private let depth: Int
    private var position = 0
    /// The contents of the names of all objects that are not at their end.
    private var names = JSONNames()

    /// The number of names up to which each is compared with each.
    private static let fewNames = 16

    init(depth: Int) {
        self.depth = depth
    }

    /// Checks a text.
    ///
    /// - Returns: The range of the value, without white space around it.
    mutating func check(_ bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        let start = bytes.endOfSpace(from: 0)
        position = start
        try checkValue(bytes, 0)
        let end = position
        position = bytes.endOfSpace(from: end)
        guard position == bytes.count else { throw unexpected(bytes) }
        return start..<end
    }

    private mutating func checkValue(_ bytes: Span<UInt8>, _ level: Int) throws(JSONError) {
        guard position < bytes.count else { throw unexpected(bytes) }
        switch bytes[position] {
        case "\"": _ = try checkString(bytes)
        case "{": try checkObject(bytes, level + 1)
        case "[": try checkArray(bytes, level + 1)
        case "t": try checkWord("true", bytes)
        case "f": try checkWord("false", bytes)
        case "n": try checkWord("null", bytes)
        default: try checkNumber(bytes)
        }
    }

    private func unexpected(_ bytes: Span<UInt8>) -> JSONError {
        JSONError(position < bytes.count ? .unexpectedByte : .unexpectedEnd, at: position)
    }

    /// Moves behind a byte if it is the next one.
    private mutating func take(_ byte: Unicode.Scalar, _ bytes: Span<UInt8>) -> Bool {
        guard position < bytes.count, byte ~= bytes[position] else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar, _ bytes: Span<UInt8>) throws(JSONError) {
        guard take(byte, bytes) else { throw unexpected(bytes) }
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        position = bytes.endOfSpace(from: position)
    }

    private mutating func checkWord(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            try unsafe expect(Unicode.Scalar(word.utf8Start[index]), bytes)
        }
    }
}

// MARK: - Objects and arrays

extension JSONChecker {
    private mutating func checkArray(_ bytes: Span<UInt8>, _ level: Int) throws(JSONError) {
        try enter(bytes, level)
        if take("]", bytes) { return }
        repeat {
            skipSpace(bytes)
            try checkValue(bytes, level)
            skipSpace(bytes)
        } while take(",", bytes)
        try expect("]", bytes)
    }

    private mutating func checkObject(_ bytes: Span<UInt8>, _ level: Int) throws(JSONError) {
        try enter(bytes, level)
        if take("}", bytes) { return }
        let first = names.count
        var hasEscapes = false
        repeat {
            skipSpace(bytes)
            if try checkName(bytes, first) { hasEscapes = true }
            skipSpace(bytes)
            try expect(":", bytes)
            skipSpace(bytes)
            try checkValue(bytes, level)
            skipSpace(bytes)
        } while take(",", bytes)
        try expect("}", bytes)
        if hasEscapes || names.count - first > Self.fewNames { try compareNames(bytes, first) }
        names.remove(from: first)
    }

    private mutating func enter(_ bytes: Span<UInt8>, _ level: Int) throws(JSONError) {
        guard level <= depth else { throw JSONError(.tooDeep, at: position) }
        position += 1
        skipSpace(bytes)
    }

    /// Checks a name, and whether it is the same as one of the first names of its object.
    ///
    /// - Returns: True if the name has escape sequences.
    private mutating func checkName(_ bytes: Span<UInt8>, _ first: Int) throws(JSONError) -> Bool {
        let start = position
        guard start < bytes.count, "\"" ~= bytes[start] else { throw unexpected(bytes) }
        let hasEscapes = try checkString(bytes)
        let name = start + 1..<position - 1
        for index in first..<min(names.count, first + Self.fewNames) where bytes.areEqual(names[index], name) {
            throw JSONError(.duplicateName, at: start)
        }
        names.append(name)
        return hasEscapes
    }

    /// Compares the names of an object without their escape sequences, in a time that many names do not square.
    private func compareNames(_ bytes: Span<UInt8>, _ first: Int) throws(JSONError) {
        var text: [UInt8] = []
        var entries: [(name: Range<Int>, position: Int)] = []
        for index in first..<names.count {
            let (name, start) = (names[index], text.count)
            bytes.appendUnescaped(name, to: &text)
            entries.append((start..<text.count, name.lowerBound - 1))
        }
        entries.sort { one, other in
            if one.name.count != other.name.count { return one.name.count < other.name.count }
            for (left, right) in zip(one.name, other.name) where text[left] != text[right] {
                return text[left] < text[right]
            }
            return one.position < other.position
        }
        var duplicate: Int?
        for (one, other) in zip(entries, entries.dropFirst()) where text.span.areEqual(one.name, other.name) {
            duplicate = min(duplicate ?? other.position, other.position)
        }
        if let duplicate { throw JSONError(.duplicateName, at: duplicate) }
    }
}

extension Span<UInt8> {
    fileprivate func areEqual(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count else { return false }
        for (left, right) in zip(one, other) where self[left] != self[right] { return false }
        return true
    }
}

extension Span<UInt8> {
    /// Returns the position of the next byte of a string that is not one character by itself.
    fileprivate func endOfPlainText(from start: Int) -> Int {
        var position = start
        while position < count {
            let byte = self[position]
            guard 0x20..<0x80 ~= byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
            position += 1
        }
        return position
    }
}

// MARK: - Strings and numbers

extension JSONChecker {
    /// Checks a string.
    ///
    /// - Returns: True if it has escape sequences.
    private mutating func checkString(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        var hasEscapes = false
        position += 1
        while true {
            position = bytes.endOfPlainText(from: position)
            guard position < bytes.count else { throw unexpected(bytes) }
            switch bytes[position] {
            case "\"":
                position += 1
                return hasEscapes
            case "\\":
                hasEscapes = true
                try checkEscape(bytes)
            case 0x80...: try checkSequence(bytes)
            default: throw unexpected(bytes)
            }
        }
    }

    private mutating func checkEscape(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        guard start + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        switch bytes[start + 1] {
        case "\"", "\\", "/", "b", "f", "n", "r", "t": position = start + 2
        case "u":
            guard let unit = bytes.hexadecimal(at: start + 2) else { throw JSONError(.invalidEscape, at: start) }
            position = start + 6
            guard 0xd800..<0xe000 ~= unit else { return }
            guard unit < 0xdc00, take("\\", bytes), take("u", bytes), let low = bytes.hexadecimal(at: position),
                0xdc00..<0xe000 ~= low
            else { throw JSONError(.loneSurrogate, at: start) }
            position = start + 12
        default: throw JSONError(.invalidEscape, at: start)
        }
    }

    /// Checks a sequence of two to four bytes in UTF-8 (RFC 3629, section 4).
    private mutating func checkSequence(_ bytes: Span<UInt8>) throws(JSONError) {
        let (length, second): (Int, ClosedRange<UInt8>)
        switch bytes[position] {
        case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        default: throw JSONError(.invalidUTF8, at: position)
        }
        guard position + length <= bytes.count, second ~= bytes[position + 1] else {
            throw JSONError(.invalidUTF8, at: position)
        }
        for index in position + 2..<position + length where !(0x80...0xbf ~= bytes[index]) {
            throw JSONError(.invalidUTF8, at: position)
        }
        position += length
    }

    private mutating func checkNumber(_ bytes: Span<UInt8>) throws(JSONError) {
        _ = take("-", bytes)
        if !take("0", bytes) { try checkDigits(bytes) }
        if take(".", bytes) { try checkDigits(bytes) }
        if take("e", bytes) || take("E", bytes) {
            if !take("+", bytes) { _ = take("-", bytes) }
            try checkDigits(bytes)
        }
    }

    private mutating func checkDigits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        while position < bytes.count, 0x30...0x39 ~= bytes[position] { position += 1 }
        guard position > start else { throw unexpected(bytes) }
    }
}
