import Glibc
import Testing

@testable import Processes

/// Directories with files in the place of the kernel's.
private final class GroupDirectories {
    let path: String

    init() throws {
        var template = Array("/tmp/lifed-groups-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var parent: Cgroup { Cgroup(mountPoint: path, name: "") }

    func group(_ name: String, processes: String = "") throws -> Cgroup {
        let group = parent.child(name)
        try group.create()
        try write(processes, to: group)
        return group
    }

    /// Makes a group.
    func files(_ name: String) throws -> GroupFiles {
        _ = try group(name)
        return GroupFiles(of: name, in: parent)
    }

    func write(_ processes: String, to group: Cgroup) throws {
        let file = unsafe open("\(group.path)/cgroup.procs", O_CREAT | O_WRONLY | O_TRUNC, 0o644)
        try #require(unsafe Glibc.write(file, processes, processes.utf8.count) == processes.utf8.count)
        close(file)
    }

    /// The names of the groups of which this process has files open.
    var openGroups: Set<String> {
        Set(
            (0..<1024).compactMap { number -> String? in
                let text = ProcPath(getpid(), "fd/", Int32(number)).readLink() ?? ""
                guard text.hasPrefix(path + "/") else { return nil }
                return text.dropFirst(path.count + 1).split(separator: "/").first.map(String.init)
            })
    }

    deinit {
        for number in 0..<32 {
            unsafe unlink("\(path)/\(number)/cgroup.procs")
            unsafe rmdir("\(path)/\(number)")
        }
        unsafe rmdir(path)
    }
}

@Suite struct GroupFilesTests {
    @Test func groupThatWasLookedAtLeastRecentlyIsClosed() throws {
        let directories = try GroupDirectories()
        let recent = RecentGroupFiles()
        let files = try (0..<18).map { try directories.files(String($0)) }
        for file in files.prefix(16) { recent.touch(file, main: getpid()) }
        #expect(directories.openGroups == Set((0..<16).map(String.init)))
        // Another look at the first one makes the second one the oldest.
        recent.touch(files[0], main: getpid())
        recent.touch(files[16], main: getpid())
        recent.touch(files[17], main: getpid())
        #expect(directories.openGroups == Set((0..<18).map(String.init)).subtracting(["1", "2"]))
        // It is opened again.
        recent.touch(files[1], main: getpid())
        #expect(directories.openGroups.contains("1") && !directories.openGroups.contains("3"))
    }

    @Test func groupThatIsRemovedMakesRoom() throws {
        let directories = try GroupDirectories()
        let recent = RecentGroupFiles()
        let files = try (0..<17).map { try directories.files(String($0)) }
        for file in files.prefix(16) { recent.touch(file, main: getpid()) }
        recent.remove(files[5])
        files[5].close()
        recent.touch(files[16], main: getpid())
        #expect(directories.openGroups == Set((0..<17).map(String.init)).subtracting(["5"]))
    }

    @Test func openFilesShowThePresentProcesses() throws {
        let directories = try GroupDirectories()
        let recent = RecentGroupFiles()
        let group = try directories.group("0", processes: "12\n13\n")
        let files = GroupFiles(of: "0", in: directories.parent)
        #expect(files.processIDs() == [12, 13])
        recent.touch(files, main: getpid())
        #expect(files.processIDs() == [12, 13])
        try directories.write("14\n", to: group)
        #expect(files.processIDs() == [14])
        #expect(files.processStatus(of: getpid())?.pid == getpid())
        #expect(files.processStatus(of: getppid())?.pid == getppid())
        files.close()
        #expect(files.processIDs() == [14])
    }
}

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
