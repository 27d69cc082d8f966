import Glibc
import Testing

@testable import Processes

/// A first process launches trees and dies; a second one looks at them, and restores them later.
///
/// The tests take turns.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct FirstLookTests {
    @Test func launchInGroupIsFoundByItsMainProcess() async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let world = try Hold.signal.world()
            world.die(leaving: try ["idle", "idle"].map { try world.launch($0).tree })
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let look = world.table.firstLook()
            let saved = legacy.trees[0]
            #expect(look.mainProcess(of: saved)?.identity == saved.main)
            #expect(world.table.trees.isEmpty)
            func isFound(_ change: (inout SavedTree) -> Void) -> Bool {
                var changed = saved
                change(&changed)
                return look.mainProcess(of: changed) != nil
            }
            #expect(!isFound { $0.main = ProcessIdentity(pid: saved.main.pid, startTime: saved.main.startTime - 1) })
            #expect(!isFound { $0.cgroup = nil })
            #expect(!isFound { $0.cgroup = "app-other" })
            #expect(!isFound { $0.isAdopted = true })
            #expect(!isFound { $0.units = ["a.scope"] })
            #expect(!isFound { $0.escaped = [saved.main] })
            #expect(!isFound { $0.exitStatus = .unknown })
            kill(saved.main.pid, SIGKILL)
            try world.wait("it is gone") { try saved.main.hasEnded() }
            #expect(!isFound { _ in })
            for tree in legacy.trees { _ = world.table.restore(tree) }
            try world.end()
        }
    }

    @Test func treeThatEndsAfterTheLookIsEmptyWhenRestored() async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let world = try Hold.signal.world()
            world.die(leaving: [try world.launch("idle").tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let saved = try legacy.tree
            #expect(world.table.firstLook().mainProcess(of: saved) != nil)
            kill(saved.main.pid, SIGKILL)
            try world.wait("it is gone") { try ProcessStatus(of: saved.main.pid)?.identity != saved.main }
            let tree = world.table.restoreInAnyCase(saved, pidfd: nil)
            #expect(tree.exitStatus == .unknown)
            #expect(tree.isEmpty)
            #expect(tree.processes().isEmpty)
            #expect(tree.stop() == .stopped)
            tree.resume()
            #expect(world.table.checkMain(of: tree.token) == [TreeEvent(tree: tree.token, change: .emptied)])
            #expect(world.table.checkMain(of: tree.token) == [])
            try world.end()
        }
    }

    @Test func treeThatIsThereIsRestoredAsItWas() async throws {
        let said = await Hold.signal.dieAfterStopping("idle")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = world.table.restoreInAnyCase(try legacy.tree, pidfd: nil)
            #expect(tree.saved == (try legacy.tree))
            #expect(tree.exitStatus == nil)
            #expect(tree.checkStopped() == .stopped)
            try world.end()
        }
    }
}
