import Glibc
import LifecycleCore
import Processes
import TestSupport
import Testing

@testable import LifecycleDaemon

@Suite struct SlotFileTests {
    private static let header = SavedState.slotsHeader(bootID: thisBoot)

    /// The texts of the records that count, by the text before their colon.
    private static func texts(_ contents: SlotContents?) -> [String: String] {
        var texts: [String: String] = [:]
        for record in contents?.records ?? [] where record.kind != .free {
            var reader = SlotReader(record.bytes)
            var text: String?
            reader.text("", &text)
            let parts = (text ?? "").split(separator: ":", maxSplits: 1).map(String.init)
            texts[parts.first ?? ""] = parts.last
        }
        return texts
    }

    private static func read(_ path: String) -> [String: String] {
        texts(try? SlotContents(path: path, header: header))
    }

    private static func open(_ path: String, _ slots: inout [String: Int]) throws -> SlotFile {
        var found: [String: Int] = [:]
        let file = try SlotFile.open(path, header: header) { record, slot in
            var reader = SlotReader(record.bytes)
            var text: String?
            reader.text("", &text)
            found[(text ?? "").split(separator: ":").first.map(String.init) ?? ""] = slot
        }
        slots = found
        return file
    }

    private static func write(_ texts: [String], to file: inout SlotFile, _ slots: inout [String: Int]) throws {
        file.begin()
        for text in texts {
            let name = String(text.split(separator: ":")[0])
            slots[name] = file.add(.app, to: slots[name]) { slot in
                var text: String? = text
                slot.text("", &text)
                return true
            }
        }
        try file.commit()
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        try #require(try ReservedFile.contents(of: path, limit: 1 << 24))
    }

    /// A file whose last step changed two of three records, before the step and after it.
    private func step(of size: Int, _ root: String) throws -> (before: [UInt8], after: [UInt8]) {
        let path = root + "/slots"
        var slots: [String: Int] = [:]
        var file = try Self.open(path, &slots)
        let rest = String(repeating: "x", count: size)
        try Self.write(["a:0", "b:0" + rest, "c:0"], to: &file, &slots)
        try Self.write(["a:1", "b:1" + rest], to: &file, &slots)
        let before = try bytes(path)
        try Self.write(["a:2", "b:2" + rest], to: &file, &slots)
        return (before, try bytes(path))
    }

