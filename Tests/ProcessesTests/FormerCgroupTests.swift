import Glibc
import Testing

@testable import Processes

/// A second process that has no cgroups for its own trees takes over those that have some.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct FormerCgroupTests {
    @Test(arguments: Hold.cgroups)
    func whatWasStoppedGoesOnInItsGroup(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("busy")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let base = try #require(legacy.base)
            let world = try World(base: nil)
            world.table.formerCgroups = CgroupSubtree.existing(at: base.path)
            let tree = try world.adopt(legacy.tree)
            #expect(tree.containmentKind == .cgroup)
            #expect(tree.checkStopped() == .stopped)
            let before = tree.processes().map(\.processorMicroseconds)
            tree.resume()
            try world.wait("it runs") { tree.processes().map(\.processorMicroseconds) != before }

            let (newer, _) = try world.launch("idle")
            #expect(newer.containmentKind == .processGroup)
            for each in [tree, newer] {
                #expect(world.table.tree(containing: each.main.pid)?.token == each.token)
            }
            tree.kill()
            try world.waitForEnd(tree, .killed(by: .kill, dumpedCore: false))
            try world.end()
            #expect(base.remove())
        }
    }
}
