import Glibc
import Testing

@testable import Processes

/// Who belongs to an adopted tree, and who only seems to.
extension AdoptionTests {
    @Test(arguments: [Hold.signal, .processGroup])
    func nobodyElseIsTakenForTheMainProcess(_ hold: Hold) async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) { [hold] in
            let world = try hold.world()
            world.die(leaving: try ["idle", "family"].map { try world.launch($0, by: hold.method).tree })
        }
        await #expect(processExitsWith: .success) { [said = former.said as String, hold] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let first = legacy.trees[0]
            let second = legacy.trees[1]
            // The number was given to another process, in another group.
            var reused = first
            reused.token = .random()
            reused.cgroup = nil
            reused.main = ProcessIdentity(pid: first.main.pid, startTime: first.main.startTime - 1)
            #expect(world.table.adopt(reused).end == .unknown)
            #expect(world.table.adopt(reused, pidfd: ProcessDescriptor.open(first.main.pid)).end == .unknown)
            // A descriptor of another process, or of none.
            let tree = try world.adopt(first, pidfd: ProcessDescriptor.open(second.main.pid))
            let descriptor = try #require(tree.mainDescriptor)
            #expect(ProcessDescriptor.target(of: descriptor) == .process(first.main.pid))
            let other = try world.adopt(second, pidfd: Descriptor(owning: unsafe open("/dev/null", O_RDONLY)))
            #expect(ProcessDescriptor.target(of: try #require(other.mainDescriptor)) == .process(second.main.pid))
            // A group that does not hold the process.
            for tree in [tree, other] { world.table.remove(tree.token) }
            var misplaced = first
            misplaced.cgroup = second.cgroup
            if hold == .signal {
                let tree = try world.adopt(misplaced)
                #expect(tree.exitStatus == .unknown)
                #expect(!tree.processes().map(\.pid).contains(first.main.pid))
                world.table.remove(tree.token)
            }
            for saved in legacy.trees { #expect(try world.adopt(saved).exitStatus == nil) }
            try world.end()
        }
    }

    @Test(arguments: [Hold.signal, .processGroup])
    func whoBelongsToAnAdoptedTreeIsKnown(_ hold: Hold) async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) { [hold] in
            let world = try hold.world()
            let (first, _) = try world.launch("escape", by: hold.method)
            let (second, _) = try world.launch("family", by: hold.method)
            try world.wait("all are there") { first.processes().count == 3 }
            world.die(leaving: [first, second])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String] in
            let legacy = try Legacy(said)
            let world = try World(succeeding: legacy)
            let trees = try legacy.trees.map { try world.adopt($0) }
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
            let again = try world.adopt(legacy.trees[1])
            let last = try #require(newer.processes().last)
            #expect(world.table.tree(containing: last.pid)?.token == newer.token)
            let children = Children().of(again.main.pid, threadCount: 1)
            #expect(world.table.tree(containing: try #require(children.last))?.token == again.token)
            _ = try world.adopt(legacy.trees[0])
            try world.end()
        }
    }

    /// What a service manager starts may carry anybody's environment.
    @Test func theMarkAloneDoesNotMakeAMemberElsewhere() async throws {
        let former = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let world = try World()
            let (tree, _) = try world.launch("idle")
            world.die(leaving: [tree])
        }
        await #expect(processExitsWith: .success) { [said = former.said as String] in
            let world = try World(hasCgroups: true)
            let tree = try world.adopt(try Legacy(said).tree)
            let base = try #require(world.base)
            let elsewhere = Descriptor(owning: unsafe open(base.path, O_RDONLY | O_DIRECTORY))
            func startMarked(in cgroup: Int32?) throws -> ProcessID {
                var request = SpawnRequest(
                    program: World.fixture, arguments: ["idle", RunnerPipe.path], launchToken: tree.token)
                request.cgroup = cgroup
                let started = try ProcessTable().launch(request)
                started.begin()
                let pid = started.main.pid
                try world.wait("it carries the mark") { LaunchMark.token(of: pid) == tree.token }
                return pid
            }
            let service = try startMarked(in: elsewhere.rawValue)
            #expect(!tree.processes().map(\.pid).contains(service))
            #expect(world.table.tree(containing: service) == nil)
            let beside = try startMarked(in: nil)
            #expect(Set(tree.processes().map(\.pid)) == [tree.main.pid, beside])
            kill(service, SIGKILL)
            try world.end()
        }
    }
}
