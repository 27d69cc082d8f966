import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct StopTests {
    @Test(arguments: [
        "idle", "busy", "threads", "family", "headless", "hostile-name", "hold-in-vfork", "hold-in-clone", "escape",
    ])
    func everyKindOfTreeStopsAndGoesOn(_ program: String) async {
        await #expect(processExitsWith: .success) { [program] in
            let world = try ProcessWorld()
            let (tree, _) = try world.launch(program)
            #expect(tree.execStatus() == .running)
            for _ in 0..<5 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let before = tree.processes()
                #expect(!before.isEmpty)
                #expect(tree.stop() == .stopped)
                #expect(tree.processes().map(\.processorMicroseconds) == before.map(\.processorMicroseconds))
                tree.resume()
                #expect(tree.isResumed)
            }
            try world.end()
        }
    }

    @Test(arguments: ["busy", "threads", "headless"])
    func resumedTreeRunsAgain(_ program: String) async {
        await #expect(processExitsWith: .success) { [program] in
            let world = try ProcessWorld()
            let (tree, _) = try world.launch(program)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            let before = try #require(tree.processes().first).processorMicroseconds
            tree.resume()
            try world.wait("it runs") { (tree.processes().first?.processorMicroseconds ?? 0) > before }
            try world.end()
        }
    }

    @Test func processThatWasStoppedBeforeIsSeenByTheCheckAndContinued() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("busy")
            kill(tree.main.pid, SIGSTOP)
            try world.wait("it is stopped") { tree.isMainStopped }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(tree.stoppedByOthers.isEmpty)
            tree.resume()
            #expect(tree.isResumed)
            try world.end()
        }
    }

    @Test func twoHundredChildrenAreAllStopped() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("family")
            #expect(tree.processes().count == 201)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(tree.processes().map(\.state) == Array(repeating: .stopped, count: 201))
            try world.end()
        }
    }

    @Test(
        .enabled(if: ProcessWorld.canMakeCgroups, "tests of cgroups need a writable cgroup v2 hierarchy (Linux 5.14)"))
    func treeLargerThanTheFreeDescriptorsIsStoppedAndContinued() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("family")
            try withoutFreeDescriptors(but: 20) {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                #expect(tree.processes().map(\.state) == Array(repeating: .stopped, count: 201))
                tree.resume()
                #expect(tree.processes().count { $0.state == .stopped } == 0)
            }
            try world.end()
        }
    }

    @Test(
        .enabled(if: ProcessWorld.canMakeCgroups, "tests of cgroups need a writable cgroup v2 hierarchy (Linux 5.14)"))
    func threadsThatCannotBeSeenAreNotStopped() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("threads")
            tree.completeSetUp()
            _ = tree.checkStopped()
            let (check, isRunning) = try withoutFreeDescriptors { (tree.checkStopped(), tree.hasRunningMember) }
            #expect(check == .pending([tree.main]))
            #expect(isRunning)
            try world.end()
        }
    }

    @Test(
        .enabled(if: ProcessWorld.canMakeCgroups, "tests of cgroups need a writable cgroup v2 hierarchy (Linux 5.14)"))
    func mainProcessIsAskedToEndWithoutFreeDescriptors() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("family")
            _ = try withoutFreeDescriptors { tree.terminate() }
            try world.waitForEvent(tree, .mainEnded(.killed(by: .terminate, dumpedCore: false)))
            try world.end()
        }
    }

    @Test func escapedDaemonsAreFoundStoppedAndContinued() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, said) = try world.launch("escape", until: "escaped")
            let escaped = try number(after: "escaped", in: said)
            #expect(try ProcessStatus(of: escaped)?.session != tree.main.pid)
            #expect(world.table.tree(containing: escaped)?.token == tree.token)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            // The main process, the daemon and the daemon's child.
            #expect(tree.processes().map(\.state) == [.stopped, .stopped, .stopped])
            #expect(try ProcessStatus(of: escaped)?.state == .stopped)
            tree.resume()
            #expect(try ProcessStatus(of: escaped)?.state != .stopped)
            #expect(world.table.unrelatedProcesses().isEmpty)
            try world.end()
        }
    }

    @Test func daemonThatHasLeftAllBehindIsStopped() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("escape-clean")
            let escaped = try world.waitForEscaped(from: tree)
            #expect(world.table.tree(containing: escaped.pid)?.token == tree.token)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(try escaped.identity.readStatus()?.state == .stopped)
            #expect(tree.processes().count == 2)
            try world.end()
        }
    }

    @Test func aMemberThatWasSeenStaysOne() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            var request = world.request("idle", output: output)
            request.program = "/bin/sh"
            request.arguments = [
                "-c", "setsid env -i \(ProcessWorld.fixture) idle \(RunnerPipe.path) & read line <&3",
                ProcessWorld.fixture,
            ]
            let input = try Pipe()
            request.extraDescriptors = [DescriptorMapping(source: input.readEnd.rawValue, target: 3)]
            // A reading end of ours that does not block would not block the shell either.
            _ = fcntl(input.readEnd.rawValue, F_SETFL, 0)
            let tree = try world.start(request)
            var said = ""
            try world.wait("ready") {
                said += output.read()
                return said.hasSuffix("\n")
            }
            let child = try number(after: "ready", in: said)
            #expect(tree.processes().map(\.pid).contains(child))
            #expect(unsafe write(input.writeEnd.rawValue, "\n", 1) == 1)
            try world.wait("the shell has ended") {
                world.reap()
                return tree.exitStatus != nil
            }
            #expect(tree.processes().map(\.pid) == [child])
            #expect(!tree.isEmpty)
            try world.end()
        }
    }

    @Test func forkingAsFastAsPossibleDoesNotHelp() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("multiply")
            for _ in 0..<5 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                let stopped = tree.processes().map(\.pid)
                #expect(tree.checkStopped() == .stopped)
                #expect(tree.processes().map(\.pid) == stopped)
                tree.resume()
            }
            tree.kill()
            try world.end()
        }
    }

    @Test func stopBeforeTheProgramWasExecuted() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            for _ in 0..<20 {
                let output = try Pipe()
                let tree = try world.start(world.request("idle", output: output))
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                tree.resume()
                try world.wait("ready") { output.read().contains("ready") }
                #expect(tree.execStatus() == .running)
            }
            try world.end()
        }
    }

    @Test func jobStoppedByShellStaysStoppedAfterResume() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, said) = try world.launch("stopped-job", until: "job")
            let job = try number(after: "job", in: said)
            for _ in 0..<3 {
                _ = tree.stop()
                try world.waitUntilStopped(tree)
                _ = tree.stop()
                tree.resume()
                #expect(tree.isResumed)
                #expect(try ProcessStatus(of: job)?.state == .stopped)
                #expect(try ProcessStatus(of: tree.main.pid)?.state != .stopped)
            }
            _ = tree.stop()
            tree.terminate()
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    @Test(arguments: ["idle", "threads", "headless"])
    func checkDoesNotStopATreeThatShouldRun(_ program: String) async {
        await #expect(processExitsWith: .success) { [program] in
            let world = try ProcessWorld()
            let (tree, _) = try world.launch(program)
            #expect(tree.checkStopped() == .pending([tree.main]))
            #expect(try ProcessStatus(of: tree.main.pid)?.state != .stopped)
            try world.end()
        }
    }

    @Test func treesDoNotTouchEachOther() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (first, _) = try world.launch("escape", until: "escaped")
            let (second, _) = try world.launch("escape", until: "escaped")
            _ = first.stop()
            try world.waitUntilStopped(first)
            #expect(second.processes().allSatisfy { $0.state != .stopped })
            #expect(Set(first.processes().map(\.pid)).isDisjoint(with: second.processes().map(\.pid)))
            second.kill()
            try world.waitForEvent(second, .emptied)
            #expect(first.checkStopped() == .stopped)
            #expect(first.processes().count == 3)
            try world.end()
        }
    }
}
