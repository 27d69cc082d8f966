import Glibc
import Processes

/// Putting a file in the place of another by rename(2), so that a reader finds the old one or the new one.
///
/// That holds whatever becomes of the daemon. It is not flushed to the disk, because the loop waits for nothing and a disk
/// takes its time, most of all while memory is short and apps are ended for it. A machine that loses its power may
/// therefore find the file as it was, or cut off: readers leave out a last line without its end, and what is missing
/// is as if it had never been noted.
nonisolated enum FileReplacement {
    /// Writes a file that only the daemon's own user may read and write.
    ///
    /// - Throws: What open(2), write(2) or rename(2) say. The old file is then as it was.
    static func put(
        _ bytes: [UInt8], at path: String, by temporary: String
    ) throws(Processes.Errno) {
        _ = unsafe unlink(temporary)
        let number = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw Errno(rawValue: errno) }
        let file = Descriptor(owning: number)
        guard write(bytes, to: file.rawValue), unsafe rename(temporary, path) == 0 else {
            let error = Errno(rawValue: errno)
            _ = unsafe unlink(temporary)
            throw error
        }
    }

    /// Writes everything.
    ///
    /// - Returns: Whether that was possible; errno says why not.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress.map { unsafe $0 + written }, buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
