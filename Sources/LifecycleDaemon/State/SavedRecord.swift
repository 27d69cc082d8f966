import LifecycleCore
import Processes

/// One entry of the state file: named values, as text that an administrator can read. A name may come more than once.
///
/// It is kept as it is written, ` name=value name=value`, percent-encoded without spaces and line feeds. Unknown names are ignored, and a
/// missing or invalid value counts as the default.
nonisolated struct SavedRecord: Sendable, Equatable {
    /// The encoded values, each after a space.
    private(set) var bytes: [UInt8] = []

    /// Creates a record without values.
    init() {}

    /// Creates the record that was encoded as these bytes. Words without a name are ignored.
    init(encoded bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
}

// MARK: - Writing

nonisolated extension SavedRecord {
    /// Adds a value; nothing for nil. The name has small letters and hyphens.
    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        append(value)
    }

    /// Adds a number in decimal digits; nothing for nil.
    mutating func add(_ name: StaticString, _ number: UInt64?) { add(name, number.map { String($0) }) }

    private mutating func begin(_ name: StaticString) {
        bytes.append(UInt8(ascii: " "))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func append(_ value: String) {
        for byte in value.utf8 {
            if Self.isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.hexDigit(byte >> 4), Self.hexDigit(byte & 15)]
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: " ") && byte != UInt8(ascii: "%") && byte != 0x7F
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

// MARK: - Reading

nonisolated extension SavedRecord {
    /// A name and a value, by their places in the bytes.
    struct Word {
        fileprivate let name: Range<Int>
        fileprivate let value: Range<Int>
    }

    /// The words that have a name.
    struct Words: Sequence, IteratorProtocol {
        fileprivate let bytes: [UInt8]
        private var position = 0

        fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

        mutating func next() -> Word? {
            let bytes = bytes
            let text = bytes.span
            while position < text.count {
                let start = position
                var (end, separator): (Int, Int?) = (start, nil)
                while end < text.count, text[end] != UInt8(ascii: " ") {
                    if separator == nil, text[end] == UInt8(ascii: "=") { separator = end }
                    end += 1
                }
                position = end + 1
                if let separator { return Word(name: start..<separator, value: separator + 1..<end) }
            }
            return nil
        }
    }

    var words: Words { Words(bytes) }

    func isNamed(_ name: StaticString, _ word: Word) -> Bool {
        word.name.count == name.utf8CodeUnitCount && name.withUTF8Buffer { unsafe bytes[word.name].elementsEqual($0) }
    }

    /// Returns the bytes of a value.
    func value(of word: Word) -> ArraySlice<UInt8> {
        let value = bytes[word.value]
        guard value.contains(UInt8(ascii: "%")) else { return value }
        var bytes: ArraySlice<UInt8> = []
        var rest = value
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(number)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// The first value of the name.
    subscript(name: StaticString) -> String? {
        words.first { isNamed(name, $0) }.map { String(decoding: value(of: $0), as: UTF8.self) }
    }

    /// Returns every value of the name.
    func all(_ name: StaticString) -> [String] {
        words.filter { isNamed(name, $0) }.map { String(decoding: value(of: $0), as: UTF8.self) }
    }
}

/// A type whose saved record, as text, has one table for writing and reading.
protocol SavedTable {
    /// Writes the values, or reads them: the table of the type. A missing or invalid value keeps its default.
    ///
    /// - Parameter coder: The writer or the reader. The id of an app comes first, outside the table.
    mutating func code(with coder: inout some SavedCoder)
}

extension SavedTable {
    /// Returns the record of the values.
    ///
    /// - Parameter app: The app that the record is about; nil for none.
    func saved(_ app: AppID? = nil) -> SavedRecord {
        var (writer, values) = (RecordWriter(), self)
        _ = writer.item("id", app)
        values.code(with: &writer)
        return writer.record
    }

    /// Reads the values of a record.
    mutating func restore(_ record: SavedRecord) {
        var reader = RecordReader(record)
        code(with: &reader)
    }
}

// Without a valid value, the owner of these keeps its default.
nonisolated extension SavedCoder {
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item) {
        value = item(name, value) ?? value
    }

    mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: inout Word) {
        value = word(name, value) ?? value
    }

    /// Writes or reads the number of a user.
    mutating func user(_ name: StaticString, _ value: inout UInt32?) {
        value = number(name, value.map { UInt64($0) }).flatMap { UInt32(exactly: $0) }
    }
}

// MARK: - Values

nonisolated extension LaunchToken: SavedItem {
    static func code(_ item: LaunchToken?, with parts: inout some PartCoder & ~Copyable) -> LaunchToken? {
        parts.rest(item?.rawValue).flatMap { LaunchToken(rawValue: $0) }
    }
}

nonisolated extension ProcessIdentity: SavedItem {
    static func code(
        _ item: ProcessIdentity?, with parts: inout some PartCoder & ~Copyable
    ) -> ProcessIdentity? {
        guard let number = parts.number(item.map { UInt64($0.pid) }), let start = parts.number(item?.startTime),
            let pid = ProcessID(exactly: number), pid > 1
        else { return nil }
        return ProcessIdentity(pid: pid, startTime: start)
    }
}

nonisolated extension WaitStatus: SavedItem {
    /// Writes or reads the kernel's account of an end. The process has ended whatever the parts say.
    static func code(_ item: Self?, with parts: inout some PartCoder & ~Copyable) -> Self? {
        var (kind, value): (String?, Int32?)
        switch item {
        case .exited(let code): (kind, value) = ("code", code)
        case .killed(let signal, let dumpedCore): (kind, value) = (dumpedCore ? "core" : "signal", signal.rawValue)
        case .unknown, nil: kind = "unknown"
        }
        kind = parts.text(kind)
        if parts.isReading || value != nil { value = parts.rest(value.map { String($0) }).flatMap { Int32($0) } }
        switch (kind, value) {
        case ("code", let code?): return .exited(code: code)
        case ("signal", let number?): return .killed(by: Signal(rawValue: number), dumpedCore: false)
        case ("core", let number?): return .killed(by: Signal(rawValue: number), dumpedCore: true)
        default: return .unknown
        }
    }
}

nonisolated extension Confinement: SavedItem {
    static func code(_ item: Confinement?, with parts: inout some PartCoder & ~Copyable) -> Confinement? {
        parts.rest(item?.text).map { Confinement(text: $0) }
    }
}
