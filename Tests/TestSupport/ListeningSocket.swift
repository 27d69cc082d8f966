public import Glibc

/// A stream socket of unix(7) that listens at a path. The kernel takes clients, and what they send, also if no connection is accepted.
public final class ListeningSocket: Sendable {
    /// The path, which is removed with the socket.
    public let path: String
    /// The socket.
    public let descriptor: Int32

    /// Creates a listening socket.
    ///
    /// - Parameters:
    ///   - path: The path of the socket, where no file is.
    ///   - backlog: The number of connections that wait to be accepted: listen(2).
    /// - Throws: ``FailedCall`` with the name of the function that failed.
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

/// Calls a function with the address of a path, for bind(2) or connect(2).
///
/// - Parameters:
///   - path: A path of fewer than 108 bytes: unix(7).
///   - body: The function, which gets the address and its size in bytes.
/// - Returns: The result of the function.
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
