@testable import Processes

extension FuzzTarget {
    /// `/proc/PID/stat`, of which a process chooses its name.
    static let procStatus = FuzzTarget("proc-status", takesList: true) { bytes in
        guard let status = ProcessStatus(parsing: bytes) else { return }
        require(bytes.contains(UInt8(ascii: ")")), "a status has a name in parentheses")
        // A name in the middle of a real status: whatever it is, the numbers around it are those of the kernel.
        let name = Array(bytes.prefix(64))
        let text = Array("17 (".utf8) + name + Array(") \(realFields)".utf8)
        let real = ProcessStatus(parsing: text)
        require(real?.pid == 17 && real?.parent == 1 && real?.startTime == 4242, "a name changes nothing but itself")
        require(real?.name == String(decoding: name, as: UTF8.self), "a name is what the kernel says")
        require(ProcessStatus(parsing: bytes) == status, "the same text says the same")
    }

    private static let realFields =
        "S 1 17 17 0 -1 4194560 1 0 0 0 3 4 0 0 20 0 1 0 4242 8192 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 "
        + "0 0 0 0 0 0 1 1 1 1 1 1 1 0\n"

    /// The other files of the kernel: the first byte says which.
    static let procFiles = FuzzTarget("proc-files") { bytes in
        var input = FuzzInput(bytes)
        let kind = input.number(below: 8)
        let content = Array(input.rest)
        let text = String(decoding: content, as: UTF8.self)
        switch kind {
        case 0:
            checkGroupName(text)
            checkHeld(text)
        case 1:
            if let place = Cgroup.mountPoint(inMounts: text) { require(!place.isEmpty, "a mount point has a name") }
        case 2: _ = CgroupEvents(parsing: content.span)
        case 3: checkMap(content)
        case 4:
            let arguments = ProcessInfo.parse(commandLine: content)
            require(arguments.count <= content.count, "there are no more arguments than bytes")
        case 5: checkEscaping(text)
        default: checkRecord(text)
        }
    }

    private static func checkGroupName(_ text: String) {
        guard let name = Cgroup.name(inList: text) else { return }
        require(!goesUp(name), "a group is not above its hierarchy")
        require(!name.hasPrefix("/") || name.isEmpty || text.contains("0::/"), "a name is without its first slash")
    }

    /// The processes in a group of an app's own are the app's, under any name of the group.
    private static func checkHeld(_ text: String) {
        let isPossible = !text.isEmpty && !text.utf8.contains { $0 == UInt8(ascii: "\n") || $0 == 0 }
        guard isPossible, !goesUp(text) else { return }
        let apps = Cgroup(mountPoint: "/sys/fs/cgroup", name: "lifed.service/apps")
        let place = Cgroup.place(inList: "1:cpu:/\n0::/lifed.service/apps/app-a/\(text)\n")
        require(place.map(apps.contains(groupNamed:)) == true, "a process of an app is held: \(text)")
    }

    /// A Boolean value that indicates whether a part of a path is "..", by bytes: a slash and an accent after it are one character.
    private static func goesUp(_ path: String) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
    }

    private static func checkMap(_ content: [UInt8]) {
        let ranges = MemoryMap.privateRanges(inMap: content)
        require(ranges.allSatisfy { !$0.isEmpty }, "no range is empty")
        let mapped = ranges.reduce(0.0) { $0 + Double($1.upperBound - $1.lowerBound) }
        // What a process can map: pieces are made of real maps only.
        guard mapped < 1e14, ranges.allSatisfy({ $0.upperBound < 1 << 57 }) else { return }
        let size = MemoryMap.pieceSize(of: ranges, residentSize: 1 << 30, resident: 1 << 24)
        let pieces = MemoryMap.pieces(of: ranges, size: size)
        require(length(pieces.flatMap { $0 }) == length(ranges), "pieces are the whole")
        require(pieces.allSatisfy { $0.count <= 256 && !$0.isEmpty }, "a piece has few ranges")
    }

    private static func length(_ ranges: [Range<UInt64>]) -> UInt64 {
        ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
    }

    private static func checkEscaping(_ text: String) {
        let name = CgroupSubtree.groupName(for: text)
        require(!name.contains("/") && name.hasPrefix("app-"), "a group stays in its directory")
        require(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a group's name is plain")
    }

    /// The record of an app's resources, from numbers between commas.
    private static func checkRecord(_ text: String) {
        var given = text.split(separator: ",").map { UInt64(bitPattern: Int64($0) ?? .min) }[...]
        guard let record = ResourceRecord(next: { given.popFirst() }) else { return }
        var numbers: [UInt64] = []
        record.forEachNumber { numbers.append($0) }
        var rest = numbers[...]
        guard let again = ResourceRecord(next: { rest.popFirst() }) else {
            return require(false, "a record is read again")
        }
        require(again.profile == record.profile, "a profile that was written is read again")
        require(again.incomplete == record.incomplete, "what is incomplete stays so")
        for setting in ResourceSetting.allCases {
            let values = [record, again].map { $0.ownValues.entries.filter { $0.setting == setting } }
            require(values[0] == values[1], "own values that were written are read again")
        }
        checkRanges(record)
    }

    /// Nice values and I/O priorities are given to system calls, which take less than an `Int` holds.
    private static func checkRanges(_ record: ResourceRecord) {
        for entry in record.ownValues.entries {
            let value = record.profile.nice.map { entry.setting.value(wanted: $0, own: entry.own) } ?? entry.own
            let fits = entry.setting == .timerSlack || Int32(exactly: value) != nil
            require(fits, "own values fit a system call: \(entry.own)")
        }
    }
}
