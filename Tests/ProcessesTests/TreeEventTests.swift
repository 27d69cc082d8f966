import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct TreeEventTests {
    @Test func foreignSIGCONTIsSeenAndUndone() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("busy")
            _ = tree.stop()
            try world.waitForEvent(tree, .mainStopped(.stop, asked: true))
            try world.waitUntilStopped(tree)
            kill(tree.main.pid, SIGCONT)
            try world.waitForEvent(tree, .mainContinued(asked: false))
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.resume()
            try world.waitForEvent(tree, .mainContinued(asked: true))
            try world.end()
        }
    }

    @Test func continuationOfOrphanIsSeen() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, said) = try world.launch("escape", until: "escaped")
            let escaped = try number(after: "escaped", in: said)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            try world.waitForEvent(tree, .memberStopped(escaped))
            kill(escaped, SIGCONT)
            try world.waitForEvent(tree, .memberContinued(escaped, asked: false))
            // The check alone renews the stop.
            try world.waitUntilStopped(tree)
            #expect(try ProcessStatus(of: escaped)?.state == .stopped)
            try world.end()
        }
    }

    @Test func foreignSIGSTOPIsToldApart() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            kill(tree.main.pid, SIGTSTP)
            kill(tree.main.pid, SIGSTOP)
            try world.wait("stopped by another program") {
                world.reap()
                return world.events.contains { event in
                    if case .mainStopped(_, asked: false) = event.change { true } else { false }
                }
            }
            // The foreground app runs, whichever program stopped it.
            _ = tree.stop()
            tree.resume()
            #expect(tree.isResumed)
            try world.end()
        }
    }

    @Test func crashesNameTheSignal() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            kill(tree.main.pid, SIGKILL)
            try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            #expect(tree.exitStatus == .killed(by: .kill, dumpedCore: false))
            #expect("\(Signal.kill)" == "SIGKILL")
        }
    }

    @Test(.needsCgroups) func aLimitedRoundOfReapingSaysThatThereIsMore() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let trees = try (0..<3).map { _ in try world.launch("idle").tree }
            for tree in trees { tree.kill() }
            try world.wait("all are zombies") {
                trees.allSatisfy { (try? ProcessStatus(of: $0.main.pid))?.isZombie ?? false }
            }
            #expect(!world.table.reap(limit: 2).isComplete)
            let rest = world.table.reap(limit: 2)
            #expect(rest.isComplete)
            #expect(rest.events.count { if case .mainEnded = $0.change { true } else { false } } == 1)
        }
    }

    @Test(.needsCgroups) func oneChildIsReapedWithoutAskingForAll() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let trees = try (0..<2).map { _ in try world.launch("idle").tree }
            for tree in trees { tree.kill() }
            try world.wait("both are zombies") {
                trees.allSatisfy { (try? ProcessStatus(of: $0.main.pid))?.isZombie ?? false }
            }
            let ended = world.table.reap(child: trees[1].main.pid).events.filter { event in
                if case .mainEnded = event.change { true } else { false }
            }
            #expect(ended.map(\.tree) == [trees[1].token])
            #expect(world.table.reap(child: getpid()).events.isEmpty)
            #expect(world.table.reap().events.contains { $0.tree == trees[0].token })
        }
    }

    @Test func processDescriptorTellsTheEnd() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            var poller = pollfd(fd: try #require(tree.mainDescriptor), events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&poller, 1, 0) == 0)
            tree.kill()
            try world.wait("the descriptor is readable") { unsafe poll(&poller, 1, 0) == 1 }
            try world.end()
        }
    }
}

@Suite struct SignalDeliveryTests {
    @Test func signalReachesOnlyItsProcess() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let refused = Errno(rawValue: EPERM)
            for pid in [0, 1, -1, getpid()] {
                #expect(SignalDelivery.send(.kill, to: ProcessIdentity(pid: pid, startTime: 0)) == refused)
            }
            for leader in [0, 1, getpgrp()] {
                #expect(!SignalDelivery.send(.kill, toGroupLedBy: ProcessIdentity(pid: leader, startTime: 0)))
            }
            let (tree, _) = try world.launch("idle")
            // A process that only has the number of the one that was meant.
            let former = ProcessIdentity(pid: tree.main.pid, startTime: tree.main.startTime - 1)
            #expect(SignalDelivery.send(.kill, to: former) == nil)
            #expect(SignalDelivery.send(.stop, to: tree.main) == nil)
            try world.wait("it stops") { try ProcessStatus(of: tree.main.pid)?.state == .stopped }
            try world.end()
            #expect(SignalDelivery.send(.stop, to: tree.main) == nil)
        }
    }
}
