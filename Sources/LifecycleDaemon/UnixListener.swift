import Glibc
import Processes

/// A listening AF_UNIX stream socket with a place in the file system.
enum UnixListener {
    /// Makes the socket in the place of one that is there already.
    ///
    /// - Parameter group: Who it is given to; nil: it stays with the group that it gets.
    static func open(at path: String, mode: mode_t, group: gid_t? = nil) throws(StartError) -> Descriptor {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, Int32(flags), 0)
        guard number >= 0 else { throw failure("make", path) }
        let socket = Descriptor(owning: number)
        _ = unsafe unlink(path)
        // Nobody can connect before the mode is right: the file is made with the narrowest one.
        let mask = umask(0o177)
        let isBound = bind(number, to: path)
        let error = errno
        umask(mask)
        errno = error
        guard isBound else { throw failure("listen at", path) }
        if let group, unsafe chown(path, geteuid(), group) != 0 { throw failure("give to its group", path) }
        guard unsafe chmod(path, mode) == 0 else { throw failure("set the mode of", path) }
        guard listen(number, SOMAXCONN) == 0 else { throw failure("listen at", path) }
        return socket
    }

    private static func failure(_ operation: String, _ path: String) -> StartError {
        StartError("cannot \(operation) \(path): \(Processes.Errno(rawValue: errno))")
    }

    private static func bind(_ socket: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return false
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe Glibc.bind(socket, generic, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
