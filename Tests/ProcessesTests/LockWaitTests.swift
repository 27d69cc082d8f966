import Glibc
import Testing

@testable import Processes

@Suite struct LockWaitTests {
    @Test func waiterIsReadWithTheHolderOfTheLockAboveIt() {
        let text = """
            1: POSIX  ADVISORY  WRITE 14677 fe:00:16581292 0 EOF
            2: FLOCK  ADVISORY  WRITE 13324 fe:00:16220209 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 13488 fe:00:16220209 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 13489 fe:00:16220209 0 EOF
            3: OFDLCK ADVISORY  WRITE -1 00:29:15 0 EOF
            3: -> OFDLCK ADVISORY  READ  77 00:29:15 0 9
            """
        let flock = LockedFile(name: "fe:00:16220209")
        #expect(
            LockWait.parse(Array(text.utf8)) == [
                LockWait(file: flock, holder: 13324, waiter: 13488),
                LockWait(file: flock, holder: 13324, waiter: 13489),
                LockWait(file: LockedFile(name: "00:29:15"), holder: nil, waiter: 77),
            ])
    }

    @Test(arguments: [
        "", "\n", "1:", "1: ->", "1: -> FLOCK ADVISORY WRITE 5 x 0 EOF", "1: FLOCK ADVISORY WRITE x y 0 EOF",
        "1: FLOCK  ADVISORY  WRITE 13324 fe:00:1 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 99999999999 fe:00:1 0 EOF",
        "1: FLOCK  ADVISORY  WRITE 13324 fe:00:1 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 9 fe:00:1 0 EOF",
    ])
    func otherTextHasNoWaiters(text: String) {
        #expect(LockWait.parse(Array(text.utf8)).isEmpty)
    }

    @Test func lockOfThisProcessIsFoundByItsOpenFile() throws {
        let file = unsafe try #require(unsafe tmpfile())
        defer { _ = unsafe fclose(file) }
        let number = unsafe fileno(file)
        #expect(flock(number, LOCK_EX) == 0)
        #expect(OpenFile.all(of: getpid()).contains { $0.number == number && !$0.locks.isEmpty })
        #expect(flock(number, LOCK_UN) == 0)
        #expect(!OpenFile.all(of: getpid()).contains { $0.number == number && !$0.locks.isEmpty })
    }
}

@Suite struct UnixSocketTests {
    @Test func unreadIsTheMemoryOfTheWriterUntilThePeerReads() throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let inodes = OpenFile.all(of: getpid()).filter { ends.contains($0.number) }
        let writer = try #require(inodes.first { $0.number == ends[0] }?.socket)
        #expect(try UnixSocket(inode: writer).unread == 0)
        var byte: UInt8 = 1
        for _ in 0..<100 { #expect(unsafe write(ends[0], &byte, 1) == 1) }
        let socket = try UnixSocket(inode: writer)
        #expect(socket.unread >= 100 * 512 && socket.buffer > 0)
        #expect(inodes.contains { $0.socket == socket.peer && $0.number == ends[1] })
        #expect(try UnixSocket.all().contains(socket))
        var bytes = [UInt8](repeating: 0, count: 100)
        #expect(unsafe read(ends[1], &bytes, 100) == 100)
        #expect(try UnixSocket(inode: writer).unread == 0)
    }

    @Test func duplicateIsOfTheSocketThatWasNamed() throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let inode = try #require(OpenFile.all(of: getpid()).first { $0.number == ends[0] }?.socket)
        let duplicate = try ForeignSocket(ends[0], of: getpid(), inode: inode)
        #expect(duplicate.descriptor != ends[0])
        #expect(throws: Errno(rawValue: EBADF)) { _ = try ForeignSocket(ends[1], of: getpid(), inode: inode) }
        // Nor a file with the number of the socket.
        let file = try Descriptor.open("/dev/null", O_RDONLY)
        var status = stat()
        #expect(unsafe fstat(file.rawValue, &status) == 0)
        let number = UInt32(truncatingIfNeeded: status.st_ino)
        #expect(throws: Errno(rawValue: EBADF)) { _ = try ForeignSocket(file.rawValue, of: getpid(), inode: number) }
    }
}
