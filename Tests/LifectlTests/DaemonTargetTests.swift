import ControlAPI
import TestSupport
import Testing

@testable import lifectl

@Suite struct DaemonTargetTests {
    @Test func connectionsOfARunStayWithTheDaemonOfTheFirst() throws {
        let directory = try TemporaryDirectory()
        let paths = ["own", "system"].map { "\(directory.path)/\($0)" }
        var own: ListeningSocket?
        let system = try ListeningSocket(at: paths[1])
        let target = DaemonTarget(CallOptions(), sockets: paths, doing: "cannot follow sway")
        let (first, second) = (DaemonLink(target), DaemonLink(target))
        own = try ListeningSocket(at: paths[0])
        try first.connect()
        #expect(own != nil)
        // The daemon restarts.
        own = nil
        first.close()
        for link in [first, second] {
            #expect(throws: ControlClientError.absent(path: paths[0])) { try link.connect() }
        }
        own = try ListeningSocket(at: paths[0])
        try second.connect()
        #expect(own != nil && first.isConnected == false && second.isConnected)
        withExtendedLifetime(system) {}
    }
}
