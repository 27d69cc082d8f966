import Glibc
import Testing

@testable import Processes

@Suite struct CgroupTextTests {
    @Test func theGroupIsTheOneOfVersionTwo() {
        #expect(Cgroup.name(inList: "4:memory:/a\n0::/b/c\n") == "b/c")
        #expect(Cgroup.name(inList: "0::/\n") == "")
        #expect(Cgroup.name(inList: "0::/../b\n") == nil)
        #expect(Cgroup.name(inList: "0::/b (deleted)\n") == nil)
        #expect(Cgroup.name(inList: "1:name=systemd:/a\n") == nil)
        #expect(Cgroup.name(inList: "") == nil)
    }

    /// An app may make groups below its own and go there: its processes are its processes still.
    @Test(arguments: ["helper", "\u{301}", "x (deleted)", "\u{301} (deleted)", "\r", "\u{200D}x", "..."])
    func processBelowGroupIsInGroup(name: String) {
        let group = Cgroup(mountPoint: "/sys/fs/cgroup", name: "lifed.service/apps")
        let place = Cgroup.place(inList: "1:cpu:/\n0::/lifed.service/apps/app-a/\(name)\n")
        #expect(place.map(group.contains(groupNamed:)) == true)
    }

    @Test func namesAreComparedByteForByte() {
        let group = Cgroup(mountPoint: "/sys/fs/cgroup", name: "caf\u{E9}")
        #expect(group.contains(groupNamed: "caf\u{E9}"))
        #expect(!group.contains(groupNamed: "cafe\u{301}"))
        #expect(Cgroup.name(inList: "0::/\u{301}a\n") == "\u{301}a")
    }

    @Test func theHierarchyMayBeMountedBesideOthers() {
        let mounts = """
            30 20 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw
            31 30 0:27 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory
            32 30 0:28 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw

            """
        #expect(Cgroup.mountPoint(inMounts: mounts) == "/sys/fs/cgroup/unified")
        #expect(Cgroup.mountPoint(inMounts: mounts.replacing("0:28 / ", with: "0:28 /part ")) == nil)
        #expect(Cgroup.mountPoint(inMounts: "32 30 -") == nil)
        #expect(Cgroup.mountPoint(inMounts: "") == nil)
    }

    @Test func eventsAreReadByName() {
        let events = CgroupEvents(parsing: Array("populated 1\nfrozen 0\nsomething 1\n".utf8).span)
        #expect(events.isPopulated)
        #expect(!events.isFrozen)
        #expect(CgroupEvents(parsing: Array("frozen 1\npopulated 0\n".utf8).span).isFrozen)
        #expect(!CgroupEvents(parsing: Array("frozen 11\n\npopulated".utf8).span).isFrozen)
    }

