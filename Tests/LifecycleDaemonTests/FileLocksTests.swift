import Glibc
import LifecycleCore
import Processes
import Systemd
import Testing

@testable import LifecycleDaemon

/// Locks of the test's own process stand for those of a suspended app, because this process runs the looks.
@Suite struct FileLocksTests {
    private let app = AppIndex(value: 0)

    /// Locks a file, and calls the body with it.
    private func withLockedFile(_ body: (borrowing Descriptor, String) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let file = Descriptor(owning: unsafe creat("\(directory)/file", 0o600))
            #expect(flock(file.rawValue, LOCK_EX) == 0)
            let lock = try #require(openFiles.first { $0.value.number == file.rawValue })
            try body(file, lock.key.name)
        }
    }

    private var openFiles: [LockedFile: OpenFile] {
        var found = FileScans.Found()
        for file in OpenFile.all(of: getpid()) { found.add(file) }
        return found.locks
    }

    /// Returns the waits that the kernel would list for a lock of an open file description.
    private func waits(for file: String, of waiters: Range<Int>) -> [LockWait] {
        let lines = waiters.map { "1: -> OFDLCK ADVISORY WRITE \($0) \(file) 0 EOF\n" }
        return LockWait.parse(Array(("1: OFDLCK ADVISORY WRITE -1 \(file) 0 EOF\n" + lines.joined()).utf8))
    }

    private func makeProcesses() throws -> AppProcesses {
        try AppProcesses(core: .knowing(in: Events()), table: ProcessTable(), log: RecordingJournal())
    }

    @Test func waitersForOtherFilesAreNotExamined() throws {
        try withLockedFile { _, lock in
            let loop = try EventLoop()
            let waits = waits(for: "00:00:1", of: 100_000..<110_000) + waits(for: lock, of: 4711..<4712)
            var examined: [ProcessID] = []
            var reports: [Set<AppIndex>] = []
            let locks = try FileLocks(loop: loop, processes: makeProcesses(), log: RecordingJournal()) {
                waits
            } isStopped: {
                examined.append($0)
                return false
            } report: { apps, _ in
                reports.append(apps)
            }
            locks.begin(app, openFiles)
            #expect(examined.count == 1 && examined.first == 4711)
            #expect(reports == [[app]])
        }
    }

    @Test func examinesALimitedNumberOfWaitersOfAnApp() throws {
        try withLockedFile { _, lock in
            let loop = try EventLoop()
            let waits = waits(for: lock, of: 100_000..<110_000)
            var examined = 0
            let locks = try FileLocks(loop: loop, processes: makeProcesses(), log: RecordingJournal()) {
                waits
            } isStopped: { _ in
                examined += 1
                return true
            } report: { _, _ in
            }
            locks.begin(app, openFiles)
            #expect((1...100).contains(examined))
        }
    }

    @Test func appThatRunsIsAwaitedUntilItReleasesTheLock() throws {
        try withLockedFile { file, lock in
            let loop = try EventLoop()
            var reports: [Set<AppIndex>] = []
            let locks = try FileLocks(loop: loop, processes: makeProcesses(), log: RecordingJournal()) {
                waits(for: lock, of: 4711..<4712)
            } isStopped: { _ in
                false
            } report: { apps, _ in
                reports.append(apps)
            }
            locks.begin(app, openFiles)
            locks.end(app)
            locks.look()
            #expect(reports == [[app]])
            #expect(flock(file.rawValue, LOCK_UN) == 0)
            locks.look()
            #expect(reports == [[app], []])
        }
    }

    @Test func longListIsFollowedByARest() throws {
        try withLockedFile { _, _ in
            let loop = try EventLoop()
            var lists = 0
            let locks = try FileLocks(loop: loop, processes: makeProcesses(), log: RecordingJournal()) {
                lists += 1
                usleep(300_000)
                return []
            } isStopped: { _ in
                false
            } report: { _, _ in
            }
            locks.begin(app, openFiles)
            for _ in 0..<10 { locks.look() }
            #expect(lists == 1)
        }
    }
}
