import Glibc
import LifecycleTypes
import TestSupport
import Testing
import Varlink

@testable import ControlAPI

/// A call to a daemon that does not reply.
@Suite struct WaitingTests {
    @Test func timeOfTheWaitingFunctionCountsForTheTimeout() throws {
        let directory = try TemporaryDirectory()
        let socket = try ListeningSocket(at: directory.path + "/socket")
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
