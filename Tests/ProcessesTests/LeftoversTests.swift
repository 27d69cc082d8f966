import Glibc
import Testing

@testable import Processes

@Suite(.needsCgroups, .endsWithRunner) struct LeftoversTests {
    @Test(arguments: Hold.allCases, ["busy", "headless", "hold-in-vfork", "escape", "stopped-job"])
    func everythingThatADaemonHadStoppedRunsAgain(_ hold: Hold, _ program: String) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold, program] in
            let world = try hold.world()
            let words = ["escape": "escaped", "stopped-job": "job"]
            let (tree, _) = try world.launch(program, until: words[program] ?? "ready", by: hold.method)
            let count = ["escape": 3, "stopped-job": 2, "hold-in-vfork": 2][program] ?? 1
            try world.wait("all are there") { tree.processes().count == count }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String, hold] in
            let legacy = try Legacy(said)
            let saved = try legacy.tree
            let world = try ProcessWorld(succeeding: legacy)
            let kept = saved.keeper.map { Descendants.below($0.pid).identities } ?? []
            let report = world.table.endRestoration(unmanaged: legacy.trees)
            #expect(report.failures.isEmpty)
            #expect(report.thawed.count == ([.freezer, .both].contains(hold) ? 1 : 0))
            // With both, it may have been frozen before it could stop.
            let isContinued = report.continued.map(\.process).contains(saved.main)
            #expect(hold == .both || isContinued == (hold != .freezer))
            #expect(report.continued.allSatisfy { !$0.name.isEmpty && !saved.stoppedByOthers.contains($0.process) })
            let again = world.table.endRestoration(unmanaged: legacy.trees)
            #expect(again.thawed.isEmpty)
            #expect(again.continued.isEmpty)
            if let keeper = saved.keeper {
                try world.wait("the keeper has ended") { try keeper.hasEnded() }
                #expect(try kept.filter { try $0.readStatus()?.state == .stopped } == saved.stoppedByOthers)
                for process in kept { _ = SignalDelivery.send(.kill, to: process) }
                return try world.end()
            }

            let tree = try world.restore(saved)
            tree.resume()
            #expect(tree.isResumed)
            let stopped = tree.processes().filter { $0.state == .stopped }.map(\.pid)
            #expect(stopped == saved.stoppedByOthers.map(\.pid))
            try world.end()
        }
    }

    /// Without a record of the trees the groups are enough, and without anything nothing is touched.
    @Test func groupsAreFoundWithoutARecord() async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let world = try ProcessWorld(hasCgroups: true)
            let trees = try [SuspendMethod.signal, .freezer].map { method in
                let (tree, _) = try world.launch("idle", by: method)
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                return tree
            }
            world.die(leaving: trees)
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let base = try #require(legacy.base)
            let world = try ProcessWorld(succeeding: legacy)
            let report = world.table.endRestoration()
            #expect(report.continued.map(\.process) == [legacy.trees[0].main])
            #expect(report.continued.map(\.name) == ["ProcessFixture"])
            #expect(report.thawed == [base.child("apps").child(try #require(legacy.trees[1].cgroup)).path])
            #expect(report.failures.isEmpty)
            for saved in legacy.trees { _ = try world.restore(saved) }
            try world.end()
        }
    }

    @Test func whatIsBelowAKeeperWithoutARecordRunsAgainAndTheKeeperEnds() async throws {
        let said = await Hold.keeper.dieAfterStopping("escape", until: "escaped")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let keeper = try #require(legacy.tree.keeper)
            let world = try ProcessWorld(succeeding: legacy)
            let kept = Descendants.below(keeper.pid).identities
            #expect(Set(world.table.endRestoration().continued.map(\.process)) == Set(kept) && kept.count == 3)
            try world.wait("the keeper has ended") { try keeper.hasEnded() }
            #expect(try kept.allSatisfy { try $0.readLivingStatus() != nil && $0.readStatus()?.state != .stopped })
            for process in kept { _ = SignalDelivery.send(.kill, to: process) }
            try world.end()
        }
    }

    @Test func aNumberThatWasReusedIsNotContinued() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            let previous = ProcessIdentity(pid: tree.main.pid, startTime: tree.main.startTime - 1)
            #expect(world.table.endRestoration(unmanaged: [try SavedTree(main: previous)]) == ResumedLeftovers())
            #expect(try ProcessStatus(of: tree.main.pid)?.state == .stopped)
            try world.end()
        }
    }

    /// As many apps may run as limits.apps tells, and the kernel lists their groups in no order.
    @Test(
        .enabled(if: ProcessWorld.canMakeCgroups, "tests of cgroups need a writable cgroup v2 hierarchy (Linux 5.14)"))
    func groupsBeyondTheLimitOfOneAppAreFoundToo() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("idle")
            let base = try #require(world.base)
            let apps = base.child("apps")
            for number in 1...1100 { try apps.child("app-\(number)").create() }
            let helpers = base.child("helpers")
            try helpers.create()
            for number in 1...1100 { try helpers.child("app-\(number)").create() }
            let last = try #require(try apps.children(limit: 2000).filter { $0.lastName != "app-idle" }.last)
            let subtree = try CgroupSubtree(base: base)
            try #require(try helpers.children(limit: 2000).last).write(String(tree.main.pid), to: "cgroup.procs")
            #expect(try subtree.helperProcesses().map(\.pid) == [tree.main.pid])
            try last.write(String(tree.main.pid), to: "cgroup.procs")

            _ = try subtree.removeGroups { $0 == last }
            #expect(try apps.children(limit: 2000) == [last])
            #expect(try helpers.children(limit: 2000).isEmpty)
            // The tree does not look for its process in the group of another app.
            #expect(SignalDelivery.send(.kill, to: tree.main) == nil)
            try world.end()
        }
    }

    /// The main process gets SIGTERM before SIGCONT; what ignores that is killed.
    @Test(arguments: Hold.allCases, ["busy", "headless", "escape", "ignore-term"])
    func everythingThatADaemonHasLeftIsEnded(_ hold: Hold, _ program: String) async throws {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold, program] in
            let world = try hold.world()
            let (tree, _) = try world.launch(program, until: program == "escape" ? "escaped" : "ready", by: hold.method)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = previous.said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try legacy.tree
            world.table.endLeftovers(legacy.trees, timeout: .milliseconds(200))
            #expect(try world.table.trees.isEmpty && tree.main.readLivingStatus() == nil)
            #expect(try world.base.map { try $0.child("apps").children().isEmpty } ?? true)
            try world.end()
        }
    }

    @Test(arguments: Hold.allCases) func treeWithoutARecordIsEnded(_ hold: Hold) async throws {
        let said = await hold.dieAfterStopping("idle")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try legacy.tree
            world.table.endLeftovers([], timeout: .milliseconds(200))
            #expect(try tree.main.readLivingStatus() == nil)
            try world.end()
        }
    }

    /// A place that nothing is to be made or removed in.
    @Test func lookingChangesNothing() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("idle")
            let base = try #require(world.base)
            let empty = base.child("apps").child("app-empty")
            try empty.create()
            let place = try Cgroup.ofThisProcess()
            let subtree = try #require(try CgroupSubtree.existing(at: base.path))
            #expect(subtree.path == base.path)
            #expect(subtree.groupName(of: tree.main.pid) == "app-idle")
            #expect(empty.has("cgroup.events"))
            #expect(try Cgroup.ofThisProcess() == place)
            #expect(try CgroupSubtree.existing(at: empty.path) == nil)
            try world.end()
        }
    }
}
