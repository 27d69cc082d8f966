import Glibc
import LifecycleTypes
import Testing
import Varlink

@testable import ControlAPI

/// A call to a daemon that does not reply.
@Suite struct WaitingTests {
    @Test func timeOfTheWaitingFunctionCountsForTheTimeout() throws {
        let socket = try SilentSocket()
        var client = try ControlClient(path: socket.path, timeout: .milliseconds(2500))
        var rests: [Duration] = []
        #expect(throws: ControlClientError.timedOut) {
            _ = try client.call(.list, NoParameters()) { _, rest in
                rests.append(rest ?? .seconds(60))
                sleep(2)
            }
        }
        #expect(rests.count == 1 && rests.allSatisfy { $0 <= .milliseconds(1500) })
    }
}

/// A listener that accepts no connection: the kernel takes a client, and what it sends.
private final class SilentSocket {
    let path: String
    private let directory: String
    private let descriptor: CInt

    init() throws {
        var template = Array("/tmp/silent-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = directory + "/socket"
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && listen(descriptor, 8) == 0)
    }

    deinit {
        close(descriptor)
        unsafe unlink(path)
        unsafe rmdir(directory)
    }
}
