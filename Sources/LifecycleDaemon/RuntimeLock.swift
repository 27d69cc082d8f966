import Glibc
import Processes

/// Makes sure that there is one daemon a runtime directory.
///
/// The lock goes with the process, whatever ends it. What is found in the directory with the lock free is nobody's.
struct RuntimeLock: ~Copyable {
    private let descriptor: Descriptor

    /// Takes the lock of a directory that exists and that nobody else may write to. The file then names this process.
    ///
    /// - Throws: An error that names the process that has the lock, where one has.
    static func take(_ places: Places) throws(StartError) -> RuntimeLock {
        let number = unsafe open(places.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw StartError("cannot create \(places.lock): \(Processes.Errno(rawValue: errno))")
        }
        let descriptor = Descriptor(owning: number)
        guard lock(number) else {
            let holder = holder(in: number).map { " (process \($0))" } ?? ""
            throw StartError("another lifed\(holder) is running with the runtime directory \(places.runtime)")
        }
        name(getpid(), in: number)
        return RuntimeLock(descriptor: descriptor)
    }

    /// The lock is the process's own. One of the open file, as flock(2) has it, would be held by a child as well that was
    /// just started and has not closed its copy, after the daemon is gone.
    private static func lock(_ descriptor: Int32) -> Bool {
        var whole = Glibc.flock()
        whole.l_type = Int16(F_WRLCK)
        whole.l_whence = Int16(SEEK_SET)
        return unsafe fcntl(descriptor, F_SETLK, &whole) == 0
    }

    /// For people only: it is the lock that counts.
    private static func name(_ process: pid_t, in descriptor: Int32) {
        let text = Array("\(process)\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = unsafe pwrite(descriptor, text, text.count, 0)
    }

    private static func holder(in descriptor: Int32) -> pid_t? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &text, text.count, 0)
        return pid_t(String(decoding: text.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
