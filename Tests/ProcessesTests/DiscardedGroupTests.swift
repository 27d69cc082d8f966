import Glibc
import Testing

@testable import Processes

@Suite(.needsCgroups, .endsWithRunner) struct DiscardedGroupTests {
    /// The kernel takes long to remove a group, and a reply may wait for the end of the app.
    @Test func groupOfAnEndedTreeStaysUntilDiscardedGroupsAreRemoved() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("idle")
            let group = try world.group(of: tree)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            world.table.remove(tree.token)
            #expect(unsafe access(group.path, F_OK) == 0)
            world.table.removeDiscardedGroups()
            #expect(unsafe access(group.path, F_OK) != 0)
            try world.end()
        }
    }

    @Test func discardedGroupThatHoldsAProcessIsRemovedWhenItHasEnded() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (other, _) = try world.launch("family")
            let (tree, _) = try world.launch("idle")
            let group = try world.group(of: tree)
            let guest = try #require(other.processes().last)
            try group.write("\(guest.pid)", to: "cgroup.procs")
            world.table.remove(tree.token)
            world.table.removeDiscardedGroups()
            #expect(unsafe access(group.path, F_OK) == 0)
            kill(tree.main.pid, SIGKILL)
            kill(guest.pid, SIGKILL)
            try world.wait("the group is removed") {
                world.reap()
                world.table.removeDiscardedGroups()
                return unsafe access(group.path, F_OK) != 0
            }
            try world.end()
        }
    }
}
