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
