import Glibc
import LifecycleCore
import Processes
import Testing

@testable import LifecycleDaemon

@Suite struct StateFileTests {
    private static let header = SavedState.header(bootID: BootID.current)

    private func line(_ number: Int) -> [UInt8] {
        let fields = [SavedRecord.Field(name: "id", value: "a"), .init(name: "since", value: String(number))]
        return StateLine.encode(.app, SavedRecord(fields: fields))
    }

    private func latest(_ path: String) throws -> String? {
        try SavedState.read(path)?.apps[AppID("a")]?.core?["since"]
    }

    @Test func `it is for nobody else, and gone when it is removed`() throws {
        try withTemporaryDirectory { (root: String) throws in
            let file = StateFile(path: root + "/state", header: Self.header)
            #expect(file.wantsReplacing)
            #expect(file.replace(with: line(1)) == nil)
            #expect(!file.wantsReplacing)
            var status = stat()
            #expect(unsafe stat(root + "/state", &status) == 0 && status.st_mode == S_IFREG | 0o600)
            #expect(names(in: root) == ["state"])
            file.remove()
            #expect(names(in: root) == [])
        }
    }

    @Test func `who has the old file open keeps it whole while a new one takes its place`() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let file = StateFile(path: path, header: Self.header)
            #expect(file.replace(with: line(1)) == nil)
            let old = Descriptor(owning: unsafe open(path, O_RDONLY))
            #expect(file.replace(with: line(2)) == nil)
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe Glibc.read(old.rawValue, &bytes, bytes.count)
            #expect(Array(bytes.prefix(count)) == Self.header + line(1))
            #expect(try latest(path) == "2")
        }
    }

    @Test func `whatever lies where the new file is prepared is not followed`() throws {
        try withTemporaryDirectory { (root: String) throws in
            write([1, 2, 3], to: root + "/precious")
            _ = unsafe symlink("precious", root + "/state.new")
            #expect(StateFile(path: root + "/state", header: Self.header).replace(with: line(1)) == nil)
            var status = stat()
            #expect(unsafe stat(root + "/precious", &status) == 0 && status.st_size == 3)
        }
    }

    @Test func `it asks to be written anew before it is many times as large as what it says`() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let file = StateFile(path: path, header: Self.header)
            var largest: off_t = 0
            var replaced = 0
            for number in 1...100_000 {
                if file.wantsReplacing {
                    #expect(file.replace(with: line(number)) == nil)
                    replaced += 1
                } else {
                    #expect(file.append(line(number)))
                }
                var status = stat()
                _ = unsafe stat(path, &status)
                largest = max(largest, status.st_size)
            }
            #expect(try latest(path) == "100000")
            #expect(largest < 300_000)
            #expect((3...20).contains(replaced))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a file system that is full"))
    func `what there is no room for is taken back, and comes when there is room`() throws {
        try withTemporaryDirectory { (root: String) throws in
            guard unsafe mount("lifed-test", root, "tmpfs", 0, "size=32k,mode=0700") == 0 else { return }
            defer { _ = unsafe umount2(root, Int32(MNT_DETACH)) }
            write([UInt8](repeating: 0, count: 16384), to: root + "/ballast")
            let path = root + "/state"
            let file = StateFile(path: path, header: Self.header)
            #expect(file.replace(with: line(0)) == nil)
            var number = 0
            // More than a page at once, so that the last write is cut off in its middle.
            let padding = [UInt8](repeating: UInt8(ascii: "x"), count: 5000) + [UInt8(ascii: "\n")]
            repeat { number += 1 } while file.append(line(number) + padding) && number < 100
            #expect((2..<100).contains(number))
            #expect(try latest(path) == String(number - 1), "the part of a write that went in was taken back")
            #expect(file.wantsReplacing)
            #expect(!file.append(line(1000)))
            #expect(file.replace(with: (0..<4).flatMap { _ in padding }) == Errno(rawValue: ENOSPC))
            #expect(names(in: root) == ["ballast", "state"])
            #expect(try latest(path) == String(number - 1), "the old file is still there")
            _ = unsafe unlink(root + "/ballast")
            #expect(file.replace(with: line(2000)) == nil)
            #expect(file.append(line(2001)))
            #expect(try latest(path) == "2001")
        }
    }

    @Test func `a directory that is gone is an error, and no more`() throws {
        try withTemporaryDirectory { (root: String) throws in
            let file = StateFile(path: root + "/gone/state", header: Self.header)
            #expect(file.replace(with: line(1)) == Errno(rawValue: ENOENT))
            #expect(file.wantsReplacing)
            file.remove()
        }
    }
}
