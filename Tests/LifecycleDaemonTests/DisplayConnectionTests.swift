import Glibc
import Systemd
import Testing

@testable import LifecycleDaemon
@testable import Processes

@Suite struct DisplayConnectionTests {
    /// epoll refuses a regular file, here in the place of the process.
    @Test func watchThatFailsHalfwayLeavesNothingWatched() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let file = unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        let duplicate = ForeignSocket(socket: Descriptor(owning: dup(ends[0])), process: Descriptor(owning: file))
        let connection = DisplayConnection(inode: 0)
        var events = 0
        do throws(SystemdError) {
            try connection.watch(duplicate, in: loop) { events += 1 }
            Issue.record("a regular file is watched")
        } catch {
            #expect(error.errno == EPERM)
        }
        #expect(!connection.isWatched)
        // The socket is open elsewhere, as that of an app is: the kernel would report its events of the closed duplicate.
        #expect(unsafe write(ends[1], "?", 1) == 1)
        let other = try loop.watch(descriptor: ends[0], events: .readable) { _ in loop.exit(code: 0) }
        other.setPriority(.idle)
        #expect(try loop.runGuarded() == 0)
        #expect(events == 0)
    }
}
