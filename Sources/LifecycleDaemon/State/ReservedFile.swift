import Glibc
import Processes

/// A file whose space is reserved before it is written.
///
/// A write within ``capacity`` does not fail for lack of space, except on a copy-on-write file system. Bytes that were never
/// written are zero.
final class ReservedFile {
    private(set) var capacity = 0
    private let descriptor: Descriptor
    /// The end of all writes; the bytes beyond it are zero.
    private var writtenEnd = 0

    /// Opens a file that only the daemon's own user can have written, with its space. Replaces any other.
    ///
    /// - Throws: The error of open(2).
    init(at path: String) throws(Errno) {
        if let found = try Self.reopenUnlessUseless(path) {
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

    /// Opens a file to write to it; nil if it is missing, or is to be replaced.
    ///
    /// - Throws: The error if the system lacks a resource for now.
    private static func reopenUnlessUseless(_ path: String) throws(Errno) -> (number: Int32, size: Int)? {
        do throws(Errno) {
            return try reopen(path, O_RDWR)
        } catch {
            if error.isShortage { throw error }
            return nil
        }
    }

    /// Opens a file that only the daemon's own user can have written; nil if there is no file.
    ///
    /// - Throws: The error of open(2), also for a link, a socket and a directory; EPERM if another user can have written the file.
    private nonisolated static func reopen(
        _ path: String, _ access: Int32
    ) throws(Errno) -> (number: Int32, size: Int)? {
        let number = unsafe open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else {
            guard errno != ENOENT else { return nil }
            throw Errno(rawValue: errno)
        }
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else {
            let error = Errno(rawValue: errno)
            close(number)
            throw error
        }
        guard isPrivate(status) else {
            close(number)
            throw Errno(rawValue: EPERM)
        }
        return (number, Int(status.st_size))
    }

    private nonisolated static func isPrivate(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
            && status.st_nlink == 1
    }

    /// Returns the bytes of a file that only the daemon's own user can have written; nil if there is no file.
    ///
    /// - Throws: The error because of which it cannot be read; EPERM if another user can have written it.
    nonisolated static func contents(of path: String, limit: Int) throws(Errno) -> [UInt8]? {
        guard let found = try reopen(path, O_RDONLY) else { return nil }
        guard let bytes = Descriptor(owning: found.number).readAll(limit: limit) else {
            throw Errno(rawValue: errno)
        }
        return bytes
    }

    /// Reserves a number of bytes in all.
    ///
    /// - Returns: The error of posix_fallocate(3); nil on success.
    func reserve(_ size: Int) -> Errno? {
        guard size > capacity else { return nil }
        var error = EINTR
        while error == EINTR { error = posix_fallocate(descriptor.rawValue, off_t(capacity), off_t(size - capacity)) }
        guard error == 0 else { return Errno(rawValue: error) }
        capacity = size
        return nil
    }

    /// Fills the file with zeros from an offset on.
    ///
    /// - Throws: The error of pwrite(2). A part of the zeros may be written.
    func clear(from start: Int) throws(Errno) {
        if writtenEnd > start { try write([UInt8](repeating: 0, count: writtenEnd - start), at: start) }
        writtenEnd = min(writtenEnd, start)
    }

    /// - Throws: The error of pwrite(2). A part of the bytes may be written.
    func write(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        var written = 0
        defer { writtenEnd = max(writtenEnd, offset + written) }
        while written < bytes.count {
            let count = Self.write(bytes[written...], to: descriptor.rawValue, at: offset + written)
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw Errno(rawValue: errno)
            }
        }
    }

    private nonisolated static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, at offset: Int) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }

    /// Cuts the file off, and gives up its space beyond that.
    func truncate(to size: Int) {
        guard ftruncate(descriptor.rawValue, off_t(size)) == 0 else { return }
        capacity = min(capacity, size)
        writtenEnd = min(writtenEnd, size)
    }
}

extension Descriptor {
    /// Reads to the end of the file; nil on failure, or beyond the limit.
    nonisolated borrowing func readAll(limit: Int) -> [UInt8]? {
        var status = stat()
        let size = unsafe fstat(rawValue, &status) == 0 ? Int(status.st_size) : 0
        var bytes = readChunk(of: min(max(size, 0), limit) + 1)
        while let read = bytes, !read.isEmpty {
            guard read.count <= limit else {
                errno = EFBIG
                return nil
            }
            guard let more = readChunk(of: 1 << 16) else { return nil }
            if more.isEmpty { return read }
            bytes = read + more
        }
        return bytes
    }

    /// Reads up to so many bytes: none at the end of the file, nil on failure.
    private nonisolated borrowing func readChunk(of size: Int) -> [UInt8]? {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            repeat {
                count = unsafe Glibc.read(rawValue, buffer.baseAddress, size)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        return count < 0 ? nil : bytes
    }
}
