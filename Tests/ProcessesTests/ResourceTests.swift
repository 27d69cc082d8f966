import Glibc
import Testing

@testable import Processes

extension Trait where Self == ConditionTrait {
    /// Some things can be given back by root alone.
    static var needsRoot: Self { .enabled(if: geteuid() == 0, "it needs root") }
}

extension ResourceControl {
    /// What this machine can do without controllers.
    static func withoutCgroups() -> ResourceControl {
        ResourceControl(capabilities: ResourceCapabilities(cgroups: nil))
    }
}

extension ResourceProfile {
    static var background: ResourceProfile {
        var profile = ResourceProfile()
        profile.cpuWeight = 20
        profile.nice = 10
        profile.ioPriority = .bestEffort(7)
        profile.oomScoreAdjustment = 300
        profile.timerSlack = 50_000_000
        return profile
    }
}

/// The four values of a thread, or of a process's first thread.
private func values(of id: ProcessID) -> [Int?] {
    [ResourceSetting.nice, .ioPriority, .oomScoreAdjustment, .timerSlack].map { try? $0.read(id) }
}

private func set(_ values: [Int?], of id: ProcessID) {
    for (setting, value) in zip([ResourceSetting.nice, .ioPriority, .oomScoreAdjustment, .timerSlack], values) {
        if let value { _ = setting.write(value, to: id) { true } }
    }
}

/// Takes every capability from this thread and what it starts, for good, by calls that have no declaration. Changing the
/// user instead would hide the files of this process in /proc from itself.
func dropCapabilities() -> Bool {
    typealias Capset = @convention(c) (UnsafePointer<UInt32>, UnsafePointer<UInt32>) -> Int32
    typealias Prctl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let capsetAddress = unsafe dlsym(nil, "capset"), let prctlAddress = unsafe dlsym(nil, "prctl") else {
        return false
    }
    let capset = unsafe unsafeBitCast(capsetAddress, to: Capset.self)
    let prctl = unsafe unsafeBitCast(prctlAddress, to: Prctl.self)
    // PR_CAPBSET_DROP, until there is no capability of this number.
    var number: UInt = 0
    while prctl(24, number, 0, 0, 0) == 0 { number += 1 }
    // The third version of the interface.
    return unsafe capset([0x2008_0522, 0], [UInt32](repeating: 0, count: 6)) == 0
}

/// A Boolean value that indicates whether this process has a capability, by its number in capabilities(7).
private func hasCapability(_ number: Int) -> Bool {
    let status = String(decoding: (try? ProcFile.read("/proc/self/status", limit: 1 << 16)) ?? [], as: UTF8.self)
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let set = line.flatMap { UInt64($0.dropFirst("CapEff:".count).drop { $0 == "\t" }, radix: 16) } ?? 0
    return set & (1 << UInt64(number)) != 0
}

private func threads(of tree: ProcessTree) -> [ProcessID] {
    tree.processes().flatMap { (try? ProcFile.processIDs(in: "/proc/\($0.pid)/task")) ?? [] }
}

