import Glibc
import Testing

@testable import Processes

/// A first process launches trees and dies; a second one, which is not even related to them, takes them over.
///
/// The tests take turns.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct TreeRestorationTests {
    @Test(arguments: Hold.allCases, ["idle", "family", "headless", "threads", "escape"])
    func restoredTreeIsHeldAsBefore(_ hold: Hold, _ program: String) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold, program] in
            let world = try hold.world()
            let (tree, _) = try world.launch(program, by: hold.method)
            if program == "escape" { try world.wait("all are there") { tree.processes().count == 3 } }
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, hold, program] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try world.restore(legacy.tree)
            #expect(!tree.isChild)
            #expect(tree.saved == (try legacy.tree))
            #expect(tree.execStatus() == .running)
            #expect(tree.containmentKind == (hold == .keeper ? .keeper : .cgroup))
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
                #expect(tree.isResumed)
                try world.wait("nothing is frozen") { try !tree.containment.isFrozen() }
            }
            tree.kill()
            try world.waitForEnd(tree, .killed(by: .kill, dumpedCore: false))
            try world.end()
        }
    }

    @Test(arguments: Hold.allCases)
    func stoppedTreeStaysStoppedAndResumesAfterRestoration(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("busy")
        await #expect(processExitsWith: .success) { [said = said as String, hold] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try world.restore(legacy.tree)
            #expect(tree.desiredState == .stopped)
            #expect(tree.isFreezing == [.freezer, .both].contains(hold))
            #expect(tree.checkStopped() == .stopped)
            let before = tree.processes().map(\.processorMicroseconds)
            for _ in 0..<100 { sched_yield() }
            #expect(tree.processes().map(\.processorMicroseconds) == before)
            tree.resume()
            #expect(tree.isResumed)
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
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try world.restore(legacy.tree)
            tree.terminate()
            // It could not tell any process.
            try world.waitForEnd(tree, .exited(code: 8))
            try world.end()
        }
    }

    /// A death between the signals and the record of it must not make the stop another program's.
    @Test(arguments: Hold.allCases)
    func unrecordedStopIsUndoneByResume(_ hold: Hold) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("family", by: hold.method)
            let saved = tree.saved
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [saved])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try world.restore(legacy.tree)
            #expect(tree.desiredState == .running)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.resume()
            #expect(tree.isResumed)
            #expect(tree.processes().allSatisfy { $0.state != .stopped })
            try world.wait("nothing is frozen") { try !tree.containment.isFrozen() }
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .keeper])
    func jobStoppedByShellStaysStoppedAfterResume(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("stopped-job", until: "job")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let saved = try legacy.tree
            #expect(saved.stoppedByOthers.count == 1)
            let tree = try world.restore(saved)
            for _ in 0..<2 {
                tree.resume()
                #expect(tree.isResumed)
                #expect(try ProcessStatus(of: saved.stoppedByOthers[0].pid)?.state == .stopped)
                #expect(try ProcessStatus(of: tree.main.pid)?.state != .stopped)
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

/// The processes that belong to an adopted tree, and those that only seem to.
extension TreeRestorationTests {
    @Test(arguments: [Hold.signal, .keeper])
    func strangerIsNotTakenForMainProcess(_ hold: Hold) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try hold.world()
            world.die(leaving: try ["idle", "family"].map { try world.launch($0, by: hold.method).tree })
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, hold] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let first = legacy.trees[0]
            let second = legacy.trees[1]
            // The numbers were given to other processes, in another group.
            var reused = first
            reused.token = .random()
            reused.cgroup = nil
            reused.keeper = first.keeper.map { ProcessIdentity(pid: $0.pid, startTime: $0.startTime - 1) }
            reused.main = ProcessIdentity(pid: first.main.pid, startTime: first.main.startTime - 1)
            #expect(world.table.restore(reused).end == .unknown)
            #expect(world.table.restore(reused, pidfd: ProcessDescriptor.open(first.main.pid)).end == .unknown)
            // A descriptor of another process, or of none.
            let tree = try world.restore(first, pidfd: ProcessDescriptor.open(second.main.pid))
            let descriptor = try #require(tree.mainDescriptor)
            #expect(try ProcessDescriptor.target(of: descriptor) == .process(first.main.pid))
            let other = try world.restore(second, pidfd: Descriptor(owning: unsafe open("/dev/null", O_RDONLY)))
            #expect(try ProcessDescriptor.target(of: #require(other.mainDescriptor)) == .process(second.main.pid))
            // A group that does not hold the process.
            for tree in [tree, other] { world.table.remove(tree.token) }
            var misplaced = first
            misplaced.cgroup = second.cgroup
            if hold == .signal {
                let tree = try world.restore(misplaced)
                #expect(tree.exitStatus == .unknown)
                #expect(!tree.processes().map(\.pid).contains(first.main.pid))
                world.table.remove(tree.token)
            }
            for saved in legacy.trees { #expect(try world.restore(saved).exitStatus == nil) }
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .keeper])
    func membersOfRestoredTreeAreKnown(_ hold: Hold) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try hold.world()
            let (first, _) = try world.launch("escape", by: hold.method)
            let (second, _) = try world.launch("family", by: hold.method)
            try world.wait("all are there") { first.processes().count == 3 }
            world.die(leaving: [first, second])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let trees = try legacy.trees.map { try world.restore($0) }
            for tree in trees {
                for process in tree.processes() {
                    #expect(world.table.tree(containing: process.pid)?.token == tree.token)
                }
            }
            let (newer, _) = try world.launch("escape", until: "escaped")
            for process in newer.processes() {
                #expect(world.table.tree(containing: process.pid)?.token == newer.token)
            }
            #expect(world.table.tree(containing: getpid()) == nil)
            #expect(world.table.tree(containing: 1) == nil)
            #expect(trees.map { $0.processes().count }.sorted() == [3, 201])
            // Also before the first look at a tree.
            for tree in trees { world.table.remove(tree.token) }
            let again = try world.restore(legacy.trees[1])
            let last = try #require(newer.processes().last)
            #expect(world.table.tree(containing: last.pid)?.token == newer.token)
            let children = try Children().of(again.main.pid, threadCount: 1)
            #expect(world.table.tree(containing: try #require(children.last))?.token == again.token)
            _ = try world.restore(legacy.trees[0])
            try world.end()
        }
    }

}

