/// The dense index of an app, from its definition until it is forgotten.
///
/// The position of a forgotten app is given to a later one, with the next generation. So an index that was kept for too long is not
/// equal to that of the later app.
public struct AppIndex: Hashable, Sendable {
    private let position: UInt32
    /// The number of apps that had the position before.
    public let generation: UInt32

    /// The position in a table of all apps.
    @inline(__always) public var value: Int { Int(position) }

    /// The position and the generation as one number.
    public var number: UInt64 { UInt64(position) << 32 | UInt64(generation) }

    /// Creates the index of a position.
    public init(value: Int, generation: UInt32 = 0) {
        position = UInt32(value)
        self.generation = generation
    }

    /// Creates the index that has this number; see ``number``.
    public init(number: UInt64) {
        position = UInt32(truncatingIfNeeded: number >> 32)
        generation = UInt32(truncatingIfNeeded: number)
    }

    /// The index of the next app that gets the position.
    var next: AppIndex { AppIndex(value: value, generation: generation &+ 1) }
}
