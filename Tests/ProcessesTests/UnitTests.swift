import Glibc
import Testing

@testable import Processes

/// Programs in groups that another program arranges: here, groups beside those of the daemon, as systemd makes them for units.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct UnitTests {
    @Test(arguments: [Hold.signal, .freezer, .both], ["idle", "family", "threads", "multiply"])
    func appOfAUnitIsStoppedAndContinuedInItsGroup(_ hold: Hold, _ program: String) async {
        await #expect(processExitsWith: .success) { [hold, program] in
            let world = try ProcessWorld(hasCgroups: true)
            let unit = try world.unit("app-test-1.scope", program)
            let tree = try world.adopt(unit, by: hold.method)
            let group = try #require(try Cgroup.existing(at: unit.group.path))
            #expect(tree.isAdopted && tree.containmentKind == .cgroup && tree.units == [unit.name])
            for _ in 0..<3 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let stopped = tree.processes()
                for _ in 0..<100 { sched_yield() }
                #expect(tree.processes().map(\.processorMicroseconds) == stopped.map(\.processorMicroseconds))
                #expect(group.isAskedToFreeze == (hold != .signal))
                tree.resume()
                #expect(tree.isResumed)
                #expect(!group.isAskedToFreeze)
            }
            #expect(try Set(tree.processes().map { try Cgroup.name(of: $0.pid) }) == [unit.name])
            try world.endUnits()
        }
    }

    @Test(arguments: [true, false])
    func processesThatReplaceThemselvesAreStoppedAndStayStopped(_ isUnit: Bool) async {
        await #expect(processExitsWith: .success) { [isUnit] in
            let world = try ProcessWorld(hasCgroups: true)
            let (launched, _) = try world.launch("chains")
            let tree =
                isUnit
                ? try world.adopt(try #require(try UnitGroup(world.group(of: launched).name))) : launched
            for _ in 0..<3 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let stopped = tree.containment.look().members
                #expect(stopped.count > 10 && stopped.allSatisfy { $0.state == .stopped })
                for _ in 0..<100 { sched_yield() }
                #expect(tree.containment.look().members == stopped)
                tree.resume()
            }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            try world.end()
        }
    }

    @Test func releasedUnitStaysAsItIsAndRuns() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let unit = try world.unit("app-test-1.scope", "family")
            let tree = try world.adopt(unit)
            let members = tree.processes().map(\.pid)
            #expect(members.count == 201)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.table.release(tree)
            world.table.remove(tree.token)
            #expect(try members.allSatisfy { try ProcessStatus(of: $0)?.state != .stopped })
            #expect(try Set(members.map { try Cgroup.name(of: $0) }) == [unit.name])
            #expect(try UnitGroup("/" + unit.name) == unit)
            for pid in members { kill(pid, SIGKILL) }
            try world.endUnits()
        }
    }

    /// The kernel tells of it, also if the main process has ended before.
    @Test func appLivesUntilItsGroupIsEmpty() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let unit = try world.unit("app-test-1.scope", "family")
            let tree = try world.adopt(unit)
            kill(tree.main.pid, SIGKILL)
            try world.wait("the main process has ended") {
                world.reap()
                return tree.exitStatus != nil
            }
            #expect(!tree.isEmpty && tree.tellsWhenEmptied && tree.processes().count == 200)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.kill()
            // A look at the processes leaves the notice to the event loop.
            try world.wait("none is left") { tree.processes().isEmpty }
            var poller = pollfd(fd: try #require(tree.changeDescriptors.first), events: Int16(POLLPRI), revents: 0)
            try world.wait("the kernel tells") { unsafe poll(&poller, 1, 1000) == 1 }
            try world.wait("it is empty") {
                world.table.acknowledgeChange(of: tree.token)?.contains { $0.change == .emptied } ?? false
            }
            try world.endUnits()
        }
    }

    @Test func secondUnitJoinsTheAppAndEndsWithoutIt() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let first = try world.unit("app-test-1.scope", "idle")
            let second = try world.unit("app-test-2.scope", "family")
            let tree = try world.adopt(first)
            #expect(world.table.add(second, to: tree))
            #expect(!world.table.add(second, to: tree))
            #expect(tree.units == [first.name, second.name] && tree.changeDescriptors.count == 2)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(tree.processes().count { $0.state == .stopped } == 202)
            tree.resume()
            for pid in second.processIDs() { kill(pid, SIGKILL) }
            try world.wait("the second unit is empty") {
                world.reap()
                return second.processIDs().isEmpty
            }
            #expect(second.group.remove())
            #expect(!tree.isEmpty && tree.processes().map(\.pid) == [tree.main.pid])
            // A group of the same place is another one.
            let third = try world.unit("app-test-2.scope", "idle")
            #expect(tree.processes().count == 1)
            #expect(world.table.add(third, to: tree))
            #expect(tree.processes().count == 2 && tree.changeDescriptors.count == 2)
            tree.kill()
            try world.endUnits()
        }
    }

    @Test(arguments: [Hold.signal, .freezer])
    func laterDaemonHoldsTheUnitAlike(_ hold: Hold) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold] in
            let world = try ProcessWorld(hasCgroups: true)
            let tree = try world.adopt(try world.unit("app-test-1.scope", "family"), by: hold.method)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, hold] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            var saved = try legacy.tree
            saved.isAdopted = true
            saved.units = [try #require(legacy.base).child("app-test-1.scope").name]
            let tree = try world.restore(saved)
            #expect(tree.units == saved.units && tree.processes().count == 201)
            #expect(tree.checkStopped() == .stopped)
            let group = try #require(try UnitGroup(saved.units[0])).group
            #expect(group.isAskedToFreeze == (hold != .signal))
            let report = world.table.endRestoration(unmanaged: [saved])
            #expect(report.thawed == (hold == .signal ? [] : [group.path]))
            #expect(report.continued.count == (hold == .signal ? 201 : 0))
            #expect(tree.processes().allSatisfy { $0.state != .stopped } && !group.isAskedToFreeze)
            tree.kill()
            try world.endUnits()
        }
    }

    @Test func unitThatHasEndedIsNotRestored() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let unit = try world.unit("app-test-1.scope", "idle")
            let tree = try world.adopt(unit)
            var saved = tree.saved
            #expect(saved.isAdopted && saved.units == [unit.name])
            // The main process runs on in another unit.
            let other = try world.unit("app-other-1.scope", "idle")
            try Relocation(to: other.group).move(tree.main)
            #expect(tree.isEmpty)
            world.table.remove(tree.token)
            saved.token = .random()
            guard case .ended = world.table.restore(saved) else { throw NothingIsLeft() }
            for pid in other.processIDs() { kill(pid, SIGKILL) }
            try world.endUnits()
        }
    }

    @Test(arguments: [false, true])
    func helperThatLeavesAStoppedUnitGoesOn(_ isResumed: Bool) async {
        await #expect(processExitsWith: .success) { [isResumed] in
            let world = try ProcessWorld(hasCgroups: true)
            let unit = try world.unit("app-test-1.scope", "middle")
            // In the order of their starts.
            try world.wait("all are there") { unit.processIDs().count == 3 }
            let (middle, leaf) = (unit.processIDs()[1], unit.processIDs()[2])
            world.table.setHelpers(["ProcessFixture"])
            let tree = try world.adopt(unit)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            kill(middle, SIGKILL)
            try world.wait("it is an orphan") { try ProcessStatus(of: leaf)?.parent == getpid() }
            #expect(try ProcessStatus(of: leaf)?.state == .stopped)
            if isResumed { tree.resume() } else { #expect(tree.processes().map(\.pid) == [tree.main.pid]) }
            #expect(try ProcessStatus(of: leaf)?.state != .stopped)
            #expect(tree.isMainStopped == !isResumed)
            world.table.setHelpers([])
            try world.endUnits()
        }
    }

    @Test func groupOfThisProcessIsNoUnitToHold() throws {
        let own = try #require(try Cgroup.ofThisProcess())
        for place in [own.name, "/" + own.name, "", "/", "/nowhere", "/../x", "/" + own.name + "/.."] {
            #expect(try UnitGroup(place) == nil)
        }
    }
}

extension ProcessWorld {
    /// A group beside those of the daemon, with the processes of a program in it.
    func unit(_ name: String, _ program: String) throws -> UnitGroup {
        let group = try #require(base).child(name)
        try group.create()
        let groups = table.cgroups
        table.cgroups = nil
        let (launched, _) = try launch(program)
        try wait("all are inside") {
            let outside = try launched.processes().map(\.pid).filter { try Cgroup.name(of: $0) != group.name }
            for pid in outside { try? group.write(String(pid), to: "cgroup.procs") }
            return outside.isEmpty
        }
        table.remove(launched.token)
        table.cgroups = groups
        return try #require(try UnitGroup(group.name))
    }

    func adopt(_ unit: UnitGroup, by method: SuspendMethod = .signal) throws -> ProcessTree {
        let main = try #require(unit.processIDs().first)
        guard let process = try PinnedProcess.pin(main),
            let tree = table.adopt(process, in: unit, suspendMethod: method)
        else { throw NothingIsLeft() }
        return tree
    }

    func endUnits() throws {
        for tree in table.trees { tree.resume() }
        try end()
    }
}
