/// A value that is large or rarely there, on the heap, so that what holds it is small and quick to copy. It never changes.
public final class Box<Value: Sendable & Equatable>: Sendable, Equatable {
    /// The value.
    public let value: Value

    /// Puts a value on the heap.
    public init(_ value: Value) { self.value = value }

    /// Compares the values.
    ///
    /// - Parameters:
    ///   - left: A value on the heap.
    ///   - right: The value to compare with.
    /// - Returns: True if both are the same object, or their values are equal.
    public static func == (left: Box, right: Box) -> Bool { left === right || left.value == right.value }
}

/// A property that is rarely there, on the heap; see ``Box``.
@propertyWrapper
public struct Boxed<Value: Sendable & Equatable>: Sendable, Equatable {
    private var box: Box<Value>?

    /// Creates a property without a value.
    public init() {}

    /// The value, if there is one.
    public var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map { Box($0) } }
    }

    /// A Boolean value that indicates whether there is no value; none is copied to find out.
    @inline(__always) var isNil: Bool { box == nil }
}
