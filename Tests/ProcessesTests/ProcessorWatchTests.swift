import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct ProcessorWatchTests {
    @Test(
        .enabled(
            if: SwitchReports() != nil, "kernel.perf_event_paranoid keeps the switches of a process from this user"))
    func processThatSleepsAgainAtOnceIsReported() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            let reports = try #require(SwitchReports())
            for _ in 0..<5 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let watch = ProcessorWatch(of: [tree.main], reports: reports)
                #expect(!watch.hasTimer(for: tree.main.pid))
                #expect(!watch.mayHaveRun)
                var request = pollfd(fd: try #require(watch.descriptors.first), events: Int16(POLLIN), revents: 0)
                #expect(unsafe poll(&request, 1, 0) == 0)
                kill(tree.main.pid, SIGCONT)
                #expect(unsafe poll(&request, 1, 10_000) == 1)
                #expect(watch.mayHaveRun)
            }
            try world.end()
        }
    }

    @Test func processWithoutReportsHasATimer() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            do {
                let watch = ProcessorWatch(of: [tree.main], reports: nil)
                #expect(watch.hasTimer(for: tree.main.pid))
                #expect(watch.descriptors.isEmpty)
            }
            // Its timer is gone before the process runs again: the signal would end this one.
            try world.end()
        }
    }
}
