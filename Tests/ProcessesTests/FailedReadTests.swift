import Glibc
import Testing

@testable import Processes

/// What cannot be read, for want of a descriptor, has neither ended nor left.
@Suite(.needsCgroups, .serialized, .endsWithRunner) struct FailedReadTests {
    /// Each call that needs a descriptor is the first to fail once.
    @Test(arguments: [Hold.signal, .keeper], 0...4)
    func treeIsRestoredWithoutFreeDescriptors(_ hold: Hold, _ left: Int) async throws {
        let said = await hold.dieAfterStopping("idle")
        await #expect(processExitsWith: .success) { [said = said as String, left] in
            let legacy = try Legacy(said)
            let world = try ProcessWorld(succeeding: legacy)
            let tree = try withoutFreeDescriptors(but: left) {
                let tree = try world.restore(legacy.tree)
                #expect(!world.seesEnd(of: tree))
                return tree
            }
            #expect(!world.seesEnd(of: tree))
            tree.resume()
            #expect(tree.isResumed)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    @Test func treeOfAUnitIsRestoredWithoutFreeDescriptors() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let saved = try world.adopt(try world.unit("app-test-1.scope", "idle")).saved
            for left in 0...4 {
                world.table.remove(saved.token)
                let tree = try withoutFreeDescriptors(but: left) { try world.restore(saved) }
                #expect(!tree.isEmpty && tree.processes().map(\.pid) == [saved.main.pid])
            }
            try world.endUnits()
        }
    }

    @Test func mainProcessWithoutADescriptorHasNotEnded() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (launched, _) = try world.launch("idle")
            let tree = ProcessTree(
                restoring: try SavedTree(adopted: launched.main), isChild: false, pidfd: nil, exitStatus: nil,
                containment: DescentContainment(main: launched.main, known: []))
            #expect(try withoutFreeDescriptors { tree.endOfForeignMain() } == nil)
            launched.kill()
            try world.wait("its end is seen") {
                world.reap()
                return tree.endOfForeignMain() == .unknown
            }
            try world.end()
        }
    }

    @Test func keeperThatCannotBeReachedHasNotEnded() async throws {
        let said = await Hold.keeper.dieAfterStopping("idle")
        await #expect(processExitsWith: .success) { [said = said as String] in
            let saved = try Legacy(said).tree
            let world = try ProcessWorld(base: nil, keepers: "/nowhere/keepers")
            let tree = try world.restore(saved)
            #expect(try withoutFreeDescriptors { world.table.checkMain(of: tree.token) }.isEmpty)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
        }
    }

    @Test(arguments: [true, false]) func membersThatWereSeenStayKnown(_ isAdopted: Bool) async {
        await #expect(processExitsWith: .success) { [isAdopted] in
            let world = try ProcessWorld()
            let (launched, said) = try world.launch("escape", until: "escaped")
            let escaped = try number(after: "escaped", in: said)
            _ = launched.processes()
            let containment =
                isAdopted
                ? DescentContainment(main: launched.main, known: launched.escaped) : launched.containment
            _ = containment.members()
            _ = try withoutFreeDescriptors { containment.members() }
            #expect(containment.escaped.contains { $0.pid == escaped })
            #expect(containment.members().contains { $0.pid == escaped })
            try world.end()
        }
    }

    @Test func signalThatCouldNotBeSentIsAFailure() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            for left in 0...1 {
                let error = try withoutFreeDescriptors(but: left) { SignalDelivery.send(.kill, to: tree.main) }
                #expect(error == Errno(rawValue: EMFILE))
            }
            try world.end()
        }
    }
}

extension ProcessWorld {
    /// Returns whether a look at a tree tells of more than its stop.
    fileprivate func seesEnd(of tree: ProcessTree) -> Bool {
        table.checkMain(of: tree.token).contains { if case .mainStopped = $0.change { false } else { true } }
    }
}