@Suite(.needsRoot, .endsWithRunner) struct ResourceTests {
    @Test(
        .enabled(if: ProcessWorld.canMakeCgroups, "tests of cgroups need a writable cgroup v2 hierarchy (Linux 5.14)"))
    func attributesThatWereRefusedAreWrittenAgain() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld(hasCgroups: true)
            var capabilities = ResourceCapabilities()
            capabilities.attributes = CaseSet([.cpuWeight])
            let control = ResourceControl(capabilities: capabilities)
            let (tree, _) = try world.launch("idle")
            let failures = try withoutFreeDescriptors { control.apply(.background, to: tree) }
            #expect(failures.map(\.what) == ["cpu.weight"])
            #expect(tree.resources?.areAttributesKnown == false)
            #expect(control.apply(.background, to: tree) == [])
            #expect(tree.resources?.areAttributesKnown == true)
            try world.end()
        }
    }

    @Test func everyThreadIsChangedAndGetsItsOwnBack() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let control = ResourceControl.withoutCgroups()
            let (tree, _) = try world.launch("threads")
            let own = values(of: tree.main.pid)
            #expect(control.apply(.background, to: tree) == [])
            #expect(threads(of: tree).count == 5)
            for thread in threads(of: tree) {
                #expect(values(of: thread) == [10, 2 << 13 | 7, 300, 50_000_000])
            }
            #expect(control.apply(ResourceProfile(), to: tree) == [])
            for thread in threads(of: tree) { #expect(values(of: thread) == own) }
            try world.end()
        }
    }

    @Test func ofManyThreadsTheFirstGetValues() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let control = ResourceControl.withoutCgroups()
            let (tree, _) = try world.launch("many-threads")
            let own = values(of: tree.main.pid)
            #expect(control.apply(.background, to: tree) == [])
            #expect(values(of: tree.main.pid) == [10, 2 << 13 | 7, 300, 50_000_000])
            let changed = threads(of: tree).filter { (try? ResourceSetting.nice.read($0)) == 10 }
            #expect(threads(of: tree).count == 3001 && changed.count == 1 + 2048)
            #expect(control.apply(ResourceProfile(), to: tree) == [])
            for thread in threads(of: tree) { #expect(values(of: thread) == own) }
            try world.end()
        }
    }

    @Test func valueChosenByAppIsRestored() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let control = ResourceControl.withoutCgroups()
            let (tree, _) = try world.launch("threads")
            let main = tree.main
            let second = try #require(threads(of: tree).last)
            _ = ResourceSetting.nice.write(5, to: second, if: { true })
            _ = ResourceSetting.ioPriority.write(IOPriority.idle.rawValue, to: second, if: { true })
            _ = ResourceSetting.oomScoreAdjustment.write(700, to: main.pid, if: { true })
            control.apply(.background, to: tree)
            #expect(values(of: second) == [15, IOPriority.idle.rawValue, 700, 50_000_000])
            #expect(try ResourceSetting.nice.read(main.pid) == 10)

            // What it chooses meanwhile is its own, too.
            _ = ResourceSetting.nice.write(3, to: second, if: { true })
            control.apply(ResourceProfile(), to: tree)
            #expect(values(of: second) == [3, IOPriority.idle.rawValue, 700, 50_000])
            #expect(try ResourceSetting.nice.read(main.pid) == 0)
            try world.end()
        }
    }

    @Test func processBornBetweenProfilesHasItsParentsOwnValue() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let control = ResourceControl.withoutCgroups()
            let output = try Pipe()
            let tree = try world.table.launch(world.request("fork-when-asked", output: output), name: "a")
            tree.begin()
            var said = ""
            try world.wait("ready") {
                said += output.read()
                return said.hasSuffix("\n")
            }
            _ = ResourceSetting.nice.write(2, to: tree.main.pid, if: { true })
            let own = values(of: tree.main.pid)
            control.apply(.background, to: tree)
            kill(tree.main.pid, SIGUSR1)
            try world.wait("a child") {
                said += output.read()
                return said.contains("child") && said.hasSuffix("\n")
            }
            let child = try number(after: "child", in: said)
            #expect(values(of: child) == [12, 2 << 13 | 7, 300, 50_000_000])

            // From one profile to another, the child is known as well.
            var suspended = ResourceProfile.background
            suspended.oomScoreAdjustment = 600
            suspended.nice = 11
            control.apply(suspended, to: tree)
            #expect(values(of: child) == [13, 2 << 13 | 7, 600, 50_000_000])
            control.apply(ResourceProfile(), to: tree)
            #expect(values(of: child) == own)
            try world.end()
        }
    }

    @Test func laterDaemonRestoresValuesFromRecord() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            let own = values(of: tree.main.pid)
            let previous = ResourceControl.withoutCgroups()
            previous.apply(.background, to: tree)
            let next = ResourceControl.withoutCgroups()
            let record = try #require(tree.resources)
            var numbers: [UInt64] = []
            record.forEachNumber { numbers.append($0) }
            let kept = try #require(ResourceRecord { numbers.isEmpty ? nil : numbers.removeFirst() })
            #expect(kept == record)
            tree.restore(kept)
            next.apply(ResourceProfile(), to: tree)
            #expect(values(of: tree.main.pid) == own)
            try world.end()
        }
    }

    @Test func recordIsSavedBeforeValuesChangeAndHoldsBeforeAndAfter() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            let own = values(of: tree.main.pid)
            var suspended = ResourceProfile.background
            suspended.oomScoreAdjustment = 600
            for profile in [.background, suspended] {
                let control = ResourceControl.withoutCgroups()
                let before = values(of: tree.main.pid)
                var saved: ResourceRecord?
                control.apply(profile, to: tree) { record in
                    saved = record
                    #expect(values(of: tree.main.pid) == before)
                }
                let kept = try #require(saved)
                // The daemon that saved it ends before or after the changes.
                for present in [before, values(of: tree.main.pid)] {
                    set(present, of: tree.main.pid)
                    tree.restore(kept)
                    ResourceControl.withoutCgroups().apply(ResourceProfile(), to: tree)
                    #expect(values(of: tree.main.pid) == own)
                }
                control.apply(profile, to: tree)
            }
            try world.end()
        }
    }

    /// Returns the record of a nice value, and of one row of numbers of a setting.
    private func record(nice: Int = .min, _ setting: ResourceSetting? = nil, row: [Int] = []) -> ResourceRecord? {
        var numbers = [.min, .min, .min, nice, .min, .min, .min, 0]
        for each in ResourceSetting.allCases { numbers += each == setting ? [1] + row : [0] }
        var rest = numbers[...]
        return ResourceRecord { rest.popFirst().map { UInt64(bitPattern: Int64($0)) } }
    }

    /// Nor can it be given back: system calls take less than a number in a record can be.
    @Test(arguments: [(0, 20), (0, Int.max), (1, 1 << 32), (1, -1), (2, 1 - Int.max), (3, -1)])
    func impossibleValueIsLeftOut(setting: Int, value: Int) throws {
        let setting = try #require(ResourceSetting(rawValue: setting))
        for row in [[5, 6, 5, value, 0], [5, 6, 5, 0, value]] {
            let read = record(nice: 10, setting, row: row)
            #expect(read != nil && read == record(nice: 10))
        }
        #expect(record(nice: .max) == record() && record() != nil)
        #expect(record(setting, row: [5, 6, 5, 0, 10]) != record())
    }

    @Test func aStoppedAppIsReached() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let control = ResourceControl.withoutCgroups()
            let (tree, _) = try world.launch("family")
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            #expect(control.apply(.background, to: tree) == [])
            #expect(try tree.processes().allSatisfy { try ResourceSetting.oomScoreAdjustment.read($0.pid) == 300 })
            #expect(tree.checkStopped() == .stopped)
            try world.end()
        }
    }

    @Test func processesThatAreGoneAreNoError() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            let main = tree.main
            tree.kill()
            try world.waitForEvent(tree, .emptied)
            for setting in ResourceSetting.allCases {
                #expect(setting.write(1, to: main.pid, if: { () throws(Errno) in try tree.isCurrent(main) }) == nil)
                #expect(try setting.read(main.pid) == nil)
            }
            #expect(ResourceControl.withoutCgroups().apply(.background, to: tree) == [])
            try world.end()
        }
    }

    /// Another process that has the number by now is left alone.
    @Test func aNumberThatWasReusedIsNotTouched() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let (tree, _) = try world.launch("idle")
            let own = values(of: tree.main.pid)
            let former = ProcessIdentity(pid: tree.main.pid, startTime: tree.main.startTime - 1)
            for setting in ResourceSetting.allCases {
                let error = setting.write(7, to: tree.main.pid) { () throws(Errno) in try tree.isCurrent(former) }
                #expect(error == nil)
            }
            #expect(values(of: tree.main.pid) == own)
            try world.end()
        }
    }
}

