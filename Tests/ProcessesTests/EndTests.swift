import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct EndTests {
    @Test func aStoppedProgramActsOnTheRequestToEnd() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            let tree = try world.start(world.request("obey-term", output: output))
            try world.wait("ready") { output.read().contains("ready") }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.terminate()
            try world.waitForEvent(tree, .mainEnded(.exited(code: 7)))
            try world.waitForEvent(tree, .emptied)
            #expect(output.read() == "terminated\n")
            #expect(tree.isEmpty)
        }
    }

    /// The shell needs its child while it handles the signal, and would leave it behind.
    @Test(arguments: ProcessWorld.canMakeCgroups ? Hold.allCases : [.keeper], [false, true])
    func childGetsTheRequestToEndWhenTheMainProcessHasEnded(_ hold: Hold, _ isStopped: Bool) async {
        await #expect(processExitsWith: .success) { [hold, isStopped] in
            let world = try hold.world()
            let output = try Pipe()
            let script = """
                "$0" idle "$1" & child=$!
                trap 'read -r pid name state rest </proc/$child/stat; [ $state = Z ]; exit $?' TERM
                echo ready
                while :; do wait; done
                """
            var request = SpawnRequest(
                program: "/bin/sh", arguments: ["-c", script, ProcessWorld.fixture, RunnerPipe.path])
            request.standardOutput = output.writeEnd.rawValue
            let tree = try world.start(request, by: hold.method)
            try world.wait("ready") { output.read().contains("ready") }
            // Before it executes its program, it has the dispositions of a command that the shell waits for.
            try world.wait("the child runs") {
                tree.processes().contains { RunningProcess.executable(of: $0.pid) == ProcessWorld.fixture }
            }
            if isStopped {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
            }
            tree.terminate()
            #expect(tree.saved.askedFirst == [tree.main])
            try world.waitForEvent(tree, .mainEnded(.exited(code: 1)))
            try world.waitForEvent(tree, .emptied)
            #expect(tree.saved.askedFirst.isEmpty && tree.saved.endSignal == .terminate)
            try world.end()
        }
    }

    /// The kernel ends a frozen process at once if the signal ends it by default.
    @Test(.needsCgroups, arguments: Hold.allCases)
    func suspendedProgramGetsASignalWhenItIsResumed(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("idle", by: hold.method)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            let hangUp = Signal(rawValue: SIGHUP)
            for _ in 0..<2 { #expect(tree.send(hangUp) == []) }
            for _ in 0..<100 { sched_yield() }
            world.reap()
            #expect(try tree.exitStatus == nil && tree.main.readLivingStatus() != nil)
            #expect(tree.checkStopped() == .stopped)
            #expect(tree.saved.signalsForLater == ([.freezer, .both].contains(hold) ? [hangUp] : []))
            tree.resume()
            try world.waitForEvent(tree, .mainEnded(.killed(by: hangUp, dumpedCore: false)))
            #expect(tree.saved.signalsForLater.isEmpty)
            try world.end()
        }
    }

    @Test(.needsCgroups, arguments: [Hold.freezer, .both])
    func programThatIsAskedToEndGetsNoSignalFromBefore(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            let (tree, _) = try world.launch("idle", by: hold.method)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(tree.send(Signal(rawValue: SIGHUP)) == [])
            tree.terminate()
            try world.waitForEvent(tree, .mainEnded(.killed(by: .terminate, dumpedCore: false)))
            #expect(tree.signalsForLater.isEmpty)
            try world.end()
        }
    }

    @Test func processThatIgnoresSIGTERMIsKilledWithItsChildren() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("ignore-term")
            tree.terminate()
            world.reap()
            #expect(tree.processes().count == 3)
            #expect(!tree.isEmpty)
            tree.kill()
            try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    @Test func escapedDaemonsAreKilledToo() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, said) = try world.launch("escape", until: "escaped")
            let escaped = try number(after: "escaped", in: said)
            _ = tree.stop()
            try world.wait("emptied") {
                tree.kill()
                world.reap()
                return tree.isEmpty
            }
            try world.wait("the escaped one is reaped") {
                world.reap()
                return try ProcessStatus(of: escaped) == nil
            }
            try world.end()
        }
    }

    @Test func daemonThatIsFoundAtTheEndOfTheMainProcessGetsTheRequestToEnd() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("escape-clean")
            _ = try world.waitForEscaped(from: tree)
            tree.terminate()
            try world.waitForEvent(tree, .mainEnded(.killed(by: .terminate, dumpedCore: false)))
            try world.waitForEvent(tree, .emptied)
            #expect(world.table.unrelatedProcesses().isEmpty)
            try world.end()
        }
    }

    @Test func aTreeLivesUntilItsLastOrphanHasEnded() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, said) = try world.launch("leave-orphan", until: "orphan")
            let orphan = try number(after: "orphan", in: said)
            try world.waitForEvent(tree, .mainEnded(.exited(code: 5)))
            #expect(!tree.isEmpty)
            #expect(!world.events.contains { $0.change == .emptied })
            #expect(tree.processes().map(\.pid) == [orphan])
            kill(orphan, SIGKILL)
            // No look at the tree in between: the events alone have to tell.
            try world.waitForEvent(tree, .emptied)
            #expect(tree.isEmpty)
            try world.end()
        }
    }

    @Test func aRemovedTreeLeavesNoZombie() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            tree.kill()
            world.table.remove(tree.token)
            try world.wait("reaped") {
                world.reap()
                return ProcessWorld.childCount == 0
            }
            #expect(world.events.isEmpty)
        }
    }

    @Test func twoHundredTreesEndTogether() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let before = ProcessWorld.descriptorCount
            for _ in 0..<200 {
                _ = try world.start(SpawnRequest(program: ProcessWorld.fixture, arguments: ["idle", RunnerPipe.path]))
            }
            for tree in world.table.trees {
                _ = tree.stop()
                tree.terminate()
            }
            try world.wait("all emptied") {
                world.reap()
                return world.events.count { $0.change == .emptied } == 200
            }
            for tree in Array(world.table.trees) {
                #expect(tree.execStatus() != .pending)
                world.table.remove(tree.token)
            }
            world.table.removeDiscardedGroups()
            try world.wait("the keepers are reaped") {
                world.reap()
                return ProcessWorld.childCount == 0
            }
            // The test library opens and closes a few of its own meanwhile.
            #expect(ProcessWorld.descriptorCount < before + 20)
        }
    }
}
