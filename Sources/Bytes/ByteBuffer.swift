/// Bytes that are appended one behind the other, in memory that grows.
///
/// The buffer is the one owner of its memory: nothing is allocated while there is room, and no write asks whether another value shares it.
/// The functions stand in their callers: across the border of the module, a call for each byte would cost more than the byte.
@safe
public struct ByteBuffer: ~Copyable {
    @usableFromInline var memory: UnsafeMutablePointer<UInt8>
    /// The number of bytes for which there is memory.
    public private(set) var capacity: Int
    /// The number of bytes.
    @usableFromInline var size = 0

    /// Creates a buffer without bytes.
    ///
    /// - Parameter capacity: The number of bytes for which it needs no other memory.
    public init(capacity: Int) {
        self.capacity = max(capacity, 1)
        unsafe memory = .allocate(capacity: max(capacity, 1))
    }

    @inlinable deinit { unsafe memory.deallocate() }

    /// The number of bytes.
    @inlinable public var count: Int { size }

    /// A copy of the bytes.
    public var array: [UInt8] { unsafe [UInt8](UnsafeBufferPointer(start: memory, count: size)) }

    /// Calls a function with the bytes in a range.
    ///
    /// - Parameters:
    ///   - range: The positions of bytes that were written.
    ///   - body: The function, which gets the bytes without a copy.
    /// - Returns: The result of the function.
    /// - Throws: The error of the function.
    @inlinable @inline(__always)
    public borrowing func withBytes<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= size, "these bytes were not written")
        return try body(unsafe Span(_unsafeStart: memory + range.lowerBound, count: range.count))
    }
}

// MARK: - Memory

extension ByteBuffer {
    /// Removes all bytes.
    ///
    /// - Parameter capacity: The number of bytes for which memory is kept at most.
    public mutating func removeAll(keepingCapacity capacity: Int) {
        size = 0
        if self.capacity > capacity { move(to: max(capacity, 1)) }
    }

    @inlinable @inline(__always)
    mutating func reserve(_ additional: Int) {
        if size + additional > capacity { grow(by: additional) }
    }

    @usableFromInline @inline(never)
    mutating func grow(by additional: Int) {
        move(to: max(2 * capacity, size + additional))
    }

    private mutating func move(to capacity: Int) {
        let other = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe other.initialize(from: memory, count: size)
        unsafe memory.deallocate()
        unsafe memory = other
        self.capacity = capacity
    }
}

// MARK: - Appending

extension ByteBuffer {
    /// Appends a byte.
    @inlinable @inline(__always)
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe memory[size] = byte
        size += 1
    }

    /// Appends a character of ASCII.
    @inlinable @inline(__always)
    public mutating func append(ascii character: Unicode.Scalar) { append(UInt8(ascii: character)) }

    /// Appends bytes.
    @inlinable @inline(__always)
    public mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends bytes.
    @unsafe @inlinable @inline(__always)
    public mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if let start = bytes.baseAddress { unsafe append(start, count: bytes.count) }
    }

    /// Appends the bytes of a text.
    @inlinable @inline(__always)
    public mutating func append(literal text: StaticString) {
        unsafe append(text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Appends the bytes of a text.
    @inlinable @inline(__always)
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append($0) }
    }

    /// Appends the digits of a number.
    @inlinable @inline(__always)
    public mutating func append(_ digits: DecimalDigits) {
        digits.withBytes { append($0) }
    }

    /// Appends the bytes that a function writes.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes that the function may write.
    ///   - body: Writes from the pointer that it gets, and returns the end of what it has written.
    @unsafe @inlinable @inline(__always)
    public mutating func append(
        atMost limit: Int, _ body: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    ) {
        reserve(limit)
        size = unsafe body(memory + size) - memory
    }

    @unsafe @inlinable @inline(__always)
    mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {
        reserve(count)
        unsafe (memory + size).initialize(from: bytes, count: count)
        size += count
    }
}

/// The decimal digits of an integer, behind a sign if it is negative: its text without memory on the heap.
public struct DecimalDigits {
    /// The text is at the end, since the digits come from the last to the first.
    @usableFromInline var bytes: InlineArray<20, UInt8>
    @usableFromInline var start: Int

    /// Creates the digits of a number.
    @inlinable @inline(__always)
    public init(_ number: Int64) {
        self.init(magnitude: number.magnitude)
        if number < 0 { start -= 1 }
    }

    /// Creates the digits of a number.
    @inlinable @inline(__always)
    public init(_ number: UInt64) { self.init(magnitude: number) }

    @inlinable @inline(__always)
    init(magnitude: UInt64) {
        // The byte before the digits of a negative number is its sign.
        bytes = .init(repeating: UInt8(ascii: "-"))
        // UInt64.max has 20 digits: no index is out of bounds.
        start = 20
        var rest = magnitude
        repeat {
            start &-= 1
            unsafe bytes[unchecked: start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
    }

    /// Calls a function with the bytes of the text.
    @inlinable @inline(__always)
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.span.extracting(start..<bytes.count))
    }
}
