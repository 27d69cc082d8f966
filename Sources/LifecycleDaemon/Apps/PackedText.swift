/// The words of a command in one array of bytes: an array of texts takes twice as much memory.
nonisolated struct PackedWords: Equatable, Sendable {
    /// The words with a separator behind each.
    private let bytes: [UInt8]

    /// A byte that UTF-8 does not have.
    private static let separator: UInt8 = 0xFF

    init(_ words: [String]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.reduce(0) { $0 + $1.utf8.count + 1 })
        for word in words {
            bytes += word.utf8
            bytes.append(Self.separator)
        }
        self.bytes = bytes
    }

    var all: [String] {
        var (words, start): ([String], Int) = ([], 0)
        for end in bytes.indices where bytes[end] == Self.separator {
            words.append(String(decoding: bytes[start..<end], as: UTF8.self))
            start = end + 1
        }
        return words
    }
}

/// A path, whose directory it may share with other paths.
nonisolated struct PackedPath: Equatable, Sendable {
    /// The path up to the last slash, that included.
    private var directory: String
    private let name: String

    init(_ path: String) {
        let start =
            path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex
        directory = String(decoding: path.utf8[..<start], as: UTF8.self)
        name = String(decoding: path.utf8[start...], as: UTF8.self)
    }

    var path: String { directory + name }

    mutating func shareDirectory(with other: PackedPath) {
        if directory == other.directory { directory = other.directory }
    }
}
