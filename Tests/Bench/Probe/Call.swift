/// A Varlink call, read in place. A string is the range between its quotes, with its escapes.
///
/// The bytes are passed along: nothing is copied or allocated. Of numbers and literals, only the characters are checked.
struct Call {
    struct Malformed: Error {}

    private(set) var method, id, program, notes: Range<Int>?
    private var position = 0

    init(_ bytes: Span<UInt8>) throws(Malformed) {
        try readObject(bytes, isParameters: false)
        guard peek(bytes) == nil else { throw Malformed() }
    }

    private mutating func readObject(_ bytes: Span<UInt8>, isParameters: Bool) throws(Malformed) {
        try expect("{", bytes)
        if accept("}", bytes) { return }
        repeat {
            let key = try key(bytes)
            if !isParameters, bytes.matches(key, "parameters") {
                try readObject(bytes, isParameters: true)
                continue
            }
            let string = try value(bytes)
            if !isParameters, bytes.matches(key, "method") { method = string }
            guard isParameters else { continue }
            if bytes.matches(key, "id") { id = string }
            if bytes.matches(key, "program") { program = string }
            if bytes.matches(key, "notes") { notes = string }
        } while accept(",", bytes)
        try expect("}", bytes)
    }

    /// Passes over a value, and returns the range of a string.
    private mutating func value(_ bytes: Span<UInt8>, depth: Int = 32) throws(Malformed) -> Range<Int>? {
        if peek(bytes) == UInt8(ascii: "\"") { return try string(bytes) }
        guard depth > 0 else { throw Malformed() }
        let isObject = accept("{", bytes)
        if isObject || accept("[", bytes) {
            let end: Unicode.Scalar = isObject ? "}" : "]"
            if accept(end, bytes) { return nil }
            repeat {
                if isObject { _ = try key(bytes) }
                _ = try value(bytes, depth: depth - 1)
            } while accept(",", bytes)
            try expect(end, bytes)
            return nil
        }
        let start = position
        while position < bytes.count, probe_is_scalar(bytes[position]) { position += 1 }
        guard position > start else { throw Malformed() }
        return nil
    }

    private mutating func key(_ bytes: Span<UInt8>) throws(Malformed) -> Range<Int> {
        let key = try string(bytes)
        try expect(":", bytes)
        return key
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(Malformed) -> Range<Int> {
        try expect("\"", bytes)
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count else { throw Malformed() }
        position += 1
        return start..<position - 1
    }

    private mutating func peek(_ bytes: Span<UInt8>) -> UInt8? {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func accept(_ character: Unicode.Scalar, _ bytes: Span<UInt8>) -> Bool {
        guard peek(bytes) == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar, _ bytes: Span<UInt8>) throws(Malformed) {
        guard accept(character, bytes) else { throw Malformed() }
    }
}
