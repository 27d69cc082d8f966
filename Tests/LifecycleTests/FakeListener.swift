import Glibc
import TestSupport
import Testing

/// The socket where apps get a channel again, in a test's hands. No process accepts at its path until `listen()`.
final class FakeListener {
    let path: String
    private let folder: TemporaryDirectory
    private var socket: ListeningSocket?

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path + "/apps"
    }

    func listen() throws { socket = try ListeningSocket(at: path, backlog: 16) }

    func close() { socket = nil }

    /// A Boolean value that indicates whether an app has connected, at present.
    var hasGuest: Bool { socket.map { isReadable($0.descriptor) } ?? false }

    /// The next app that comes.
    func accept() throws -> FakeDaemon {
        let descriptor = try #require(socket).descriptor
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, FakeDaemon.guardMilliseconds) == 1 else { throw FakeDaemon.Silence() }
        let channel = Glibc.accept(descriptor, nil, nil)
        try #require(channel >= 0)
        return FakeDaemon(descriptor: channel)
    }
}
