import CLinux
import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct SpawnTests {
    @Test func childInheritsOnlyTheRequestedDescriptorsAndSignals() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            // What a daemon has and its apps must not get.
            signal(SIGPIPE, SIG_IGN)
            signal(SIGCHLD, SIG_DFL)
            var mask = sigset_t()
            unsafe sigfillset(&mask)
            unsafe sigprocmask(SIG_BLOCK, &mask, nil)
            let leaked = unsafe [open("/dev/null", O_RDONLY), dup2(0, 700)]
            #expect(leaked.allSatisfy { $0 >= 0 })

            let output = try Pipe()
            let error = try Pipe()
            var request = world.request("describe", output: output)
            request.standardError = error.writeEnd.rawValue
            request.workingDirectory = "/usr"
            request.fileModeMask = 0o027
            request.descriptorLimit = 321
            // A target that is a source of another one. The numbers that are free here depend on the runner.
            request.extraDescriptors = [
                DescriptorMapping(source: output.writeEnd.rawValue, target: error.writeEnd.rawValue + 50),
                DescriptorMapping(source: leaked[0], target: output.writeEnd.rawValue),
            ].filter { $0.target > 2 }
            let tree = try world.start(request)
            try world.waitForEvent(tree, .emptied)

            let lines = output.read().split(separator: "\n").map(String.init)
            let expected = ([0, 1, 2] + request.extraDescriptors.map { Int($0.target) }).sorted()
            let descriptors = try #require(lines.first).split(separator: " ").dropFirst().compactMap { Int($0) }
            #expect(descriptors.sorted() == expected)
            #expect(lines.contains("signals 0"))
            #expect(lines.contains("directory /usr"))
            #expect(lines.contains("input /dev/null"))
            #expect(lines.contains("leads 1"))
            #expect(lines.contains("mask 027"))
            #expect(lines.contains("limit 321"))
            #expect(lines.last == "end")
            #expect(tree.execStatus() == .running)
            #expect(tree.execStatusDescriptor == nil)
        }
    }

    /// A key that one app has put into its session keyring must not be another app's to read.
    @Test func eachLaunchHasASessionKeyringOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            var keyrings: [Substring] = []
            for _ in 0..<2 {
                let output = try Pipe()
                let tree = try world.start(world.request("describe", output: output))
                try world.waitForEvent(tree, .emptied)
                keyrings += output.read().split(separator: "\n").filter { $0.hasPrefix("keyring ") }
            }
            // A sandbox may refuse keyctl(2).
            #expect(keyrings.count == 2)
            #expect(keyrings == ["keyring -1", "keyring -1"] || Set(keyrings).count == 2, "\(keyrings)")
        }
    }

    @Test func amongManyDescriptorsAChildGetsItsOwnToo() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let crowd = (0..<400).map { _ in dup(0) }
            #expect(crowd.allSatisfy { $0 > 2 })
            for _ in 0..<3 {
                let output = try Pipe()
                var request = world.request("describe", output: output)
                request.extraDescriptors = [DescriptorMapping(source: crowd[399], target: 3)]
                let tree = try world.start(request)
                try world.waitForEvent(tree, .emptied)
                #expect(tree.execStatus() == .running)
                #expect(output.read().hasPrefix("descriptors 0 1 2 3\n"))
            }
            // None of ours has been closed meanwhile, and nothing of a child's is left.
            #expect(crowd.allSatisfy { fcntl($0, F_GETFD) == 0 })
            let (reader, writer) = try socketPair()
            var request = SpawnRequest(program: "/bin/true")
            request.extraDescriptors = [DescriptorMapping(source: writer, target: 3)]
            try world.waitForEvent(try world.start(request), .emptied)
            close(writer)
            var byte: UInt8 = 0
            #expect(unsafe recv(reader, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
        }
    }

    @Test func sandboxesWithoutTheNewerCallsGiveTheSame() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            let tree = try world.start(world.request("spawn-in-sandbox", output: output))
            try world.waitForEvent(tree, .mainEnded(.exited(code: 6)))
            let lines = output.read().split(separator: "\n").map(String.init)
            let expected = ["directory /usr", "leads 1", "limit 321", "mask 027", "signals 0", "end"]
            #expect(lines.first == "descriptors 0 1 2")
            #expect(Set(lines).isSuperset(of: expected))
        }
    }

    @Test func environmentIsTheGivenOne() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            var request = SpawnRequest(program: "env", environment: ["A": "1 2", "PATH": "/nowhere:/usr/bin:/bin"])
            request.standardOutput = output.writeEnd.rawValue
            let tree = try world.start(request)
            try world.waitForEvent(tree, .emptied)
            let lines = Set(output.read().split(separator: "\n").map(String.init))
            #expect(lines == ["A=1 2", "PATH=/nowhere:/usr/bin:/bin"])
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func becomesAnotherUser() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            // The fixture may be where only its owner can go.
            let nobody = try UserAccount.named("nobody")
            var request = SpawnRequest(program: "/bin/sh", arguments: ["-c", "id -u; id -g; id -G; exit 3"])
            request.credentials = Credentials(userID: nobody.userID, groupID: nobody.groupID, groups: [12345, 23456])
            request.standardOutput = output.writeEnd.rawValue
            let tree = try world.start(request)
            try world.waitForEvent(tree, .mainEnded(.exited(code: 3)))
            let lines = output.read().split(separator: "\n")
            #expect(lines.prefix(2) == ["\(nobody.userID)", "\(nobody.groupID)"])
            #expect(Set(lines[2].split(separator: " ")).isSuperset(of: ["12345", "23456"]))
            #expect(!lines[2].split(separator: " ").contains("0"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give up being root"))
    func becomingAnotherUserWithoutTheRightIsRefused() async {
        await #expect(processExitsWith: .success) {
            #expect(setuid(65534) == 0)
            let world = try ProcessWorld()
            var request = SpawnRequest(program: "/bin/true")
            request.credentials = Credentials(userID: 1, groupID: 1, groups: [])
            let tree = try world.start(request)
            try world.waitForEvent(tree, .mainEnded(.exited(code: 127)))
            #expect(tree.execStatus() == .failed(.switchingUser(userID: 1, error: Errno(rawValue: EPERM))))
        }
    }

    @Test(.enabled(if: linux_landlock_version() >= 3, "needs Landlock of Linux 6.2"))
    func writesBelowItsPathsAlone() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            let (inside, outside) = (try temporaryDirectory(), try temporaryDirectory())
            defer { for each in [inside, outside] { unsafe system("rm -r \(each)") } }
            // Each line says whether what it tries was done.
            let script = """
                try() { if "$@" 2>/dev/null; then echo yes; else echo no; fi; }
                write() { (echo x >"$1"); }
                try write "$1/new"; try mkdir "$1/directory"; try mv "$1/new" "$1/directory/moved"; try write /dev/null
                try write "$2/new"; try mkdir "$2/directory"; try rm "$2/file"; try write "$2/file"
                try truncate --size=0 "$2/file"; try mv "$1/directory/moved" "$2/moved"; try cat "$2/file"
                """
            try #require(unsafe system("echo kept >\(outside)/file") == 0)
            var request = SpawnRequest(program: "/bin/sh", arguments: ["-c", script, "sh", inside, outside])
            request.environment = ["PATH": "/usr/bin:/bin"]
            request.standardOutput = output.writeEnd.rawValue
            request.writablePaths = [inside]
            let tree = try world.start(request)
            try world.waitForEvent(tree, .emptied)
            #expect(output.read() == "yes\nyes\nyes\nyes\nno\nno\nno\nno\nno\nno\nkept\nyes\n")
        }
    }

    @Test(.enabled(if: linux_landlock_version() >= 3, "needs Landlock of Linux 6.2"))
    func aWritablePathThatIsNotThereIsRefused() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            var request = SpawnRequest(program: "/bin/true")
            request.writablePaths = ["/tmp", "/no/such"]
            let tree = try world.start(request)
            try world.waitForEvent(tree, .mainEnded(.exited(code: 127)))
            let error = Errno(rawValue: ENOENT)
            #expect(tree.execStatus() == .failed(.writablePath(path: "/no/such", error: error)))
        }
    }

    @Test(.enabled(if: canMount, "needs the right to mount"))
    func privateTemporaryDirectoryIsNotShared() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            let file = "/tmp/lifed-private-\(getpid())"
            let script = "ls -A /tmp /var/tmp; stat -c '%a' /tmp; echo x >\(file) && cat \(file)"
            var request = SpawnRequest(program: "/bin/sh", arguments: ["-c", script])
            request.standardOutput = output.writeEnd.rawValue
            request.hasPrivateTemporaryDirectory = true
            let tree = try world.start(request)
            try world.waitForEvent(tree, .emptied)
            #expect(output.read() == "/tmp:\n\n/var/tmp:\n1777\nx\n")
            #expect(unsafe access(file, F_OK) != 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give up being root"))
    func aPrivateTemporaryDirectoryWithoutTheRightIsRefused() async {
        await #expect(processExitsWith: .success) {
            #expect(setuid(65534) == 0)
            let world = try ProcessWorld()
            var request = SpawnRequest(program: "/bin/true")
            request.hasPrivateTemporaryDirectory = true
            let tree = try world.start(request)
            try world.waitForEvent(tree, .mainEnded(.exited(code: 127)))
            #expect(tree.execStatus() == .failed(.privateTemporaryDirectory(Errno(rawValue: EPERM))))
        }
    }

    @Test func failuresAreToldByTheirCause() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let script = try TemporaryScript("#!/no/such/interpreter\n")

            func failure(_ change: (inout SpawnRequest) -> Void) throws -> String {
                var request = SpawnRequest(program: "/bin/true")
                change(&request)
                let tree = try world.start(request)
                try world.waitForEvent(tree, .mainEnded(.exited(code: 127)))
                guard case .failed(let error) = tree.execStatus() else { return "ran" }
                return error.description
            }
            var told = try failure { $0.program = "/usr/bin/clok" }
            #expect(told == "/usr/bin/clok: No such file or directory")
            told = try failure {
                $0.program = "clok"
                $0.searchPath = "/usr/bin::/bin"
            }
            #expect(told == "clok: not found in /usr/bin::/bin")
            told = try failure { $0.program = "/etc/passwd" }
            #expect(told == "/etc/passwd: Permission denied")
            told = try failure { $0.program = "/tmp" }
            #expect(told == "/tmp: Permission denied")
            told = try failure { $0.program = script.path }
            #expect(told == "\(script.path): its interpreter does not exist")
            told = try failure { $0.workingDirectory = "/no/such" }
            #expect(told == "working directory /no/such: No such file or directory")
            told = try failure { $0.arguments = [String(repeating: "x", count: 1 << 20)] }
            #expect(told == "/bin/true: Argument list too long")
        }
    }

    @Test func shortageOfDescriptorsIsAShortage() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 3
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(throws: SpawnError.resources(Errno(rawValue: EMFILE))) {
                _ = try spawn(SpawnRequest(program: "/bin/true"))
            }
        }
    }

    @Test func requestsThatCannotBePassedAreRefused() {
        func isRefused(_ change: (inout SpawnRequest) -> Void) -> Bool {
            var request = SpawnRequest(program: "/bin/true")
            change(&request)
            do {
                try request.validate()
                return false
            } catch {
                return true
            }
        }
        #expect(!isRefused { _ in })
        #expect(isRefused { $0.program = "" })
        #expect(isRefused { $0.program = "a\0b" })
        #expect(isRefused { $0.arguments = ["a\0b"] })
        #expect(isRefused { $0.environment = ["A=B": ""] })
        #expect(isRefused { $0.environment = ["": ""] })
        #expect(isRefused { $0.environment = ["A": "\0"] })
        #expect(isRefused { $0.extraDescriptors = [DescriptorMapping(source: 1, target: 1)] })
        #expect(isRefused { $0.extraDescriptors = Array(repeating: DescriptorMapping(source: 1, target: 5), count: 2) })
    }

    @Test func twoHundredSpawnsLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let before = ProcessWorld.descriptorCount
            for number in 0..<200 {
                let program = number % 4 == 0 ? "/no/such/program" : "/bin/true"
                let tree = try world.start(SpawnRequest(program: program))
                if number % 3 == 0 { world.table.remove(tree.token) }
            }
            try world.wait("all have ended") {
                world.reap()
                return ProcessWorld.childCount == 0
            }
            #expect(world.table.trees.allSatisfy { $0.isEmpty })
            #expect(world.events.count { $0.change == .emptied } == 133)
            for tree in world.table.trees {
                #expect(tree.execStatus() != .pending)
                world.table.remove(tree.token)
            }
            world.table.removeDiscardedGroups()
            // The test library opens and closes a few of its own meanwhile.
            #expect(ProcessWorld.descriptorCount < before + 20)
        }
    }
}

@Suite struct UserAccountTests {
    @Test func findsAccountsByName() throws {
        let root = try UserAccount.named("root")
        #expect(root.userID == 0)
        #expect(root.groups.contains(0))
        #expect(root.home.hasPrefix("/"))
    }

    @Test func nameOfANumberIsThatOfTheFileOfUsers() {
        #expect(UserAccount.name(ofUserID: 0) == "root")
        #expect(UserAccount.name(ofUserID: 4_000_000_001) == "4000000001")
    }

    @Test func unknownAccountsAreToldApart() {
        #expect(throws: UserLookupError.noSuchUser("no-such-user-here")) {
            try UserAccount.named("no-such-user-here")
        }
        #expect(throws: UserLookupError.self) { try UserAccount.named("ro\0ot") }
    }
}

/// Two ends of a connection.
private func socketPair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (ends[0], ends[1])
}

/// A Boolean value that indicates whether this process may make a mount namespace.
private let canMount = unsafe system("unshare --mount true 2>/dev/null") == 0

private func temporaryDirectory() throws -> String {
    var path = Array("/tmp/lifed-test-XXXXXX".utf8CString)
    let isMade = unsafe mkdtemp(&path) != nil
    try #require(isMade)
    return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
