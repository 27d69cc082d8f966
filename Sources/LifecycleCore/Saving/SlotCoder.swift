/// Writes values as a slot of the state has them: numbers in eight bytes, texts behind their length, in the order of their table.
///
/// The writer is the one owner of its memory, which it uses again and again: no text is composed, nothing is allocated while there is
/// room, and no write asks whether another value shares the memory.
@safe
public struct SlotWriter: SavedCoder, PartCoder, ~Copyable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes that were written.
    public private(set) var count = 0
    package var isReading: Bool { false }

    /// Creates a writer without bytes.
    public init(capacity: Int = Self.usualCapacity) {
        unsafe memory = .allocate(byteCount: max(capacity, 1), alignment: 8)
        self.capacity = max(capacity, 1)
    }

    deinit { unsafe memory.deallocate() }

    /// The bytes for which a new writer has room.
    public static var usualCapacity: Int { 4096 }
    /// The bytes that are kept for the next step.
    private static var capacityToKeep: Int { 1 << 14 }

    // MARK: Bytes

    /// The bytes that were written.
    public var bytes: [UInt8] { withBytes(0..<count) { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } } }

    /// Calls a function with a range of the bytes that were written.
    ///
    /// - Parameters:
    ///   - range: The positions of the bytes, within ``count``.
    ///   - body: The function, which must not keep the bytes.
    /// - Returns: The result of the function.
    /// - Throws: The error of the function.
    public borrowing func withBytes<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "these bytes were not written")
        return try body(unsafe RawSpan(_unsafeStart: memory + range.lowerBound, byteCount: range.count))
    }

    /// Forgets the bytes from this position on.
    public mutating func cut(to position: Int) { count = min(count, position) }

    /// Forgets all bytes, and gives memory back that only a large step needs.
    public mutating func reset() {
        count = 0
        if capacity > Self.capacityToKeep { move(to: Self.usualCapacity) }
    }

    /// Adds zeros until the count is a multiple of eight, and that many more.
    public mutating func pad(adding size: Int = 0) {
        let end = reserve((count + 7) & ~7 + size - count)
        unsafe (memory + count).initializeMemory(as: UInt8.self, repeating: 0, count: end - count)
        count = end
    }

    /// Replaces eight bytes that were written.
    ///
    /// - Parameters:
    ///   - number: The new bytes, the lowest first.
    ///   - position: The position of the first byte; at least eight bytes were written from there.
    public mutating func put(_ number: UInt64, at position: Int) {
        precondition(position >= 0 && position + 8 <= count, "these bytes were not written")
        unsafe memory.storeBytes(of: number.littleEndian, toByteOffset: position, as: UInt64.self)
    }

    /// Makes room for bytes.
    ///
    /// - Returns: The count behind them.
    private mutating func reserve(_ size: Int) -> Int {
        let end = count + size
        if end > capacity { move(to: max(2 * capacity, end)) }
        return end
    }

    private mutating func move(to capacity: Int) {
        let other = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        unsafe other.copyMemory(from: memory, byteCount: count)
        unsafe memory.deallocate()
        unsafe memory = other
        self.capacity = capacity
    }

    private mutating func append(_ byte: UInt8) {
        let end = reserve(1)
        unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count = end
    }

    private mutating func append(_ number: UInt64) {
        let end = reserve(8)
        unsafe memory.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
        count = end
    }

    /// Adds bytes as they are.
    public mutating func append(_ other: [UInt8]) { append(unsafe other.span.bytes) }

    private mutating func append(_ other: RawSpan) {
        let end = reserve(other.byteCount)
        unsafe other.withUnsafeBytes { source in
            if let start = source.baseAddress {
                unsafe (memory + count).copyMemory(from: start, byteCount: source.count)
            }
        }
        count = end
    }

    /// Appends a size. A size below 254 is one byte, with one added: zero stands for nil.
    private mutating func appendSize(_ size: Int) {
        guard size >= 254 else { return append(UInt8(size + 1)) }
        append(UInt8.max)
        append(UInt64(size))
    }

    // MARK: Values

    private mutating func append(_ text: consuming String) {
        text.withUTF8 { bytes in
            appendSize(bytes.count)
            append(unsafe bytes.span.bytes)
        }
    }

    /// Adds a byte that is 1 for true.
    package mutating func flag(_ name: StaticString, _ value: Bool) -> Bool {
        append(value ? UInt8(1) : 0)
        return value
    }

    /// Adds a byte that is 1, and the number; a byte that is 0 for nil.
    package mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        let end = reserve(9)
        unsafe memory.storeBytes(of: value == nil ? 0 : 1, toByteOffset: count, as: UInt8.self)
        unsafe memory.storeBytes(of: (value ?? 0).littleEndian, toByteOffset: count + 1, as: UInt64.self)
        count = value == nil ? count + 1 : end
        return value
    }

    package mutating func text(_ name: StaticString, _ value: String?) -> String? { text(value) }

    /// Adds the value behind its size.
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        append(UInt64(0))
        guard value != nil else { return nil }
        let start = count
        _ = Item.code(value, with: &self)
        put(UInt64(count - start + 1), at: start - 8)
        return value
    }

    /// Adds the number of values, and each of them.
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        if values.isEmpty { append(UInt8(1)) } else { append(values) }
        return values
    }

    private mutating func append<Item: SavedItem>(_ values: [Item]) {
        appendSize(values.count)
        for value in values { _ = item("", value) }
    }

    /// Adds the number of apps, and the id of each as an item: without an array of them.
    package mutating func apps(_ name: StaticString, _ values: [AppIndex], in table: borrowing AppTable) -> [AppIndex] {
        appendSize(values.count)
        for app in values { _ = item("", table.id(of: app)) }
        return values
    }

    // MARK: Parts

    package mutating func number(_ value: UInt64?) -> UInt64? {
        append(value ?? 0)
        return value
    }

    package mutating func text(_ value: String?) -> String? {
        if let value { append(value) } else { append(UInt8(0)) }
        return value
    }

    package mutating func byte(_ value: UInt8?) -> UInt8? {
        append(value ?? 0)
        return value
    }
}

/// Reads the values that a ``SlotWriter`` has written.
///
/// A file may hold any bytes. Each value that is read could have been written, or is missing.
public struct SlotReader: SavedCoder, PartCoder, Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    package var isReading: Bool { true }

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

    private mutating func byte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func number() -> UInt64? {
        guard bytes.endIndex - position >= 8 else {
            fail()
            return nil
        }
        let offset = position - bytes.startIndex
        position += 8
        let number = unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        return UInt64(littleEndian: number)
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

    package mutating func flag(_ name: StaticString, _ value: Bool) -> Bool { byte() == 1 }
    package mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? { byte() == 1 ? number() : nil }
    package mutating func text(_ name: StaticString, _ value: String?) -> String? { text(value) }

    /// Reads a value. The next one begins behind its size, whatever it is.
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        guard let size = number(), size > 0, let part = take(size - 1) else { return nil }
        var reader = SlotReader(part)
        return Item.code(nil, with: &reader)
    }

    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        var values: [Item] = []
        var rest = size() ?? 0
        while rest > 0, position < bytes.endIndex {
            rest -= 1
            if let value: Item = item("", nil) { values.append(value) }
        }
        return values
    }

    // MARK: Parts

    package mutating func number(_ value: UInt64?) -> UInt64? { number() }
    package mutating func text(_ value: String?) -> String? {
        size().flatMap { take($0) }.map { String(decoding: $0, as: UTF8.self) }
    }
    package mutating func byte(_ value: UInt8?) -> UInt8? { byte() }
}
