import CLinux

/// A file descriptor with one owner: it is closed when the owner lets go of it.
public struct Descriptor: ~Copyable {
    /// The number, for registering it with an event loop. It stays owned by this value.
    public let rawValue: Int32

    /// Takes over an open descriptor.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Opens a file, closed on exec.
    ///
    /// - Parameter flags: The access mode and other flags of open(2).
    static func open(_ path: String, _ flags: Int32) throws(Errno) -> Descriptor {
        let number = unsafe linux_open(path, flags | O_CLOEXEC)
        guard number >= 0 else { throw Errno(rawValue: -number) }
        return Descriptor(owning: number)
    }

    deinit {
        // After EINTR the descriptor is closed on Linux; trying again could close somebody else's.
        _ = close(rawValue)
    }
}
