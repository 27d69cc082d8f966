import Glibc
import Testing

@testable import Processes

/// Programs that another program has started: here, trees that were launched and then forgotten, which makes them unrelated.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct AdoptionTests {
    @Test(arguments: Hold.allCases, ["idle", "family", "headless", "threads", "multiply", "bomb"])
    func aProgramThatRunsIsHeldLikeOneThatWasLaunched(_ hold: Hold, _ program: String) async {
        await #expect(processExitsWith: .success) { [hold, program] in
            let world = try hold.world()
            let tree = try world.adopt(program, by: hold)
            #expect(tree.isAdopted && !tree.isChild)
            // The kernel does not move a thread that has ended, so the others stay with it.
            let staysWhereItIs = hold == .keeper || program == "headless"
            #expect(tree.containmentKind == (staysWhereItIs ? .descent : .cgroup))
            for _ in 0..<3 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let stopped = tree.processes()
                #expect(stopped.count >= (program == "family" ? 201 : 1))
                for _ in 0..<100 { sched_yield() }
                #expect(tree.processes().map(\.pid) == stopped.map(\.pid))
                #expect(tree.processes().map(\.processorMicroseconds) == stopped.map(\.processorMicroseconds))
                tree.resume()
                #expect(tree.isResumed)
                try world.wait("nothing is frozen") { try !tree.containment.isFrozen() }
            }
            tree.kill()
            try world.end()
        }
    }

    /// A shell's jobs are in its session, and those of a pipeline in one process group.
    @Test func neighboursOfAdoptedProcessAreNotAdopted() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (family, _) = try world.launch("family")
            let child = try #require(family.processes().last)
            let tree = try world.adopt(child.pid, name: "child")
            #expect(tree.processes().map(\.pid) == [child.pid])
            #expect(world.table.tree(containing: child.pid)?.token == tree.token)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(family.processes().count { $0.state == .stopped } == 1)
            world.table.release(tree)
            world.table.remove(tree.token)
            #expect(family.processes().allSatisfy { $0.state != .stopped })
            family.kill()
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .keeper])
    func releasedTreeReturnsToItsCgroup(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            let tree = try world.adopt("family", by: hold)
            let members = tree.processes().map(\.pid)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.table.release(tree)
            world.table.remove(tree.token)
            #expect(try Set(members.map { try Cgroup.name(of: $0) }) == [Cgroup.name(of: getpid())])
            #expect(try members.allSatisfy { try ProcessStatus(of: $0)?.state != .stopped })
            #expect(world.table.tree(containing: members[0]) == nil)
            for pid in members { kill(pid, SIGKILL) }
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .keeper])
    func laterDaemonHoldsAdoptedTreeAlike(_ hold: Hold) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try hold.world()
            let tree = try world.adopt("family", by: hold)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, hold] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            var saved = try legacy.tree
            saved.isAdopted = true
            let tree = try world.restore(saved)
            #expect(tree.isAdopted)
            #expect(tree.containmentKind == (hold == .keeper ? .descent : .cgroup))
            #expect(tree.checkStopped() == .stopped)
            #expect(tree.processes().count == 201)
            tree.resume()
            #expect(tree.isResumed)
            tree.kill()
            try world.end()
        }
    }

    @Test func processThatHasEndedIsNotAdopted() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (launched, _) = try world.launch("idle")
            let main = launched.main.pid
            let process = try hold(main)
            launched.kill()
            try world.wait("it has ended") { try ProcessStatus(of: main)?.isZombie ?? true }
            let lives = process.lives
            #expect(!lives)
            let tree = world.table.adopt(process, name: "gone")
            #expect(tree == nil)
            try world.end()
            #expect(throws: NothingIsLeft.self) { _ = try hold(main) }
        }
    }

    @Test func aUnitIsTheInnermostServiceOrScope() {
        #expect(Cgroup.unit(in: "system.slice/lifed.service/apps/app-x") == "system.slice/lifed.service")
        #expect(
            Cgroup.unit(in: "user.slice/user-1000.slice/user@1000.service/app.slice/app-viewer.scope")
                == "user.slice/user-1000.slice/user@1000.service/app.slice/app-viewer.scope")
        #expect(Cgroup.unit(in: "") == nil)
        #expect(Cgroup.unit(in: "lifed-1234/apps") == nil)
    }

    @Test func runningProcessReportsKernelsFacts() throws {
        let me = try #require(RunningProcess(of: getpid(), memory: ProcessMemory()))
        #expect(me.users == [getuid(), geteuid(), geteuid()])
        #expect(!me.isKernels && !me.isZombie)
        #expect(me.executable?.hasPrefix("/") == true)
        #expect(RunningProcess(of: ProcessID.max, memory: ProcessMemory()) == nil)
    }
}

extension ProcessWorld {
    /// A program of the fixture that has become a stranger, and then a tree again.
    fileprivate func adopt(_ program: String, by hold: Hold) throws -> ProcessTree {
        let groups = table.cgroups
        table.cgroups = nil
        let (launched, _) = try launch(program)
        table.remove(launched.token)
        table.cgroups = groups
        return try adopt(launched.main.pid, name: program, by: hold.method)
    }

    fileprivate func adopt(_ pid: ProcessID, name: String, by method: SuspendMethod = .signal) throws -> ProcessTree {
        guard let tree = table.adopt(try hold(pid), name: name, suspendMethod: method) else { throw NothingIsLeft() }
        return tree
    }
}

private func hold(_ pid: ProcessID) throws -> PinnedProcess {
    guard let process = try PinnedProcess.pin(pid) else { throw NothingIsLeft() }
    return process
}
