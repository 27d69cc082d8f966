import Glibc

/// A file descriptor that is closed when its owner goes away, unless the owner hands it on.
public struct OwnedDescriptor: ~Copyable {
    /// The number, to be used while the owner is alive.
    public let rawValue: Int32

    /// Takes over a descriptor that nobody else closes.
    public init(takingOver rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Gives the descriptor away; closing it is the caller's business from now on.
    public consuming func release() -> Int32 {
        let rawValue = self.rawValue
        discard self
        return rawValue
    }

    deinit {
        close(rawValue)
    }
}
