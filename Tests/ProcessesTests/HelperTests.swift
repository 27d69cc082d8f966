import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct HelperTests {
    @Test func processThatNamesItselfAfterAHelperAndHidesItsFileIsNone() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("hide-memory")
            if geteuid() == 0 { #expect(setuid(65534) == 0) }
            let process = try #require(try ProcessStatus(of: tree.main.pid))
            #expect(process.name == "ssh-agent")
            #expect(RunningProcess.executable(of: process.pid) == nil)
            let helpers = HelperPrograms()
            helpers.names = ["ssh-agent"]
            #expect(try !helpers.include(process))
            try world.end()
        }
    }

    /// The kernel does not tell when a process loses its parent.
    @Test(.needsCgroups, arguments: [Hold.signal, .keeper], Release.allCases)
    fileprivate func helperThatLeavesAStoppedTreeGoesOn(_ hold: Hold, _ release: Release) async {
        await #expect(processExitsWith: .success) { [hold, release] in
            let world = try hold.world()
            if release != .setting { world.table.setHelpers(["ProcessFixture"]) }
            let (tree, said) = try world.launch("middle", until: "ready", "middle", "leaf", by: hold.method)
            let leaf = try ProcessIdentity(of: try number(after: "leaf", in: said))
            let own = try ResourceSetting.oomScoreAdjustment.read(leaf.pid)
            let control = ResourceControl.withoutCgroups()
            if release == .resources { control.apply(.background, to: tree) }
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            if release != .resources { control.apply(.background, to: tree) }
            #expect(try ResourceSetting.oomScoreAdjustment.read(leaf.pid) == 300)
            kill(try number(after: "middle", in: said), SIGKILL)
            try world.wait("it is an orphan") { try leaf.readStatus()?.parent == tree.main.readStatus()?.parent }
            #expect(try leaf.readStatus()?.state == .stopped)
            switch release {
            case .resume: tree.resume()
            case .look: _ = tree.processes()
            case .list: #expect(world.table.allHelpers().map { $0.process.pid } == [leaf.pid])
            case .setting: world.table.setHelpers(["ProcessFixture"])
            case .resources: control.apply(ResourceProfile(), to: tree)
            case .end: tree.terminate()
            case .check: _ = tree.checkStopped()
            }
            let isLeft = hold == .signal && [.resources, .check].contains(release)
            #expect(try (leaf.readStatus()?.state == .stopped) == isLeft)
            if release != .resume {
                let wanted = isLeft && release == .check ? 300 : own
                #expect(try ResourceSetting.oomScoreAdjustment.read(leaf.pid) == wanted)
                #expect(try tree.main.readStatus()?.state == .stopped || release == .end)
            }
            world.table.setHelpers([])
            kill(leaf.pid, SIGKILL)
            try world.end()
        }
    }

    @Test(.needsCgroups, arguments: [Hold.signal, .keeper])
    func helperOfAnEndedMainProcessGoesOn(_ hold: Hold) async {
        await #expect(processExitsWith: .success) { [hold] in
            let world = try hold.world()
            world.table.setHelpers(["ProcessFixture"])
            let (tree, said) = try world.launch("middle", until: "ready", "middle", "leaf", by: hold.method)
            let middle = try ProcessIdentity(of: try number(after: "middle", in: said))
            let leaf = try number(after: "leaf", in: said)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            kill(tree.main.pid, SIGKILL)
            try world.waitForEvent(tree, .emptied)
            #expect(try middle.readStatus()?.state != .stopped && ProcessStatus(of: leaf)?.state != .stopped)
            world.table.setHelpers([])
            kill(middle.pid, SIGKILL)
            kill(leaf, SIGKILL)
            try world.end()
        }
    }
}

/// The looks that release a helper.
private enum Release: String, CaseIterable, Codable, Sendable {
    case resume, look, list, setting, resources, end, check
}
