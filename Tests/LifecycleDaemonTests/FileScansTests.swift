import Glibc
import LifecycleCore
import Processes
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct FileScansTests {
    private let app = AppIndex(value: 0)

    /// Calls the body with the number of sockets that this process has open.
    private func withSockets(_ body: (Int) throws -> Void) rethrows {
        let sockets = (0..<400).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for each in sockets { close(each) } }
        try body(sockets.count { $0 >= 0 })
    }

    @Test func roundReadsALimitedNumberOfFiles() throws {
        try withSockets { number in
            let loop = try EventLoop()
            var rounds = 0
            var found: [FileScans.Found] = []
            let processes = Array(repeating: getpid(), count: 20)
            let scans = try FileScans(loop: loop) { _ in
                // The pause before is over.
                rounds = 0
                return processes
            } finished: {
                found.append($1)
                loop.exit(code: 0)
            }
            var other: LaterSource?
            other = try loop.later {
                rounds += 1
                other?.schedule()
            }
            scans.append(app)
            scans.begin()
            other?.schedule()
            #expect(try loop.runGuarded() == 0)
            #expect(found.count == 1)
            // Each process has these sockets at least.
            #expect(rounds >= 20 * number / FileScans.filesOfRound)
            #expect(found.first?.sockets.count ?? 0 >= 20 * number)
        }
    }

    @Test func appThatRunsAgainIsNotFinished() throws {
        let loop = try EventLoop()
        var finished: [AppIndex] = []
        let scans = try FileScans(loop: loop) { _ in
            [getpid()]
        } finished: { app, _ in
            finished.append(app)
            loop.exit(code: 0)
        }
        let other = AppIndex(value: 1)
        scans.append(app)
        scans.append(other)
        scans.begin()
        scans.remove(app)
        #expect(try loop.runGuarded() == 0)
        #expect(finished == [other])
    }
}
