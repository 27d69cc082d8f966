import Glibc
import Testing

/// A real AF_UNIX datagram socket at a path of its own, as journald and the service manager have one.
final class DatagramReceiver {
    let path: String
    private let descriptor: Int32
    private let directory: TemporaryDirectory

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        path = directory.path + "/socket"
        descriptor = datagramSocket()
        try #require(descriptor >= 0)
        let result = unsafe withAddress(path) { unsafe bind(descriptor, $0, $1) }
        try #require(result == 0)
    }

    convenience init() throws {
        try self.init(in: TemporaryDirectory())
    }

    isolated deinit {
        close(descriptor)
        unsafe unlink(path)
    }

    /// The oldest datagram that was sent here, or nil when there is none.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Sends datagrams here until the kernel takes no more from any sender: each sender has a limit of its own, and the
    /// queue here may be longer than that.
    func fill() throws {
        var senders: [Int32] = []
        defer { for sender in senders { close(sender) } }
        repeat {
            let sender = datagramSocket()
            senders.append(sender)
            let result = unsafe withAddress(path) { unsafe connect(sender, $0, $1) }
            try #require(result == 0)
        } while try sendUntilRefused(try #require(senders.last)) > 0
    }

    private func sendUntilRefused(_ sender: Int32) throws -> Int {
        var count = 0
        while unsafe send(sender, "x", 1, 0) == 1 { count += 1 }
        try #require(errno == EAGAIN)
        return count
    }
}

/// A directory that is removed with this object; its contents have to be gone by then.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/lifed-test-XXXXXX".utf8CString)
        let name = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
        path = try #require(name)
    }

    isolated deinit {
        unsafe rmdir(path)
    }
}

private func datagramSocket() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
}

private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
            unsafe body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
