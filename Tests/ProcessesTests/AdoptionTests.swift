import Glibc
import Testing

@testable import Processes

/// A first process launches trees and dies; a second one, which is not even related to them, takes them over.
///
/// One suite in several files, since its tests take turns.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct AdoptionTests {
    @Test(arguments: Hold.allCases, ["idle", "family", "headless", "threads", "escape"])
    func aTreeIsHeldAsBefore(_ hold: Hold, _ program: String) async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold, program] in
            let world = try hold.world()
            let (tree, _) = try world.launch(program, by: hold.method)
            if program == "escape" { try world.wait("all are there") { tree.processes().count == 3 } }
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String, hold, program] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let tree = try world.adopt(legacy.tree)
            #expect(!tree.isChild)
            #expect(tree.saved == (try legacy.tree))
            #expect(tree.execStatus() == .running)
            #expect(tree.containmentKind == (hold == .processGroup ? .processGroup : .cgroup))
            let count = ["family": 201, "escape": 3][program] ?? 1
            #expect(tree.processes().count == count)
            for _ in 0..<2 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let stopped = tree.processes()
                #expect(stopped.count == count)
                for _ in 0..<100 { sched_yield() }
                #expect(tree.processes().map(\.processorMicroseconds) == stopped.map(\.processorMicroseconds))
                tree.resume()
                #expect(tree.checkResumed() == .resumed)
                try world.wait("nothing is frozen") { !tree.containment.isFrozen }
            }
            tree.kill()
            try world.waitForEnd(tree, .killed(by: .kill, dumpedCore: false))
            try world.end()
        }
    }

    @Test(arguments: Hold.allCases)
    func whatWasStoppedStaysSoAndGoesOn(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("busy")
        await #expect(processExitsWith: .success) { [said = said as String, hold] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let tree = try world.adopt(legacy.tree)
            #expect(tree.wish == .stopped)
            #expect(tree.isFreezing == [.freezer, .both].contains(hold))
            #expect(tree.checkStopped() == .stopped)
            let before = tree.processes().map(\.processorMicroseconds)
            for _ in 0..<100 { sched_yield() }
            #expect(tree.processes().map(\.processorMicroseconds) == before)
            tree.resume()
            #expect(tree.checkResumed() == .resumed)
            try world.wait("it runs") { tree.processes().map(\.processorMicroseconds) != before }
            tree.kill()
            try world.end()
        }
    }

    @Test(arguments: Hold.allCases)
    func aStoppedTreeActsOnTheRequestToEnd(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("obey-term")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let tree = try world.adopt(legacy.tree)
            tree.terminate()
            // It could not say so to anybody.
            try world.waitForEnd(tree, .exited(code: 8))
            try world.end()
        }
    }

    /// A death between the signals and the record of it must not make the stop somebody else's.
    @Test(arguments: Hold.allCases)
    func aStopThatWasNotRecordedCanBeUndone(_ hold: Hold) async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("family", by: hold.method)
            let saved = tree.saved
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [saved])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let tree = try world.adopt(legacy.tree)
            #expect(tree.wish == .running)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.resume()
            #expect(tree.checkResumed() == .resumed)
            #expect(tree.processes().allSatisfy { $0.state != .stopped })
            try world.wait("nothing is frozen") { !tree.containment.isFrozen }
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .processGroup])
    func whatAShellHadStoppedStaysStopped(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("stopped-job", until: "job")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let saved = try legacy.tree
            #expect(saved.heldBefore.count == 1)
            let tree = try world.adopt(saved)
            for _ in 0..<2 {
                tree.resume()
                #expect(tree.checkResumed() == .resumed)
                #expect(ProcessStatus(of: saved.heldBefore[0].pid)?.state == .stopped)
                #expect(ProcessStatus(of: tree.main.pid)?.state != .stopped)
                _ = tree.stop()
                try world.waitUntilStopped(tree)
            }
            tree.terminate()
            try world.wait("emptied") {
                world.reap()
                return world.events.contains(TreeEvent(tree: tree.token, change: .emptied))
            }
            try world.end()
        }
    }
}
