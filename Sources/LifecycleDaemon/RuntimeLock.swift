import Glibc
import Processes

/// Makes sure that there is one daemon a runtime directory.
///
/// The lock goes with the process, whatever ends it. What is found in the directory with the lock free is nobody's.
struct RuntimeLock: ~Copyable {
    private let descriptor: Descriptor

    /// Takes the lock of a directory that exists and that nobody else may write to. The file then names this process.
    ///
    /// - Parameter kept: The lock's file, which this process has locked already in the program before.
    /// - Throws: An error that names the process that has the lock, where one has.
    static func take(_ places: Places, kept: Int32? = nil) throws(StartError) -> RuntimeLock {
        // Closing any descriptor of the file would give up the lock, so there must be no other (fcntl(2)).
        if let kept, lock(kept) { return RuntimeLock(descriptor: Descriptor(owning: kept)) }
        let number = unsafe open(places.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw StartError("cannot create \(places.lock): \(Processes.Errno(rawValue: errno))")
        }
        let descriptor = Descriptor(owning: number)
        guard lock(number), !isHolderAlive(number) else {
            let holder = holder(in: number).map { " (process \($0.pid))" } ?? ""
            throw StartError("another lifed\(holder) is running with the runtime directory \(places.runtime)")
        }
        name(getpid(), in: number)
        return RuntimeLock(descriptor: descriptor)
    }

    /// The number of the lock's file, for keeping the lock across execve(2).
    var number: Int32 { descriptor.rawValue }

    /// The lock is the process's own. One of the open file, as flock(2) has it, would be held by a child as well that was
    /// just started and has not closed its copy, after the daemon is gone. But the process loses its own when it opens the
    /// file once more and closes it, as it does with a configuration file that links to it: see `isHolderAlive`.
    private static func lock(_ descriptor: Int32) -> Bool {
        var whole = Glibc.flock()
        whole.l_type = Int16(F_WRLCK)
        whole.l_whence = Int16(SEEK_SET)
        return unsafe fcntl(descriptor, F_SETLK, &whole) == 0
    }

    /// Whether the daemon that the file names runs, though the lock is free. A daemon that is ending has a second for it.
    private static func isHolderAlive(_ descriptor: Int32) -> Bool {
        guard let holder = holder(in: descriptor), holder.pid != getpid() else { return false }
        for _ in 0..<attemptLimit {
            guard let status = ProcessStatus(of: holder.pid), status.identity == holder, !status.isZombie else {
                return false
            }
            usleep(attemptPause)
        }
        return true
    }

    private static let attemptLimit = 100
    private static let attemptPause: UInt32 = 10_000

    /// The number and the start of the process.
    private static func name(_ process: pid_t, in descriptor: Int32) {
        guard let identity = ProcessStatus(of: process)?.identity else { return }
        let text = Array("\(identity.pid) \(identity.startTime)\n".utf8)
        // In this order the file keeps its page where the file system is full.
        guard unsafe pwrite(descriptor, text, text.count, 0) == text.count else { return }
        _ = ftruncate(descriptor, off_t(text.count))
    }

    private static func holder(in descriptor: Int32) -> ProcessIdentity? {
        var text = [UInt8](repeating: 0, count: 48)
        let count = unsafe pread(descriptor, &text, text.count, 0)
        let line = text.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        // A version before this one wrote the number alone.
        guard let pid = words.first.flatMap({ pid_t($0) }) else { return nil }
        return ProcessIdentity(pid: pid, startTime: words.count > 1 ? UInt64(words[1]) ?? 0 : 0)
    }
}
