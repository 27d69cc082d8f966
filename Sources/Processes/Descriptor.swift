import Glibc

/// A file descriptor with one owner: it is closed when the owner lets go of it.
public struct Descriptor: ~Copyable {
    /// The number, for registering it with an event loop. It stays owned by this value.
    public let rawValue: Int32

    /// Takes over an open descriptor.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        // After EINTR the descriptor is closed on Linux; trying again could close somebody else's.
        _ = close(rawValue)
    }
}
