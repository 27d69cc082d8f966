public import Glibc

/// A stream socket of unix(7) that listens at a path. The kernel takes clients, and what they send, also if no connection is accepted.
public final class ListeningSocket: Sendable {
    /// The path, which is removed with the socket.
    public let path: String
    /// The socket.
    public let descriptor: Int32

    /// Begins to listen.
    public init(at path: String, backlog: Int32 = 8) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard unsafe withSocketAddress(path, { unsafe bind(descriptor, $0, $1) }) == 0 else { throw FailedCall("bind") }
        guard listen(descriptor, backlog) == 0 else { throw FailedCall("listen") }
    }

    deinit {
        close(descriptor)
        unsafe unlink(path)
    }
}

/// Calls a function with the address of a path that fits, for bind(2) or connect(2).
public func withSocketAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            unsafe body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
