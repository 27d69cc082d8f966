import Glibc
import TestSupport
import Testing

@testable import Processes

/// A number of any size in a file of the kernel, or in a text of the previous daemon, ends nothing: the value is read or is missing.
@Suite struct ExtremeProcNumberTests {
    struct File: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let read: @Sendable ([UInt8]) -> Void

        init(_ name: String, _ text: String, _ read: @escaping @Sendable ([UInt8]) -> Void) {
            (testDescription, self.text, self.read) = (name, text, read)
        }
    }

    static let files = [
        File(
            "stat",
            "77 (sleep) S 12 34 56 0 -1 4194560 107 0 0 0 25 17 0 0 20 0 3 0 987654 2703360 303 18446744073709551615 1 1\n"
        ) { text in
            guard let status = ProcessStatus(parsing: text) else { return }
            _ = ProcessInfo(status).processorMicroseconds
            _ = status.identity.isYounger(than: ProcessIdentity(pid: .min, startTime: .max))
            _ = DescentOrder([status, status]).bottomUp
        },
        File("children", "17 18 2147483647 ") { _ = Children.numbers(in: $0.span) },
        File("status", "Name:\tx\nUid:\t1000\t1001\t1002\t1003\n") { text in
            if let users = RunningProcess.users(inStatus: text) { _ = TreeOwner(ofProcessWith: users) }
        },
        File("statm", "1000 200 30 4 0 50 0\n") { text in
            if let sizes = MemoryMap.sizes(inStatm: text) { _ = (sizes.resident - sizes.shared, sizes.resident * 1024) }
        },
        File("maps", "10000-20000 rw-p 00000000 00:00 0 \n7f0000000000-7f0000400000 r--p 00000000 00:00 0 x\n") {
            text in
            let ranges = MemoryMap.privateRanges(inMap: text)
            let size = MemoryMap.pieceSize(of: ranges, residentSize: 1 << 30, resident: 1 << 24)
            _ = MemoryMap.pieces(of: ranges, size: size)
            _ = MemoryMap.ranges(ranges, from: .max)
        },
        File(
            "limits",
            "heading\n" + String(repeating: String(repeating: "x", count: 26) + "17 unlimited files\n", count: 16)
        ) {
            _ = Confinement.limits(in: $0)
        },
        File("locks", "7: FLOCK  ADVISORY  WRITE 13 fe:00:16 0 EOF\n7: -> FLOCK  ADVISORY  WRITE 14 fe:00:16 0 EOF\n") {
            for wait in LockWait.parse($0) { _ = Mounts(parsing: []).areLocal(for: wait.file) }
        },
        File("mountinfo", "36 35 98:0 / / rw,noatime master:1 - ext3 /dev/root rw\n") { _ = Mounts(parsing: $0) },
        File("cgroup.events", "populated 1\nfrozen 0\n") { _ = CgroupEvents(parsing: $0.span) },
        File("cgroup", "1:cpu:/1\n0::/user.slice/user-1000.slice/session-2.scope\n") {
            _ = Cgroup.name(inList: String(decoding: $0, as: UTF8.self)).map(Cgroup.unit(in:))
        },
        File("confinement", "7,1," + (1...16).map(String.init).joined(separator: ",")) {
            _ = Confinement(text: String(decoding: $0, as: UTF8.self)).text
        },
    ]

    @Test(arguments: files) func numberInAFileIsReadOrIsMissing(_ file: File) {
        for text in ExtremeNumbers.damaged(file.text) { file.read(Array(text.utf8)) }
    }

    @Test(arguments: [0, 1, -1, .min, .max, Int(Int32.max), Int(Int32.max) + 2])
    func shareOfTheProcessesOfTheMachineIsANumber(_ possible: Int) {
        for percent in [0, 1, 100] { #expect((ProcessLimit.percent(percent).number(of: possible) ?? 0) >= 1) }
    }

    /// The numbers of an app's resources, as a slot of the state has them: each of them, and all that are after it.
    @Test func numberInARecordOfResourcesIsReadOrIsMissing() {
        for extreme in [0, 1, .max, UInt64(Int32.max), UInt64(Int32.max) + 2, 1 << 63, (1 << 63) - 1] as [UInt64] {
            for position in 0..<64 {
                var given = 0
                let record = ResourceRecord {
                    given += 1
                    return given > 64 ? nil : given > position ? extreme : 1
                }
                guard let record else { continue }
                for entry in record.ownValues.entries { _ = entry.setting.value(wanted: 19, own: entry.own) }
                record.forEachNumber { _ in }
            }
        }
    }
}
