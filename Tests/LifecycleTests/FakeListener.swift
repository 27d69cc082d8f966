import Glibc
import Testing

/// The socket where apps get a channel again, in a test's hands. No process accepts at its path until `listen()`.
final class FakeListener {
    let path: String
    private let folder: String
    private var descriptor: Int32 = -1

    init() throws {
        var template = Array("/tmp/lifecycle-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/apps"
    }

    deinit {
        close()
        unsafe rmdir(folder)
    }

    func listen() throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        try #require(bound == 0 && Glibc.listen(descriptor, 16) == 0)
    }

    /// A Boolean value that indicates whether an app has connected, at present.
    var hasGuest: Bool { descriptor >= 0 && isReadable(descriptor) }

    /// The next app that comes.
    func accept() throws -> FakeDaemon {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, FakeDaemon.guardMilliseconds) == 1 else { throw FakeDaemon.Silence() }
        let channel = Glibc.accept(descriptor, nil, nil)
        try #require(channel >= 0)
        return FakeDaemon(descriptor: channel)
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        unsafe unlink(path)
    }
}
