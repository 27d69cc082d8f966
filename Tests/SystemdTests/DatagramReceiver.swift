import Glibc
import TestSupport
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
        let result = unsafe withSocketAddress(path) { unsafe bind(descriptor, $0, $1) }
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
            let result = unsafe withSocketAddress(path) { unsafe connect(sender, $0, $1) }
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

private func datagramSocket() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
}
