import Glibc
import Processes

/// A file that reserves its space on the file system before anything is written to it.
///
/// A write within ``capacity`` cannot fail for want of space, except on a file system that copies on write. Bytes that
/// were never written are zero.
final class ReservedFile {
    /// The number of bytes that are reserved.
    private(set) var capacity = 0
    private let descriptor: Descriptor
    /// The end of what was ever written; the bytes beyond it are zero.
    private var writtenEnd = 0

    /// Opens a file that only the daemon's own user can have written, with the space that it has. Replaces any other.
    ///
    /// - Throws: The error of open(2).
    init(at path: String) throws(Processes.Errno) {
        if let found = Self.reopen(path) {
            descriptor = Descriptor(owning: found.number)
            writtenEnd = found.size
            _ = reserve(found.size)
            return
        }
        _ = unsafe unlink(path)
        let number = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw Errno(rawValue: errno) }
        descriptor = Descriptor(owning: number)
    }

    private static func reopen(_ path: String) -> (number: Int32, size: Int)? {
        let number = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0, status.st_nlink == 1
        else {
            close(number)
            return nil
        }
        return (number, Int(status.st_size))
    }

    /// Reserves this number of bytes. A file that has them already, or cannot have them, stays as it is.
    ///
    /// - Returns: The error of posix_fallocate(3); nil on success.
    func reserve(_ size: Int) -> Processes.Errno? {
        guard size > capacity else { return nil }
        var error = EINTR
        while error == EINTR { error = posix_fallocate(descriptor.rawValue, off_t(capacity), off_t(size - capacity)) }
        guard error == 0 else { return Errno(rawValue: error) }
        capacity = size
        return nil
    }

    /// Makes these bytes the file's contents, followed by zeros.
    ///
    /// - Throws: The error of pwrite(2). The contents are then undefined.
    func setContents(_ bytes: [UInt8]) throws(Processes.Errno) {
        let rest = [UInt8](repeating: 0, count: max(0, writtenEnd - bytes.count))
        try write(bytes, at: 0)
        try write(rest, at: bytes.count)
        writtenEnd = bytes.count
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: The error of pwrite(2). Any part of them is then written.
    func write(_ bytes: [UInt8], at offset: Int) throws(Processes.Errno) {
        var written = 0
        defer { writtenEnd = max(writtenEnd, offset + written) }
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    descriptor.rawValue, buffer.baseAddress.map { unsafe $0 + written }, buffer.count - written,
                    off_t(offset + written))
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw Errno(rawValue: errno)
            }
        }
    }

    /// Cuts the file off, and gives up the space that it has beyond that.
    func truncate(to size: Int) {
        guard ftruncate(descriptor.rawValue, off_t(size)) == 0 else { return }
        capacity = min(capacity, size)
        writtenEnd = min(writtenEnd, size)
    }
}
