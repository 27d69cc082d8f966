/// Writes values as a slot of the state has them: numbers in eight bytes, texts behind their length, in the order of their table.
///
/// The buffer is used again and again; no text is composed, and nothing is allocated while it is large enough.
public struct SlotWriter: SavedCoder, Sendable {
    /// The bytes that were written, and room for more.
    private(set) public var bytes: [UInt8]
    /// The number of bytes that were written.
    public private(set) var count = 0
    /// False.
    @inline(__always) public var isReading: Bool { false }

    /// Creates a writer without bytes.
    public init(capacity: Int = 4096) { bytes = [UInt8](repeating: 0, count: capacity) }

    // MARK: Bytes

    /// Forgets the bytes from this position on.
    public mutating func cut(to position: Int) { count = min(count, position) }

    /// Forgets all bytes, and gives memory back that only a large step needs.
    public mutating func reset() {
        count = 0
        if bytes.count > Self.sizeToKeep { bytes = [UInt8](repeating: 0, count: 4096) }
    }

    /// The bytes that are kept for the next step.
    private static let sizeToKeep = 1 << 14

    /// Adds zeros until the count is a multiple of eight, and that many more.
    public mutating func pad(adding size: Int = 0) {
        let end = (count + 7) & ~7 + size
        reserve(end + 8 - count)
        var position = count
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        // The last word may reach beyond the end, where nothing is written yet.
        while position < end {
            raw.storeBytes(of: 0, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        count = end
    }

    /// Replaces eight bytes that were written.
    @inline(__always)
    public mutating func put(_ number: UInt64, at position: Int) {
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        raw.storeBytes(of: number.littleEndian, toByteOffset: position, as: UInt64.self)
    }

    @inline(__always)
    private mutating func reserve(_ size: Int) {
        if count + size > bytes.count { grow(size) }
    }

    @inline(never)
    private mutating func grow(_ size: Int) {
        bytes += [UInt8](repeating: 0, count: max(bytes.count, size))
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        reserve(1)
        bytes[count] = byte
        count += 1
    }

    @inline(__always)
    private mutating func append(_ number: UInt64) {
        reserve(8)
        put(number, at: count)
        count += 8
    }

    /// Adds bytes as they are.
    public mutating func append(_ other: [UInt8]) {
        reserve(other.count)
        for byte in other {
            bytes[count] = byte
            count += 1
        }
    }

    /// A size below 254 is one byte, with one added: zero stands for nil.
    private mutating func appendSize(_ size: Int) {
        guard size >= 254 else { return append(UInt8(size + 1)) }
        append(UInt8.max)
        append(UInt64(size))
    }

    // MARK: Values

    @inline(__always)
    mutating func number(_ value: UInt64) { append(value) }

    mutating func byte(_ value: UInt8) { append(value) }

    mutating func text(_ value: String) {
        let text = value.utf8
        let size = text.count
        appendSize(size)
        reserve(size)
        let start = count
        let isCopied: Void? = unsafe text.withContiguousStorageIfAvailable { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                guard let target = target.baseAddress, let source = source.baseAddress else { return }
                unsafe (target + start).copyMemory(from: source, byteCount: size)
            }
        }
        if isCopied != nil { count += size } else { for byte in text { append(byte) } }
    }

    /// Adds a byte that is 1 for true.
    @inline(__always)
    public mutating func flag(_ name: StaticString, _ value: inout Bool) { append(value ? UInt8(1) : 0) }

    /// Adds a byte that is 1, and the number; a byte that is 0 for nil.
    @inline(__always)
    public mutating func number(_ name: StaticString, _ value: inout UInt64?) {
        guard let value else { return append(UInt8(0)) }
        appendNumber(value)
    }

    private mutating func appendNumber(_ value: UInt64) {
        reserve(9)
        let start = count
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        raw.storeBytes(of: 1, toByteOffset: start, as: UInt8.self)
        raw.storeBytes(of: value.littleEndian, toByteOffset: start + 1, as: UInt64.self)
        count = start + 9
    }

    /// Adds the text.
    @inline(__always)
    public mutating func text(_ name: StaticString, _ value: inout String?) {
        if let value { text(value) } else { append(UInt8(0)) }
    }

    /// Adds the value behind its size.
    public mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        guard let value else { return append(UInt64(0)) }
        append(UInt64(0))
        let start = count
        value.write(to: &self)
        put(UInt64(count - start + 1), at: start - 8)
    }

    /// Adds the number of values, and each of them.
    @inline(__always)
    public mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        if values.isEmpty { append(UInt8(1)) } else { append(values) }
    }

    private mutating func append<Item: SavedItem>(_ values: [Item]) {
        appendSize(values.count)
        for value in values {
            var item: Item? = value
            self.item("", &item)
        }
    }
}

/// Reads the values that a ``SlotWriter`` has written.
///
/// A file may hold any bytes. Each value that is read could have been written, or is missing.
public struct SlotReader: SavedCoder {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    /// True.
    @inline(__always) public var isReading: Bool { true }

    /// Creates a reader of these bytes.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// A Boolean value that indicates whether everything was read.
    public var isAtEnd: Bool { position >= bytes.endIndex }

    // MARK: Bytes

    /// Ends the reading at bytes that no writer has written.
    private mutating func fail() { position = bytes.endIndex }

    mutating func byte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() -> UInt64? {
        guard bytes.endIndex - position >= 8 else {
            fail()
            return nil
        }
        var number: UInt64 = 0
        for offset in (0..<8).reversed() { number = number << 8 | UInt64(bytes[position + offset]) }
        position += 8
        return number
    }

    private mutating func take(_ size: UInt64) -> ArraySlice<UInt8>? {
        guard size <= UInt64(bytes.endIndex - position) else {
            fail()
            return nil
        }
        defer { position += Int(size) }
        return bytes[position..<position + Int(size)]
    }

    /// Returns the size that follows; nil for none.
    private mutating func size() -> UInt64? {
        switch byte() {
        case nil, 0: nil
        case UInt8.max: number()
        case let size?: UInt64(size) - 1
        }
    }

    // MARK: Values

    mutating func text() -> String? {
        size().flatMap { take($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func word<Word: RawRepresentable<String>>(_ type: Word.Type = Word.self) -> Word? {
        text().flatMap { Word(rawValue: $0) }
    }

    /// Reads a flag.
    public mutating func flag(_ name: StaticString, _ value: inout Bool) { value = byte() == 1 }

    /// Reads a number.
    public mutating func number(_ name: StaticString, _ value: inout UInt64?) {
        value = byte() == 1 ? number() : nil
    }

    /// Reads a text.
    public mutating func text(_ name: StaticString, _ value: inout String?) { value = text() }

    /// Reads a value. The next one begins behind its size, whatever it is.
    public mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        value = nil
        guard let size = number(), size > 0, let part = take(size - 1) else { return }
        var reader = SlotReader(part)
        value = Item(from: &reader)
    }

    /// Reads values.
    public mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        values = []
        var rest = size() ?? 0
        while rest > 0, position < bytes.endIndex {
            rest -= 1
            var value: Item?
            item("", &value)
            if let value { values.append(value) }
        }
    }
}