@Suite struct ResourceCapabilityTests {
    @Test(.needsRoot) func rootCanDoEverythingButWeights() {
        let capabilities = ResourceCapabilities(cgroups: nil)
        #expect(
            capabilities.done == [
                "processor time by nice values", "I/O by priority", "the order in which the kernel kills",
                "timer slack",
            ])
        #expect(
            capabilities.leftOut == [
                "memory protection (no memory controller)", "a limit of processes (no pids controller)",
            ])
        #expect(capabilities.canLowerNice && capabilities.canSetRealTimeIO)
        // CAP_SYS_RESOURCE, which root in a container often has not.
        #expect(capabilities.canLowerOOMScore == hasCapability(24))
    }

    /// A raised value must come back: without privileges, nice values are left alone, and oom_score_adj is not.
    @Test(.needsRoot) func withoutPrivilegesNothingIsChangedForGood() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            // RLIMIT_NICE, whose name is not imported.
            #expect(unsafe setrlimit(13, &limit) == 0)
            #expect(dropCapabilities())
            let world = try ProcessWorld()
            let capabilities = ResourceCapabilities(cgroups: nil)
            #expect(capabilities.done == ["I/O by priority", "the order in which the kernel kills"])
            #expect(capabilities.leftOut.count == 4)
            let control = ResourceControl(capabilities: capabilities)
            let tree = try world.table.launch(SpawnRequest(program: "/bin/sleep", arguments: ["1000"]))
            tree.begin()
            try world.wait("it runs") { tree.execStatus() == .running }
            let own = values(of: tree.main.pid)
            var profile = ResourceProfile.background
            #expect(control.apply(profile, to: tree) == [])
            #expect(values(of: tree.main.pid) == [own[0], 2 << 13 | 7, 300, own[3]])
            profile.oomScoreAdjustment = -300
            profile.ioPriority = .realTime(0)
            profile.nice = -1
            #expect(control.apply(profile, to: tree) == [])
            #expect(values(of: tree.main.pid) == own)
            try world.end()
        }
    }

    @Test func tryingLeavesEverythingAsItWas() async {
        await #expect(processExitsWith: .success) {
            let before = values(of: getpid())
            _ = ResourceCapabilities(cgroups: nil)
            #expect(values(of: getpid()) == before)
            #expect(ProcessWorld.childCount == 0)
        }
    }
}