    @Test func lastOfTheRecordsOfASlotInAStepCounts() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            var slots: [String: Int] = [:]
            var file = try Self.open(path, &slots)
            try Self.write(["a:0", "b:0"], to: &file, &slots)
            try Self.write(["a:1", "a:2", "b:1"], to: &file, &slots)
            #expect(Self.read(path) == ["a": "2", "b": "1"])
            // It becomes what it was before the step.
            try Self.write(["a:3", "a:2", "b:2"], to: &file, &slots)
            #expect(Self.read(path) == ["a": "2", "b": "2"])
            try Self.write(["a:4"], to: &file, &slots)
            #expect(Self.read(path) == ["a": "4", "b": "2"])
        }
    }

    @Test func recordThatIsRemovedInItsStepIsGone() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            var slots: [String: Int] = [:]
            var file = try Self.open(path, &slots)
            try Self.write(["a:0", "b:0"], to: &file, &slots)
            let slot = try #require(slots["a"])
            _ = file.add(.app, to: slot) { slot in
                var text: String? = "a:1"
                slot.text("", &text)
                return true
            }
            file.remove(slot)
            try file.commit()
            #expect(Self.read(path) == ["b": "0"])
            try Self.write(["c:0"], to: &file, &slots)
            #expect(Self.read(path) == ["b": "0", "c": "0"])
        }
    }

    @Test(arguments: [0, 1500])
    func stepThatWasTornAtAnyByteIsTheStepBefore(size: Int) throws {
        try withTemporaryDirectory { (root: String) throws in
            let (before, after) = try step(of: size, root)
            let last = try #require(before.indices.last { before[$0] != after[$0] })
            let first = try #require(before.indices.first { before[$0] != after[$0] })
            for count in first...last + 1 {
                let torn = SlotContents(Array(after[..<count] + before[count...]), header: Self.header)
                let texts = Self.texts(torn)
                let number = count > last ? "2" : "1"
                #expect(texts["a"] == number && texts["b"]?.first == number.first && texts["c"] == "0", "\(count)")
            }
        }
    }

    @Test func recordWithAWrongChecksumIsTheOneBefore() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (before, after) = try step(of: 0, root)
            for index in after.indices where before[index] != after[index] {
                var changed = after
                changed[index] ^= 0x10
                let texts = Self.texts(SlotContents(changed, header: Self.header))
                #expect(texts == ["a": "1", "b": "1", "c": "0"], "\(index)")
            }
        }
    }

    @Test(arguments: [UInt64.max, UInt64.max - 1, 1 << 63, 1 << 62] as [UInt64])
    func numberOfAStepThatHasNoSuccessorIsNotCounted(number: UInt64) throws {
        try withTemporaryDirectory { (root: String) throws in
            let (path, after) = (root + "/slots", try step(of: 0, root).after)
            let contents = try #require(SlotContents(after, header: Self.header))
            for record in contents.records where record.kind != .free {
                let header = SlotFormat.FrameHeader(
                    step: number, changes: 1, length: UInt32(record.bytes.count), kind: record.kind.rawValue,
                    order: record.order)
                let check = header.checksum(
                    record.digest, key: contents.key, offset: record.offset, copy: record.copy)
                var changed = after
                let start = SlotFormat.offset(of: record.copy, record.offset, record.order)
                for (index, word) in [check, number, header.sizes, header.form].enumerated() {
                    for byte in 0..<8 {
                        changed[start + 8 * index + byte] = UInt8(truncatingIfNeeded: word >> (8 * byte))
                    }
                }
                let file = unsafe fopen(path, "w")
                _ = unsafe fwrite(changed, 1, changed.count, file)
                _ = unsafe fclose(file)
                var slots: [String: Int] = [:]
                var opened = try Self.open(path, &slots)
                for text in ["a:8", "a:9"] { try Self.write([text], to: &opened, &slots) }
                #expect(Self.read(path)["a"] == "9")
            }
        }
    }

    @Test func fileThatWasCutOffHasTheRecordsThatAreLeft() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (_, after) = try step(of: 1500, root)
            for count in stride(from: 0, to: 12_000, by: 7) {
                let contents = SlotContents(Array(after.prefix(count)), header: Self.header)
                #expect((contents != nil) == (count >= SlotFormat.headerSize))
                let texts = Self.texts(contents)
                #expect(texts["a"] == nil || ["0", "1", "2"].contains(texts["a"]))
            }
            #expect(Self.texts(SlotContents(after, header: Self.header))["c"] == "0")
        }
    }

    @Test func halfAStepDoesNotCountAfterLaterStepsOfASuccessor() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            let (before, after) = try step(of: 0, root)
            let second = try #require(before.indices.last { before[$0] != after[$0] })
            LifecycleDaemonTests.write(Array(after[..<second] + before[second...]), to: path)
            _ = unsafe chmod(path, 0o600)
            var slots: [String: Int] = [:]
            var file = try Self.open(path, &slots)
            #expect(Self.read(path) == ["a": "1", "b": "1", "c": "0"])
            try Self.write(["c:3"], to: &file, &slots)
            #expect(Self.read(path) == ["a": "1", "b": "1", "c": "3"])
            try Self.write(["a:4", "b:4"], to: &file, &slots)
            #expect(Self.read(path) == ["a": "4", "b": "4", "c": "3"])
        }
    }

    @Test func recordThatGrowsMovesAndItsSlotIsUsedAgain() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            var slots: [String: Int] = [:]
            var file = try Self.open(path, &slots)
            for size in [1, 400, 500, 2000, 9000, 3] {
                try Self.write(["a:" + String(repeating: "y", count: size), "b:0"], to: &file, &slots)
                #expect(Self.read(path)["a"]?.utf8.count == size && Self.read(path)["b"] == "0")
                file = try Self.open(path, &slots)
            }
            file.begin()
            file.remove(try #require(slots["a"]))
            try file.commit()
            #expect(Self.read(path) == ["b": "0"])
            file = try Self.open(path, &slots)
            let size = try SlotContents(path: path, header: Self.header)?.end
            for number in 0..<3 { try Self.write(["c\(number):1"], to: &file, &slots) }
            #expect(try SlotContents(path: path, header: Self.header)?.end == size.map { $0 + 2048 })
            #expect(Self.read(path) == ["b": "0", "c0": "1", "c1": "1", "c2": "1"])
        }
    }

    @Test(arguments: [0, 7, 8, 1023, 5000])
    func endOfWrittenIsBeforeReservedZeros(_ zeros: Int) {
        let text = [UInt8](repeating: 1, count: 24)
        let end = SlotFormat.endOfWritten(text + [UInt8](repeating: 0, count: zeros))
        #expect(end >= 24 && end <= 24 + zeros)
        if zeros % 8 == 0 { #expect(end == 24) }
        #expect(SlotFormat.endOfWritten([UInt8](repeating: 0, count: zeros)) % 8 == zeros % 8)
    }

    @Test func unchangedRecordIsNotWrittenAgain() throws {
        try withTemporaryDirectory { (root: String) throws in
            var slots: [String: Int] = [:]
            var file = try Self.open(root + "/slots", &slots)
            try Self.write(["a:1"], to: &file, &slots)
            let step = file.step
            try Self.write(["a:1"], to: &file, &slots)
            var last = file.step
            #expect(last == step)
            file = try Self.open(root + "/slots", &slots)
            try Self.write(["a:1"], to: &file, &slots)
            last = file.step
            #expect(last == step)
        }
    }

    @Test func recordIsValidInItsPlaceAndFileOnly() throws {
        try withTemporaryDirectory { (root: String) throws in
            var (_, bytes) = try step(of: 0, root)
            let (a, b) = (SlotFormat.headerSize, SlotFormat.headerSize + SlotFormat.slotSize(0))
            bytes.replaceSubrange(b..<b + SlotFormat.slotSize(0), with: bytes[a..<b])
            #expect(Self.texts(SlotContents(bytes, header: Self.header))["b"] == nil)
            bytes[SlotFormat.headerSize - 1] ^= 1
            #expect(Self.texts(SlotContents(bytes, header: Self.header)).isEmpty)
        }
    }

    @Test func fileThatCannotBeOpenedForNowIsKept() async {
        await #expect(processExitsWith: .success) { try await Self.openWithoutDescriptors() }
    }

    private static func openWithoutDescriptors() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            var slots: [String: Int] = [:]
            var file = try open(path, &slots)
            try write(["a:1"], to: &file, &slots)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var former = rlimit()
            unsafe getrlimit(resource, &former)
            var none = rlimit(rlim_cur: 0, rlim_max: former.rlim_max)
            unsafe setrlimit(resource, &none)
            #expect(throws: Errno(rawValue: EMFILE)) { _ = try SlotFile.open(path, header: header) { _, _ in } }
            unsafe setrlimit(resource, &former)
            #expect(read(path) == ["a": "1"])
        }
    }

    @Test func fileThatCannotBeReadIsNotTakenForMissing() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            #expect(try ReservedFile.contents(of: path, limit: 4) == nil)
            LifecycleDaemonTests.write([1, 2, 3, 4, 5], to: path)
            _ = unsafe chmod(path, 0o600)
            #expect(try ReservedFile.contents(of: path, limit: 5) == [1, 2, 3, 4, 5])
            #expect(throws: Errno(rawValue: EFBIG)) { try ReservedFile.contents(of: path, limit: 4) }
            let long = root + "/" + String(repeating: "a", count: Int(NAME_MAX) + 1)
            #expect(throws: Errno(rawValue: ENAMETOOLONG)) { try ReservedFile.contents(of: long, limit: 4) }
            // A writer replaces what it cannot read.
            var slots: [String: Int] = [:]
            _ = try Self.open(path, &slots)
            #expect(try SlotContents(path: path, header: Self.header) != nil)
        }
    }

    @Test func fileOfAnotherVersionOrBootIsReplaced() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/slots"
            var slots: [String: Int] = [:]
            var file = try Self.open(path, &slots)
            try Self.write(["a:1"], to: &file, &slots)
            #expect(try SlotContents(path: path, header: SavedState.slotsHeader(bootID: "another")) == nil)
            var changed = try bytes(path)
            changed.replaceSubrange(0..<5, with: "other".utf8)
            LifecycleDaemonTests.write(changed, to: path)
            file = try Self.open(path, &slots)
            #expect(slots.isEmpty && Self.read(path).isEmpty)
            try Self.write(["b:1"], to: &file, &slots)
            #expect(Self.read(path) == ["b": "1"])
            var status = stat()
            #expect(unsafe stat(path, &status) == 0 && status.st_mode == S_IFREG | 0o600)
        }
    }

    @Test func garbageIsNoRecord() throws {
        var random = SeededGenerator(seed: 1)
        for length in [1, 100, 1024, 5000, 100_000] {
            let garbage = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let header = SlotFormat.header(Self.header, key: 1)
            #expect(SlotContents(header + garbage, header: Self.header)?.records.isEmpty == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a file system that is full"))
    func reservedSlotsAreWrittenOnAFullFileSystemAndOthersAreRefused() throws {
        try withSmallFileSystem { (root: String) throws in
            let path = root + "/slots"
            var slots: [String: Int] = [:]
            var file = try Self.open(path, &slots)
            try Self.write(["a:0"], to: &file, &slots)
            var hasRoom = file.hasRoom
            #expect(hasRoom)
            fill(root)
            for number in 1...1000 { try Self.write(["a:\(number)"], to: &file, &slots) }
            file = try Self.open(path, &slots)
            hasRoom = file.hasRoom
            #expect(hasRoom && Self.read(path) == ["a": "1000"])
            let large = String(repeating: "z", count: 400_000)
            #expect(throws: Errno(rawValue: ENOSPC)) { try Self.write(["a:1", "b:" + large], to: &file, &slots) }
            #expect(Self.read(path) == ["a": "1000"])
            file = try Self.open(path, &slots)
            for number in 0..<30 where file.hasRoom { try Self.write(["c\(number):0"], to: &file, &slots) }
            hasRoom = file.hasRoom
            #expect(!hasRoom)
            try Self.write(["a:1001", "c0:1"], to: &file, &slots)
            _ = unsafe unlink(root + "/ballast")
            file.makeRoom()
            hasRoom = file.hasRoom
            #expect(hasRoom)
            try Self.write(["a:1", "b:" + large.prefix(50_000)], to: &file, &slots)
            #expect(Self.read(path)["a"] == "1")
        }
    }
}
