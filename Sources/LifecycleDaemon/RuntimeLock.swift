import Glibc
import Processes

/// The lock of a runtime directory, which one daemon holds. It ends with the process.
struct RuntimeLock: ~Copyable {
    private let descriptor: Descriptor

    /// Acquires the lock, and writes this process into its file. The directory exists and is private.
    ///
    /// - Parameter kept: The lock file of the previous program in this process, which is locked already.
    /// - Throws: An error that names the process that holds the lock.
    static func acquire(_ paths: DaemonPaths, kept: Int32? = nil) throws(DaemonError) -> RuntimeLock {
        if let kept, lock(kept) { return RuntimeLock(descriptor: Descriptor(owning: kept)) }
        let number = unsafe open(paths.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw DaemonError(.start, "cannot create \(paths.lock)", errno: Errno(rawValue: errno))
        }
        let descriptor = Descriptor(owning: number)
        guard lockInTime(number) else {
            let holder = holder(in: number).map { " (process \($0.pid))" } ?? ""
            throw DaemonError(
                .start,
                "cannot use \(paths.runtime): another lifed\(holder) uses it; stop that daemon, or use --runtime-directory"
            )
        }
        name(getpid(), in: number)
        return RuntimeLock(descriptor: descriptor)
    }

    var number: Int32 { descriptor.rawValue }

    /// Returns whether the file has its name still: another daemon uses a directory that was removed and made again.
    func isInPlace(_ paths: DaemonPaths) -> Bool {
        var (own, present) = (stat(), stat())
        guard unsafe fstat(number, &own) == 0, unsafe lstat(paths.lock, &present) == 0 else { return false }
        return own.st_dev == present.st_dev && own.st_ino == present.st_ino
    }

    /// Locks the open file, so that the lock stays when another descriptor of the file is closed: a configuration file may be
    /// a link to it.
    private static func lock(_ descriptor: Int32) -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Locks the file unless another daemon runs. An ending daemon has a second for it, and so has a child that was about
    /// to close its copy of the descriptor when its daemon was killed.
    private static func lockInTime(_ descriptor: Int32) -> Bool {
        for _ in 0..<attemptLimit {
            if lock(descriptor) { return true }
            usleep(attemptPause)
        }
        return false
    }

    private static let attemptLimit = 100
    private static let attemptPause: UInt32 = 10_000

    private static func name(_ process: pid_t, in descriptor: Int32) {
        guard let identity = (try? ProcessStatus(of: process))?.identity else { return }
        let text = Array("\(identity.pid) \(identity.startTime)\n".utf8)
        // In this order the file keeps its page on a full file system.
        guard unsafe pwrite(descriptor, text, text.count, 0) == text.count else { return }
        _ = ftruncate(descriptor, off_t(text.count))
    }

    private static func holder(in descriptor: Int32) -> ProcessIdentity? {
        var text = [UInt8](repeating: 0, count: 48)
        let count = unsafe pread(descriptor, &text, text.count, 0)
        let line = text.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let pid = pid_t(words[0]), let startTime = UInt64(words[1]) else { return nil }
        return ProcessIdentity(pid: pid, startTime: startTime)
    }
}