@Suite struct GroupAttributeTests {
    /// A directory with files in the place of the kernel's.
    private func withGroup(_ attributes: [GroupAttribute], _ body: (Cgroup) throws -> Void) throws {
        var template = Array("/tmp/lifed-group-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Errno(rawValue: Glibc.errno) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for attribute in GroupAttribute.allCases { unsafe unlink("\(path)/\(attribute.name)") }
            unsafe rmdir(path)
        }
        for attribute in attributes { close(unsafe open("\(path)/\(attribute.name)", O_CREAT | O_WRONLY, 0o644)) }
        try body(Cgroup(mountPoint: path, name: ""))
    }

    private func text(_ attribute: GroupAttribute, of group: Cgroup) -> String {
        String(decoding: (try? ProcFile.read("\(group.path)/\(attribute.name)", limit: 64)) ?? [], as: UTF8.self)
    }

    @Test func onlyChangedValuesAreWritten() throws {
        try withGroup(GroupAttribute.allCases) { group in
            let control = ResourceControl(capabilities: ResourceCapabilities(abilities: 127, groups: group))
            var profile = ResourceProfile()
            profile.cpuWeight = 20
            #expect(control.write(profile, to: group, before: ResourceProfile()) == [])
            #expect(text(.cpuWeight, of: group) == "20")
            #expect(text(.ioWeight, of: group) == "" && text(.memoryLow, of: group) == "")
            #expect(text(.processLimit, of: group) == "")

            var other = profile
            other.cpuWeight = nil
            other.memoryLow = 4096
            other.processLimit = 100
            #expect(control.write(other, to: group, before: profile) == [])
            #expect(text(.cpuWeight, of: group) == "100")
            #expect(text(.memoryLow, of: group) == "4096")
            #expect(text(.processLimit, of: group) == "100")

            // The present values are not known: everything is written.
            #expect(control.write(profile, to: group, before: nil) == [])
            #expect(text(.ioWeight, of: group) == "100" && text(.memoryLow, of: group).hasPrefix("0"))
            #expect(text(.processLimit, of: group) == "max")
        }
    }

    @Test(
        arguments: [
            (.number(7), 7), (.percent(15), 4915), (.percent(100), 32_768), (.unlimited, nil),
        ] as [(ProcessLimit, Int?)])
    func aLimitOfProcessesIsANumberOrAShare(limit: ProcessLimit, expected: Int?) {
        #expect(limit.number(of: 32_768) == expected)
        #expect(ProcessLimit.percent(15).number(of: 2) == 1)
        #expect((1...Int(Int32.max)).contains(ProcessLimit.possibleProcesses()))
    }

    @Test func weightsTakeThePlaceOfPriorities() throws {
        try withGroup([.cpuWeight]) { group in
            let capabilities = ResourceCapabilities(abilities: 127, groups: group)
            #expect(capabilities.settings == CaseSet([.ioPriority, .oomScoreAdjustment, .timerSlack]))
            #expect(capabilities.done.prefix(2) == ["processor time by weight", "I/O by priority"])
        }
    }

    @Test func valuesThatNeedARightWithoutItAreRefused() {
        var profile = ResourceProfile()
        (profile.nice, profile.ioPriority, profile.oomScoreAdjustment) = (-1, .realTime(0), -1)
        let may = { (abilities: Int32) in
            ResourceCapabilities(abilities: abilities, groups: nil).refused(profile).map(\.key)
        }
        // The abilities to restore nice values and OOM scores, and to set I/O priorities, of linux_resource_ability.
        let restoring: Int32 = 1 | 4 | 16
        #expect(may(restoring) == ["nice", "ioPriority", "oomScoreAdjustment"])
        #expect(may(127) == [])
        // Of these, leftOut tells that they are not controlled with any value.
        #expect(may(0) == [])
        (profile.nice, profile.ioPriority, profile.oomScoreAdjustment) = (0, .bestEffort(0), 0)
        #expect(may(restoring) == [])
    }

    @Test func aGroupThatIsGoneIsNoError() {
        var capabilities = ResourceCapabilities()
        capabilities.attributes = CaseSet(GroupAttribute.allCases)
        let group = Cgroup(mountPoint: "/sys/fs/cgroup/no-such", name: "group")
        let control = ResourceControl(capabilities: capabilities)
        #expect(control.write(ResourceProfile(), to: group, before: nil) == [])
    }
}
