import Glibc
import Testing

@testable import Processes

@Suite struct MemoryMapTests {
    @Test func privateMappingsCount() {
        let text = """
            7f0a000-7f0c000 rw-p 00000000 00:00 0
            7f10000-7f11000 rw-s 00000000 00:05 1 /dev/shm/x
            7f20000-7f30000 r--p 00000000 fd:00 12 /usr/lib/a b.so (deleted)
            7f40000-ff40000 ---p 00000000 00:00 0
            ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0 [vsyscall]
            7f0c000-7f0a000 rw-p 00000000 00:00 0
            7f0c000
            """
        #expect(
            MemoryMap.privateRanges(inMap: Array(text.utf8)) == [
                0x7f0a000..<0x7f0c000, 0x7f20000..<0x7f30000, 0xffff_ffff_ff60_0000..<0xffff_ffff_ff60_1000,
            ])
    }

    @Test func rangesArePutTogetherAndDivided() {
        #expect(
            MemoryMap.pieces(of: [0..<10, 20..<25, 30..<100], size: 40) == [
                [0..<10, 20..<25, 30..<55], [55..<95], [95..<100],
            ])
        let many = (0..<600).map { UInt64($0 * 2)..<UInt64($0 * 2 + 1) }
        #expect(MemoryMap.pieces(of: many, size: 4096).map(\.count) == [256, 256, 88])
        #expect(MemoryMap.pieces(of: [], size: 4096) == [])
    }

    @Test func whatOneCallHasLeftIsTheRest() {
        #expect(MemoryMap.ranges([0..<10, 20..<25, 30..<100], from: 0) == [0..<10, 20..<25, 30..<100])
        #expect(MemoryMap.ranges([0..<10, 20..<25, 30..<100], from: 12) == [22..<25, 30..<100])
        #expect(MemoryMap.ranges([0..<10, 20..<25, 30..<100], from: 15) == [30..<100])
        #expect(MemoryMap.ranges([0..<10, 20..<25, 30..<100], from: 85) == [])
    }

    /// A program that reserves the world is divided by what it uses.
    @Test func reservedMemoryMakesNoPieces() {
        let ranges: [Range<UInt64>] = [0..<(1 << 44)]
        let size = MemoryMap.pieceSize(of: ranges, residentSize: 64 << 20, resident: 4 << 20)
        #expect(MemoryMap.pieces(of: ranges, size: size).count == 16)
        #expect(MemoryMap.pieceSize(of: [0..<4096], residentSize: 1 << 30, resident: 4 << 20) == 4 << 20)
    }
}

@Suite(.needsRoot, .endsWithRunner) struct MemoryReclaimTests {
    /// Without swap, too, a mapped file can be read again.
    @Test(arguments: [false, true])
    func aSuspendedAppGivesMemoryBack(hasCgroups: Bool) async {
        guard !hasCgroups || ProcessWorld.canMakeCgroups else { return }
        await #expect(processExitsWith: .success) { [hasCgroups] in
            let world = try ProcessWorld(hasCgroups: hasCgroups)
            let (tree, _) = try world.launch("map-file")
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            var reclaim = try MemoryReclaim(tree)
            var steps = 1
            var progress = reclaim.step(for: .zero)
            while progress == .more {
                progress = reclaim.step(for: .zero)
                steps += 1
            }
            guard case .done(let outcome) = progress else { throw TimeOut(what: "reclaim") }
            #expect(outcome.error == nil)
            #expect(outcome.before >= 16 << 20)
            #expect(outcome.reclaimed >= 12 << 20, "\(outcome)")
            // The mappings at first, then 4 MiB each.
            #expect(steps >= 4)
            #expect(tree.checkStopped() == .stopped)
            tree.resume()
            try world.end()
        }
    }

    @Test func anAppThatEndsMeanwhileIsNoFailure() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("map-file")
            var reclaim = try MemoryReclaim(tree)
            #expect(reclaim.step(for: .zero) == .more)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            var progress = reclaim.step(for: .seconds(60))
            while progress == .more { progress = reclaim.step(for: .seconds(60)) }
            guard case .done(let outcome) = progress else { return }
            #expect(outcome.error == nil && outcome.after == 0)
            try world.end()
        }
    }

    @Test func withoutPrivilegesThereIsAReason() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            #expect(dropCapabilities())
            let reason = #expect(throws: FeatureUnavailable.self) { try MemoryReclaim(tree) }
            #expect(reason?.description.contains("CAP_SYS_NICE") == true)
            try world.end()
        }
    }
}
