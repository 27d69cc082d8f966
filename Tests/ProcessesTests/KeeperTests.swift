import Glibc
import Testing

@testable import Processes

/// The parent of an app without a control group.
@Suite(.endsWithRunner) struct KeeperTests {
    @Test func processesOfAKeeperThatWasKilledAreEnded() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("escape-clean")
            let escaped = try world.waitForEscaped(from: tree)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            kill(try #require(tree.saved.keeper).pid, SIGKILL)
            try world.waitForEvent(tree, .keeperEnded)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            #expect(try escaped.identity.hasEnded())
            try world.end()
        }
    }

    /// Its children now belong to another program, so only the record names them.
    @Test(.needsCgroups) func processesOfAKeeperThatWasKilledWithoutADaemonAreEnded() async throws {
        let said = await Hold.keeper.dieAfterStopping("escape", until: "escaped")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            var saved = try legacy.tree
            let keeper = try #require(saved.keeper)
            saved.escaped = Descendants.below(keeper.pid).identities.filter { $0 != saved.main }
            #expect(saved.escaped.count == 2)
            kill(keeper.pid, SIGKILL)
            try waitUntil("it is gone") { try keeper.hasEnded() }
            let world = try ProcessWorld()
            let tree = try world.restore(saved)
            try world.waitForEvent(tree, .keeperEnded)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            #expect(try saved.escaped.allSatisfy { try $0.hasEnded() })
        }
    }

    /// With no descriptor left for its socket, for example.
    @Test(.needsCgroups) func treeWhoseKeeperCannotBeReachedIsHeldAndItsEndIsSeen() async throws {
        let said = await Hold.keeper.dieAfterStopping("escape-clean")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let saved = try Legacy(said).tree
            let world = try ProcessWorld(base: nil, keepers: "/nowhere/keepers")
            let tree = try world.restore(saved)
            #expect(!tree.isReported && tree.processes().count == 2)
            tree.resume()
            #expect(tree.isResumed)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
        }
    }

    @Test func keeperEndsAfterTheAppWhenItsNewsAreConfirmed() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("obey-term")
            let keeper = try #require(tree.saved.keeper)
            tree.terminate()
            try world.wait("the end is told") { !world.table.checkMain(of: tree.token).isEmpty }
            #expect(tree.exitStatus == .exited(code: 7) || tree.exitStatus == .exited(code: 8))
            #expect(try !keeper.hasEnded())
            tree.confirmNews()
            try world.wait("the keeper has ended") { try keeper.hasEnded() }
            try world.end()
        }
    }

    @Test func keeperIsOutsideTheSessionOfItsAppAndHoldsItsSocketsAlone() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            let keeper = try #require(try tree.saved.keeper?.readStatus())
            #expect(keeper.session == keeper.pid && keeper.parent == getpid())
            let main = try tree.main.readStatus()
            #expect(main?.parent == keeper.pid && main?.session == tree.main.pid)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(try tree.saved.keeper?.readStatus()?.state != .stopped)
            // The line to the daemon, beside descriptor 0, the listener.
            try world.wait("one other is open") { try ProcFile.processIDs(in: "/proc/\(keeper.pid)/fd").count == 1 }
            try world.end()
        }
    }
}
