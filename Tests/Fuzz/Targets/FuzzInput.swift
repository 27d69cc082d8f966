/// The bytes of an input, taken from the foreground for decisions and for texts.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    /// A number below a bound; 0 at the end.
    mutating func number(below bound: Int) -> Int {
        Int(rest.popFirst() ?? 0) % bound
    }

    /// Up to the next line feed, as text in which what is not UTF-8 is replaced.
    mutating func text() -> String {
        String(decoding: bytesOfLine(), as: UTF8.self)
    }

    /// Up to the next line feed.
    mutating func bytesOfLine() -> ArraySlice<UInt8> {
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        return line
    }

    /// The rest, cut in two where a byte says; in one piece where that is its beginning.
    mutating func pieces() -> [ArraySlice<UInt8>] {
        let share = number(below: 256)
        let cut = rest.startIndex + rest.count * share / 256
        return cut == rest.startIndex ? [rest] : [rest[..<cut], rest[cut...]]
    }
}
