import ControlAPI
import Systemd
import TestSupport
import Testing

@testable import Desktop

@MainActor @Suite struct DaemonLinkTests {
    @Test func connectionsOfARunStayWithTheDaemonOfTheFirst() throws {
        let directory = try TemporaryDirectory()
        let paths = ["own", "system"].map { "\(directory.path)/\($0)" }
        var own: ListeningSocket?
        let system = try ListeningSocket(at: paths[1])
        let link = DaemonLink(.automatic, sockets: paths, loop: try EventLoop())
        own = try ListeningSocket(at: paths[0])
        #expect(try link.connect() && own != nil)
        // The daemon restarts.
        own = nil
        link.close()
        #expect(throws: ControlClientError.absent(path: paths[0])) { _ = try link.connect() }
        own = try ListeningSocket(at: paths[0])
        #expect(try link.connect() && own != nil && link.isConnected)
        withExtendedLifetime(system) {}
    }
}
