/// A value that is large or rarely there, on the heap, so that what holds it is small and quick to copy. It never changes.
public final class Box<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The value.
    public let value: Value

    /// Puts a value on the heap.
    public init(_ value: Value) { self.value = value }

    /// Compares the values.
    public static func == (left: Box, right: Box) -> Bool { left === right || left.value == right.value }
}