    @Test(arguments: [
        ("org.example.app", "app-org.example.app"), ("cgroup.procs", "app-cgroup.procs"), ("..", "app-.."),
        ("a/b", #"app-a\x2fb"#), ("\n", #"app-\x0a"#), ("é", #"app-\xc3\xa9"#), ("a@2", #"app-a\x402"#),
    ])
    func namesCannotBeMistaken(_ name: String, _ group: String) {
        #expect(CgroupSubtree.groupName(for: name) == group)
    }

    @Test func pathsThatLeadElsewhereNameNothing() throws {
        var paths = ["", "/", "/tmp", "/proc/self"]
        if let here = try Cgroup.ofThisProcess() {
            paths += [here.mountPoint, "\(here.mountPoint)/", "\(here.path)/../.."]
        }
        for path in paths {
            #expect(try Cgroup.existing(at: path) == nil)
            #expect(try CgroupSubtree.existing(at: path) == nil)
        }
    }

    @Test func groupContainsTheGroupsBelowIt() {
        let group = Cgroup(mountPoint: "/sys/fs/cgroup", name: "a/b")
        #expect(group.contains(groupNamed: "a/b"))
        #expect(group.contains(groupNamed: "a/b/c"))
        #expect(!group.contains(groupNamed: "a/bc"))
        #expect(!group.contains(groupNamed: "a"))
        #expect(group.parent?.name == "a")
        #expect(group.parent?.parent?.path == "/sys/fs/cgroup")
    }
}

@Suite(.needsCgroups, .endsWithRunner) struct CgroupTests {
    @Test func theProgramIsBornInItsGroup() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("idle")
            #expect(try Cgroup.name(of: tree.main.pid)?.hasSuffix("/apps/app-idle") == true)
            #expect(tree.processes().map(\.pid) == [tree.main.pid])
            try world.end()
        }
    }

    @Test func aGroupThatWasKilledIsNotUsedAgain() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            for _ in 0..<3 {
                let (tree, _) = try world.launch("idle")
                tree.kill()
                try world.waitForEvent(tree, .emptied)
                world.table.remove(tree.token)
            }
            let (first, _) = try world.launch("idle")
            let (second, _) = try world.launch("idle")
            #expect(try Cgroup.name(of: first.main.pid)?.hasSuffix("/apps/app-idle") == true)
            #expect(try Cgroup.name(of: second.main.pid)?.hasSuffix("/apps/app-idle@2") == true)
            try world.end()
        }
    }

    @Test func groupWhoseSetUpIsCompleteIsLimited() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("idle")
            tree.completeSetUp()
            let limit = try ProcFile.read(world.group(of: tree).path + "/cgroup.max.descendants", limit: 16)
            #expect(limit == Array("256\n".utf8))
            try world.end()
        }
    }

    @Test func groupMadeByAppBelongsToApp() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("family")
            let inner = try world.group(of: tree).child("a")
            try inner.create()
            try inner.child("b").create()
            for process in tree.processes().suffix(50) {
                try inner.child("b").write("\(process.pid)", to: "cgroup.procs")
            }
            #expect(tree.processes().count == 201)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            world.table.remove(tree.token)
            world.table.removeDiscardedGroups()
            #expect(unsafe access(inner.path, F_OK) != 0)
            try world.end()
        }
    }

    @Test func processInGroupWhoseNameIsNotUTF8BelongsToApp() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("family")
            let group = try world.group(of: tree)
            let inner = Array("\(group.path)/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF)]
            try #require(unsafe mkdir(inner + [0], 0o755) == 0)
            let file = unsafe open(inner + "/cgroup.procs".utf8CString, O_WRONLY | O_CLOEXEC)
            for process in tree.processes().suffix(50) {
                let number = "\(process.pid)"
                #expect(unsafe write(file, number, number.utf8.count) == number.utf8.count)
            }
            close(file)
            #expect(tree.processes().count == 201)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(tree.processes().filter { $0.state != .stopped } == [])
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            world.table.remove(tree.token)
            world.table.removeDiscardedGroups()
            #expect(unsafe access(group.path, F_OK) != 0)
            try world.end()
        }
    }

    /// The kernel lists the processes of a threaded group in the domain above alone.
    @Test func processInThreadedGroupMadeByAppBelongsToApp() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (tree, _) = try world.launch("family")
            let inner = try world.group(of: tree).child("a")
            try inner.create()
            try inner.write("threaded", to: "cgroup.type")
            for process in tree.processes().suffix(50) {
                try inner.write("\(process.pid)", to: "cgroup.threads")
            }
            #expect(tree.processes().count == 201)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            tree.resume()
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            try world.end()
        }
    }

    /// The parent of the last process is none of ours and outside of the group, so that no SIGCHLD tells.
    @Test func emptinessIsToldByTheKernel() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let (other, _) = try world.launch("family")
            let (tree, _) = try world.launch("idle")
            let group = try world.group(of: tree)
            let guest = try #require(other.processes().last)
            try group.write("\(guest.pid)", to: "cgroup.procs")
            kill(tree.main.pid, SIGKILL)
            try world.waitForEvent(tree, .mainEnded(.killed(by: .kill, dumpedCore: false)))
            #expect(!tree.isEmpty)
            _ = world.table.acknowledgeChange(of: tree.token)
            kill(guest.pid, SIGKILL)
            var poller = pollfd(fd: try #require(tree.changeDescriptors.first), events: Int16(POLLPRI), revents: 0)
            #expect(unsafe poll(&poller, 1, 60_000) == 1)
            #expect(
                world.table.acknowledgeChange(of: tree.token) == [TreeEvent(tree: tree.token, change: .emptied)])
            #expect(unsafe poll(&poller, 1, 0) == 0)
            try world.end()
        }
    }

    @Test func groupOfNewTreeTellsOfNoChange() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let tree = try world.table.launch(SpawnRequest(program: "/bin/true"))
            var change = pollfd(fd: try #require(tree.changeDescriptors.first), events: Int16(POLLPRI), revents: 0)
            #expect(unsafe poll(&change, 1, 0) == 0)
            try world.end()
        }
    }

    @Test func aProgramThatDoesNotExistLeavesNoGroup() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let tree = try world.start(SpawnRequest(program: "/no/such"), name: "missing")
            try world.wait("it failed") { tree.execStatus() != .pending }
            let group = try #require(try Cgroup.ofThisProcess()).child("lifed-test-\(getpid())/apps/app-missing")
            world.table.remove(tree.token)
            try world.wait("the group is removed") {
                world.reap()
                return unsafe access(group.path, F_OK) != 0
            }
            try world.end()
        }
    }

    @Test func emptyGroupOfEarlierDaemonIsRemoved() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let apps = try #require(world.base).child("apps")
            let (tree, _) = try world.launch("idle")
            for name in ["app-ended", "app-ended/inner"] { try apps.child(name).create() }
            _ = world.table.endRestoration()
            #expect(try apps.children() == [apps.child("app-idle")])
            #expect(tree.processes().map(\.pid) == [tree.main.pid])
            try world.end()
        }
    }

    /// A name comes from a file, which another program may have written.
    @Test func namesThatCannotBeOursNameNothing() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            let base = try #require(world.base)
            let subtree = try #require(world.table.cgroups)
            let (tree, _) = try world.launch("idle")
            // Where some of the names would lead.
            for name in ["daemon", "apps/daemon"] { try base.child(name).create() }
            #expect(subtree.group(named: "app-idle") == base.child("apps").child("app-idle"))
            #expect(subtree.group(named: "app-other") == nil)
            let names = [
                "", ".", "..", "../daemon", "daemon", "app-idle/../../daemon", "app-idle/", "app-idle\0", "app-idle\n",
                "app-" + String(repeating: "a", count: 252),
            ]
            for name in names { #expect(subtree.group(named: name) == nil) }
            #expect(subtree.groupName(of: tree.main.pid) == "app-idle")
            #expect(subtree.groupName(of: getpid()) == nil)
            try world.end()
        }
    }

    @Test func aProcessCanMoveIntoASubtreeOfItsOwnAndBack() async {
        await #expect(processExitsWith: .success) {
            let here = try #require(try Cgroup.ofThisProcess())
            let origin = here.child("lifed-test-\(getpid())")
            try origin.create()
            try origin.write("0", to: "cgroup.procs")
            let subtree = try CgroupSubtree.claim(name: "lifed-x")
            #expect(try Cgroup.ofThisProcess() == origin.child("lifed-x").child("daemon"))
            #expect(subtree.path == origin.child("lifed-x").path)
            // The next daemon finds the same place.
            #expect(try CgroupSubtree.claim(name: "lifed-x").path == subtree.path)
            #expect(try Cgroup.ofThisProcess() == origin.child("lifed-x").child("daemon"))
            subtree.leave()
            #expect(try Cgroup.ofThisProcess() == origin)
            #expect(unsafe access(subtree.path, F_OK) != 0)
            try here.write("0", to: "cgroup.procs")
            #expect(origin.remove())
        }
    }
}
