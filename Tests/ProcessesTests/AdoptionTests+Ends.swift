import Glibc
import Testing

@testable import Processes

/// How the processes of an adopted tree end, before it is adopted and after.
extension AdoptionTests {
    @Test(arguments: [Hold.signal, .processGroup], [false, true])
    func orphansOfAMainProcessThatEndedAreHeld(_ hold: Hold, _ isDescriptorKept: Bool) async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("escape", until: "escaped", by: hold.method)
            try world.wait("all are there") { tree.processes().count == 3 }
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String, isDescriptorKept] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let saved = try legacy.tree
            let pidfd = isDescriptorKept ? ProcessDescriptor.open(saved.main.pid) : nil
            kill(saved.main.pid, SIGKILL)
            try world.wait("it is gone") { ProcessStatus(of: saved.main.pid)?.identity != saved.main }
            let tree = try world.adopt(saved, pidfd: pidfd)
            let isTold = isDescriptorKept && Kernel.tellsExits
            #expect(tree.exitStatus == (isTold ? .killed(by: .kill, dumpedCore: false) : .unknown))
            #expect(tree.processes().count == 2)
            #expect(!tree.isEmpty)
            #expect(world.table.checkMain(of: tree.token) == [])
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.resume()
            for process in tree.processes() {
                #expect(world.table.tree(containing: process.pid)?.token == tree.token)
            }
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            world.table.remove(tree.token)
            #expect(world.table.checkMain(of: tree.token) == [])
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .processGroup], [false, true])
    func whatEndedMeanwhileIsToldWhereItCanBe(_ hold: Hold, _ isDescriptorKept: Bool) async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("obey-term", by: hold.method)
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String, isDescriptorKept] in
            let legacy = try Legacy(said)
            let saved = try legacy.tree
            let pidfd = isDescriptorKept ? ProcessDescriptor.open(saved.main.pid) : nil
            kill(saved.main.pid, SIGTERM)
            try waitUntil("it is gone") { ProcessStatus(of: saved.main.pid)?.identity != saved.main }
            let world = try World(succeeding: legacy)
            let isTold = isDescriptorKept && Kernel.tellsExits
            #expect(world.table.adopt(saved, pidfd: pidfd).end == (isTold ? .exited(code: 8) : .unknown))
            #expect(world.table.trees.isEmpty)
            // What was known before stays known.
            var known = saved
            known.exitStatus = .exited(code: 3)
            #expect(world.table.adopt(known).end == .exited(code: 3))
            try world.end()
        }
    }

    @Test func aMainProcessThatEndsIsNoticedOnce() async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let world = try World()
            let (tree, _) = try world.launch("leave-orphan-later")
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let tree = try world.adopt(legacy.tree)
            #expect(world.table.checkMain(of: tree.token) == [])
            var poller = pollfd(fd: try #require(tree.mainDescriptor), events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&poller, 1, 0) == 0)
            let orphan = try ProcessIdentity(of: try #require(tree.processes().last).pid)
            kill(tree.main.pid, SIGTERM)
            #expect(unsafe poll(&poller, 1, 60_000) == 1)
            let ended = world.table.checkMain(of: tree.token)
            #expect(ended == [TreeEvent(tree: tree.token, change: .mainEnded(try #require(tree.exitStatus)))])
            #expect(tree.exitStatus == .killed(by: .terminate, dumpedCore: false) || !Kernel.tellsExits)
            #expect(world.table.checkMain(of: tree.token) == [])
            #expect(tree.processes().map(\.pid) == [orphan.pid])
            kill(orphan.pid, SIGKILL)
            try world.wait("the orphan has ended") { orphan.hasEnded }
            #expect(world.table.checkMain(of: tree.token) == [TreeEvent(tree: tree.token, change: .emptied)])
            #expect(world.table.checkMain(of: tree.token) == [])
            try world.end()
        }
    }

    /// When this process has become the parent after all, it hears as of any child.
    @Test func anOrphanOfOurOwnIsAChild() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            let (former, said) = try world.launch("neglectful-parent")
            let main = try ProcessIdentity(of: try number(after: "ready", in: said))
            world.table.remove(former.token)
            kill(former.main.pid, SIGKILL)
            try world.wait("it is ours") { ProcessStatus(of: main.pid)?.parent == getpid() }
            let tree = try world.adopt(try SavedTree(main: main, token: "neglected"))
            #expect(tree.isChild)
            _ = tree.stop()
            try world.waitForEvent(tree, .mainStopped(.stop, asked: true))
            try world.waitUntilStopped(tree)
            #expect(world.table.strangers().isEmpty)
            tree.kill()
            try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    @Test func whatNobodyHasWaitedForTellsItsEnd() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            let (parent, said) = try world.launch("neglectful-parent")
            let main = try ProcessIdentity(of: try number(after: "ready", in: said))
            kill(main.pid, SIGKILL)
            try world.wait("it has ended") { main.hasEnded }
            #expect(ProcessStatus(of: main.pid)?.isZombie == true)
            // What has left its session is known by the mark, and a zombie is at the root of some hierarchies of cgroups.
            let tree = try world.adopt(try SavedTree(main: main, token: "neglected"))
            #expect(tree.exitStatus == .killed(by: .kill, dumpedCore: false))
            try world.wait("the escaped are found") { tree.processes().count == 2 }
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            world.table.remove(tree.token)
            let end = world.table.adopt(try SavedTree(main: main, token: "neglected")).end
            #expect(end == .killed(by: .kill, dumpedCore: false))
            #expect(!parent.isEmpty)
            try world.end()
        }
    }
}
