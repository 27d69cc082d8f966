import Glibc
import Testing

@testable import Processes

/// What holds a tree, and how it is stopped there.
enum Hold: String, CaseIterable, Codable, Sendable {
    case signal, freezer, both, keeper

    static var cgroups: [Hold] { [.signal, .freezer, .both] }

    var method: SuspendMethod {
        switch self {
        case .signal, .keeper: .signal
        case .freezer: .freezer
        case .both: .both
        }
    }

    func world() throws -> ProcessWorld { try ProcessWorld(hasCgroups: self != .keeper) }
}

extension Trait where Self == ConditionTrait {
    static var needsCgroups: Self {
        .enabled(if: ProcessWorld.canMakeCgroups, "tests of cgroups need a writable cgroup v2 hierarchy (Linux 5.14)")
    }
}

/// Programs that try not to be stopped are: every process, each time, and they all go on afterwards.
///
/// One at a time: each of them loads the machine with as many processes as it may have, and the others' time is limited.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct EscapeTests {
    @Test(
        arguments: Hold.allCases, ["threads", "headless", "waker", "traced", "thousand", "multiply", "bomb", "escape"])
    func everyProcessStopsAndGoesOn(_ hold: Hold, _ program: String) async {
        await #expect(processExitsWith: .success) { [hold, program] in
            let world = try hold.world()
            let (tree, _) = try world.launch(program, by: hold.method)
            #expect(tree.containmentKind == (hold == .keeper ? .keeper : .cgroup))
            for _ in 0..<3 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let stopped = tree.processes()
                #expect(!stopped.isEmpty)
                // Nothing runs, and nothing is born.
                for _ in 0..<100 { sched_yield() }
                #expect(tree.processes().map(\.pid) == stopped.map(\.pid))
                #expect(tree.processes().map(\.processorMicroseconds) == stopped.map(\.processorMicroseconds))
                #expect(tree.checkStopped() == .stopped)
                tree.resume()
                #expect(tree.isResumed)
                try world.wait("nothing is frozen") { try !tree.containment.isFrozen() }
            }
            _ = tree.stop()
            tree.kill()
            try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            try world.end()
        }
    }

    @Test(arguments: Hold.allCases)
    func adoptedProcessIsHeldWithoutLaunchRecord(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("escape-clean", by: hold.method)
            let escaped = try world.waitForEscaped(from: tree).pid
            #expect(world.table.unrelatedProcesses().isEmpty)
            #expect(world.table.tree(containing: escaped)?.token == tree.token)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            let before = try #require(try ProcessStatus(of: escaped)).processorTicks
            for _ in 0..<100 { sched_yield() }
            #expect(try ProcessStatus(of: escaped)?.processorTicks == before)
            tree.resume()
            try world.wait("it runs again") { try ProcessStatus(of: escaped)?.processorTicks ?? 0 > before }
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    /// A killed test runner leaves no processes behind, stopped or not.
    @Test(arguments: Hold.allCases, ["bomb", "multiply", "escape", "traced"])
    func theFixtureEndsWithItsRunner(_ hold: Hold, _ program: String) async {
        await #expect(processExitsWith: .success) { [hold, program] in
            let world = try hold.world()
            var runner: Pipe? = try Pipe()
            let output = try Pipe()
            var request = world.request(program, output: output)
            let end = try #require(runner).writeEnd.rawValue
            request.arguments = [program, "/proc/\(getpid())/fd/\(end)"]
            let tree = try world.start(request, by: hold.method)
            try world.wait("it is ready") { output.read().contains("ready") }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            runner = nil
            try world.wait("all have ended") {
                world.reap()
                return tree.isEmpty && ProcessWorld.childCount == 0
            }
            try world.end()
        }
    }

    @Test(arguments: [Hold.freezer, .both])
    func aFrozenTreeIgnoresForeignContinuation(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("busy", by: hold.method)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            let before = tree.processes().map(\.processorMicroseconds)
            for _ in 0..<100 {
                kill(tree.main.pid, SIGCONT)
                sched_yield()
            }
            #expect(tree.processes().map(\.processorMicroseconds) == before)
            tree.resume()
            try world.wait("it runs again") { tree.processes().map(\.processorMicroseconds) != before }
            try world.end()
        }
    }

    @Test func aFrozenProgramActsOnTheRequestToEnd() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("obey-term", by: .freezer)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.terminate()
            try world.waitForEvent(tree, .mainEnded(.exited(code: 7)))
            try world.end()
        }
    }

    @Test func foreignThawIsSeenAndUndone() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("busy", by: .freezer)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            let group = try world.group(of: tree)
            try group.write("0", to: "cgroup.freeze")
            try world.wait("it is told") {
                world.table.acknowledgeChange(of: tree.token) == [TreeEvent(tree: tree.token, change: .thawed)]
            }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(world.table.acknowledgeChange(of: tree.token) == [])
            try world.end()
        }
    }

    /// A parent in vfork(2) waits uninterruptibly for its child, which is out of reach here.
    @Test func processThatDoesNotFreezeIsNamed() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("hold-in-vfork")
            try world.wait("both are there") { tree.processes().count == 2 }
            let child = try #require(tree.processes().last).pid
            let (other, _) = try world.launch("idle")
            let group = try world.group(of: other)
            try group.write("\(child)", to: "cgroup.procs")
            #expect(tree.stop() == .pending([tree.main]))
            #expect(tree.checkStopped() == .pending([tree.main]))
            try group.write("1", to: "cgroup.kill")
            try world.waitUntilStopped(tree)
            try world.end()
        }
    }

    @Test(arguments: [Hold.freezer, .both])
    func treeThatDoesNotFreezeIsStoppedBySignals(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("family", by: hold.method)
            _ = tree.stop()
            #expect(tree.isFreezing)
            _ = tree.stopWithoutFreezing()
            #expect(!tree.isFreezing)
            try world.waitUntilStopped(tree)
            #expect(tree.processes().map(\.state) == Array(repeating: .stopped, count: 201))
            #expect(try !tree.containment.isFrozen())
            tree.resume()
            #expect(tree.isResumed)
            try world.end()
        }
    }
}
