import Glibc
import LifecycleCore
import Processes
import Testing

@testable import LifecycleDaemon

@Suite struct StateFileTests {
    private static let header = SavedState.header(bootID: thisBoot)

    private func file(_ path: String, sizeLimit: Int = SavedState.sizeLimit) -> StateFile {
        StateFile(path: path, header: Self.header, sizeLimit: sizeLimit)
    }

    private func line(_ number: Int) -> [UInt8] {
        StateLine(StateName(.launch, AppID("a")), SavedRecord(["since": String(number)])).bytes
    }

    private func latest(_ path: String) throws -> String? {
        try SavedState.read(path, bootID: thisBoot)?[.launch, AppID("a")]?["since"]
    }

    @Test func fileIsPrivateAndIsRemovedWithItsSpare() throws {
        try withTemporaryDirectory { (root: String) throws in
            let file = self.file(root + "/state")
            #expect(!file.append(line(0)))
            #expect(file.replace(with: line(1)) == nil)
            #expect(file.append(line(2)))
            var status = stat()
            #expect(unsafe stat(root + "/state", &status) == 0 && status.st_mode == S_IFREG | 0o600)
            #expect(names(in: root) == ["state", "state.new"])
            file.remove()
            #expect(names(in: root) == [])
        }
    }

    @Test func openOldFileStaysWholeWhileANewOneTakesItsPlace() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let file = self.file(path)
            #expect(file.replace(with: line(1)) == nil)
            let old = Descriptor(owning: unsafe open(path, O_RDONLY))
            #expect(file.replace(with: line(2)) == nil)
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe Glibc.read(old.rawValue, &bytes, bytes.count)
            let written = Self.header + StateFrames.frame(line(1))
            #expect(count > written.count && bytes.starts(with: written))
            #expect(bytes[written.count..<count].allSatisfy { $0 == 0 })
            #expect(try latest(path) == "2")
        }
    }

    @Test func fileThatCannotBeOpenedForNowIsKept() async {
        await #expect(processExitsWith: .success) { try await Self.openWithoutDescriptors() }
    }

    private static func openWithoutDescriptors() throws {
        try withTemporaryDirectory { (root: String) throws in
            let tests = StateFileTests()
            let path = root + "/state"
            #expect(tests.file(path).replace(with: tests.line(1)) == nil)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var former = rlimit()
            unsafe getrlimit(resource, &former)
            var none = rlimit(rlim_cur: 0, rlim_max: former.rlim_max)
            unsafe setrlimit(resource, &none)
            #expect(tests.file(path).replace(with: tests.line(2)) == Errno(rawValue: EMFILE))
            unsafe setrlimit(resource, &former)
            #expect(try tests.latest(path) == "1")
        }
    }

    @Test func fileThatCannotBeReadIsNotTakenForMissing() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            #expect(try ReservedFile.contents(of: path, limit: 4) == nil)
            write([1, 2, 3, 4, 5], to: path)
            #expect(try ReservedFile.contents(of: path, limit: 5) == [1, 2, 3, 4, 5])
            #expect(throws: Errno(rawValue: EFBIG)) { try ReservedFile.contents(of: path, limit: 4) }
            let long = root + "/" + String(repeating: "a", count: Int(NAME_MAX) + 1)
            #expect(throws: Errno(rawValue: ENAMETOOLONG)) { try ReservedFile.contents(of: long, limit: 4) }
        }
    }

    @Test func linkAtThePathOfTheSpareIsNotFollowed() throws {
        try withTemporaryDirectory { (root: String) throws in
            write([1, 2, 3], to: root + "/precious")
            _ = unsafe symlink("precious", root + "/state.new")
            #expect(file(root + "/state").replace(with: line(1)) == nil)
            var status = stat()
            #expect(unsafe stat(root + "/precious", &status) == 0 && status.st_size == 3)
        }
    }

    @Test func fileIsReplacedBeforeItIsManyTimesAsLargeAsItsState() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let file = self.file(path)
            var largest: off_t = 0
            var replaced = 0
            for number in 1...100_000 {
                if !file.append(line(number)) {
                    #expect(file.replace(with: line(number)) == nil)
                    replaced += 1
                }
                var status = stat()
                _ = unsafe stat(path, &status)
                largest = max(largest, status.st_size)
            }
            #expect(try latest(path) == "100000")
            #expect(largest < 300_000)
            #expect((3...40).contains(replaced))
        }
    }

    @Test func fileNeverExceedsTheSizeThatASuccessorReads() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (path, limit) = (root + "/state", 1 << 20)
            func size() -> Int {
                var status = stat()
                return unsafe stat(path, &status) == 0 ? Int(status.st_size) : -1
            }
            func padding(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "x"), count: count) + [10] }
            // A daemon with a larger limit has left the spare.
            let former = self.file(path, sizeLimit: 8 * limit)
            for _ in 0..<2 { #expect(former.replace(with: line(0) + padding(2 * limit)) == nil) }
            let file = self.file(path, sizeLimit: limit)
            for number in 1...4 {
                #expect(file.replace(with: line(number) + padding(limit / 2 - 1000)) == nil)
                #expect(file.hasRoom(for: limit / 2 - 900) && size() <= limit)
            }
            #expect(file.append(line(5) + padding(2000)))
            while file.append(line(6)) {}
            #expect(size() <= limit)
            #expect(file.replace(with: line(7) + padding(limit)) == Errno(rawValue: EFBIG))
            #expect(try latest(path) == "6", "the old file is still there")
            #expect(file.replace(with: line(8) + padding(limit - 1000)) == nil && size() <= limit)
            #expect(file.replace(with: line(9)) == nil && file.hasRoom(for: 30))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a file system that is full"))
    func reservedSpaceIsUsableOnAFullFileSystemAlsoByASuccessor() throws {
        try withSmallFileSystem { (root: String) throws in
            let path = root + "/state"
            var file = self.file(path)
            #expect(file.replace(with: line(0)) == nil)
            #expect(file.hasRoom(for: 30))
            fill(root)
            var replaced = 0
            for number in 1...20_000 where !file.append(line(number)) {
                #expect(file.replace(with: line(number)) == nil)
                replaced += 1
                #expect(try latest(path) == String(number))
                if replaced.isMultiple(of: 2) { file = self.file(path) }
            }
            #expect(replaced >= 3)
            #expect(file.replace(with: line(1)) == nil && file.hasRoom(for: 30))
            #expect(try latest(path) == "1")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a file system that is full"))
    func stateWithoutSpaceLeavesTheFileAndIsWrittenWhenThereIsSpace() throws {
        try withSmallFileSystem { (root: String) throws in
            let path = root + "/state"
            let file = self.file(path)
            #expect(file.replace(with: line(0)) == nil)
            fill(root)
            let padding = [UInt8](repeating: UInt8(ascii: "x"), count: 99_999) + [UInt8(ascii: "\n")]
            #expect(file.append(line(1) + padding))
            #expect(!file.hasRoom(for: 100_030), "there is little left for other apps")
            #expect(!file.append(line(2) + padding))
            #expect(try latest(path) == "1")
            #expect(file.replace(with: line(2) + padding + padding) == Errno(rawValue: ENOSPC))
            #expect(try latest(path) == "1", "the old file is still there")
            #expect(file.append(line(3)), "and what fits into it is written")
            #expect(file.replace(with: line(1)) == nil && file.hasRoom(for: 30), "as is less in its place")
            _ = unsafe unlink(root + "/ballast")
            #expect(file.replace(with: line(4) + padding + padding) == nil)
            #expect(file.hasRoom(for: 200_030))
            #expect(try latest(path) == "4")
        }
    }

    @Test func spareThatAnotherUserMayWriteToIsNotUsed() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            write([1, 2, 3], to: path + ".new")
            _ = unsafe chmod(path + ".new", 0o666)
            #expect(file(path).replace(with: line(1)) == nil)
            var status = stat()
            #expect(unsafe stat(path, &status) == 0 && status.st_mode == S_IFREG | 0o600)
        }
    }

    @Test func removedDirectoryIsAnError() throws {
        try withTemporaryDirectory { (root: String) throws in
            let file = self.file(root + "/gone/state")
            #expect(file.replace(with: line(1)) == Errno(rawValue: ENOENT))
            #expect(!file.append(line(2)) && !file.hasRoom(for: 30))
            file.remove()
        }
    }
}

func withSmallFileSystem(_ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { (root: String) throws in
        guard unsafe mount("lifed-test", root, "tmpfs", 0, "size=1m,mode=0700") == 0 else { return }
        defer { _ = unsafe umount2(root, Int32(MNT_DETACH)) }
        try body(root)
    }
}

/// Leaves no page free.
func fill(_ root: String) {
    let number = unsafe open(root + "/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let page = [UInt8](repeating: 1, count: 4096)
    while unsafe Glibc.write(number, page, page.count) == page.count {}
    close(number)
}

extension StateFile {
    fileprivate func replace(with lines: [UInt8]) -> Errno? {
        do throws(Errno) {
            try replace(lines)
            return nil
        } catch {
            return error
        }
    }
}