/// The ends of the processes of an adopted tree, before it is adopted and after.
extension TreeRestorationTests {
    @Test(arguments: [Hold.signal, .keeper], [false, true])
    func orphansOfAMainProcessThatEndedAreHeld(_ hold: Hold, _ isDescriptorKept: Bool) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try hold.world()
            // A process that writes when this one has died is ended by SIGPIPE.
            let (tree, _) = try world.launch("escape", until: "escaped", "ready", by: hold.method)
            try world.wait("all are there") { tree.processes().count == 3 }
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, isDescriptorKept] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let saved = try legacy.tree
            let pidfd = isDescriptorKept ? ProcessDescriptor.open(saved.main.pid) : nil
            kill(saved.main.pid, SIGKILL)
            try world.wait("it is gone") { try ProcessStatus(of: saved.main.pid)?.identity != saved.main }
            let tree = try world.restore(saved, pidfd: pidfd)
            if saved.keeper != nil {
                try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            }
            let isTold = isDescriptorKept && Kernel.tellsExits || saved.keeper != nil
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

    @Test(arguments: [Hold.signal, .keeper], [false, true])
    func endDuringRestartIsToldIfDescriptorWasKept(_ hold: Hold, _ isDescriptorKept: Bool) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("obey-term", by: hold.method)
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, isDescriptorKept] in
            let legacy = try Legacy(said)
            let saved = try legacy.tree
            let pidfd = isDescriptorKept ? ProcessDescriptor.open(saved.main.pid) : nil
            kill(saved.main.pid, SIGTERM)
            try waitUntil("it is gone") { try ProcessStatus(of: saved.main.pid)?.identity != saved.main }
            let world = try ProcessWorld(succeeding: legacy)
            guard saved.keeper == nil else {
                let tree = try world.restore(saved, pidfd: pidfd)
                try world.waitForEvent(tree, .mainEnded(.exited(code: 8)))
                return try world.waitForEvent(tree, .emptied)
            }
            let isTold = isDescriptorKept && Kernel.tellsExits
            #expect(world.table.restore(saved, pidfd: pidfd).end == (isTold ? .exited(code: 8) : .unknown))
            #expect(world.table.trees.isEmpty)
            // A process that was known before stays known.
            var known = saved
            known.exitStatus = .exited(code: 3)
            #expect(world.table.restore(known).end == .exited(code: 3))
            try world.end()
        }
    }

    @Test func aMainProcessThatEndsIsNoticedOnce() async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("leave-orphan-later")
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try world.restore(legacy.tree)
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
            try world.wait("the orphan has ended") { try orphan.hasEnded() }
            #expect(world.table.checkMain(of: tree.token) == [TreeEvent(tree: tree.token, change: .emptied)])
            #expect(world.table.checkMain(of: tree.token) == [])
            try world.end()
        }
    }

    /// When this process has become the parent after all, it hears as of any child.
    @Test func anOrphanOfOurOwnIsAChild() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (former, said) = try world.launch("neglectful-parent")
            let main = try ProcessIdentity(of: try number(after: "ready", in: said))
            world.table.remove(former.token)
            kill(former.main.pid, SIGKILL)
            try world.wait("it is ours") { try ProcessStatus(of: main.pid)?.parent == getpid() }
            let tree = try world.restore(try SavedTree(adopted: main))
            #expect(tree.isChild)
            _ = tree.stop()
            try world.waitForEvent(tree, .mainStopped(.stop, asked: true))
            try world.waitUntilStopped(tree)
            tree.kill()
            try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    @Test func zombieOfAnotherParentTellsItsEnd() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (parent, said) = try world.launch("neglectful-parent")
            let main = try ProcessIdentity(of: try number(after: "ready", in: said))
            kill(main.pid, SIGKILL)
            try world.wait("it has ended") { try main.hasEnded() }
            #expect(try ProcessStatus(of: main.pid)?.isZombie == true)
            let end = world.table.restore(try SavedTree(adopted: main)).end
            #expect(end == .killed(by: .kill, dumpedCore: false))
            #expect(!parent.isEmpty)
            try world.end()
        }
    }
}

/// A second process that has no cgroups for its own trees restores those that have some.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct PreviousCgroupTests {
    @Test(arguments: Hold.cgroups)
    func stoppedTreeInPreviousCgroupResumes(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("busy")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let base = try #require(legacy.base)
            let world = try ProcessWorld(base: nil)
            world.table.previousCgroups = try CgroupSubtree.existing(at: base.path)
            let tree = try world.restore(legacy.tree)
            #expect(tree.containmentKind == .cgroup)
            #expect(tree.checkStopped() == .stopped)
            let before = tree.processes().map(\.processorMicroseconds)
            tree.resume()
            try world.wait("it runs") { tree.processes().map(\.processorMicroseconds) != before }

            let (newer, _) = try world.launch("idle")
            #expect(newer.containmentKind == .keeper)
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
