import CLinux
import Glibc
import Processes

/// The file in the runtime directory from which a successor of the daemon restores its state.
///
/// Each change is one write(2) at the end: a reader ignores a last line that was cut off. When the file is full, the whole
/// state is written to a spare file, which takes its place. The file is in memory, and is never flushed.
///
/// Both files have their space reserved, and exchange their names, so that a full file system takes no space from them. Zeros
/// follow the contents.
final class StateFile {
    let path: String
    /// The bytes that are reserved beyond twice the size of the state.
    private static let slack = 1 << 17

    private let header: [UInt8]
    private var current: ReservedFile?
    private var spare: ReservedFile?
    private var size = 0

    init(path: String, header: [UInt8]) {
        self.path = path
        self.header = header
    }

    private var sparePath: String { path + ".new" }

    /// A Boolean value that indicates whether both files have space for more apps and for the growth of the present ones.
    var hasRoom: Bool {
        min(current?.capacity ?? 0, spare?.capacity ?? 0) >= Self.leastCapacity(for: size)
    }

    private static func leastCapacity(for size: Int) -> Int { size + size / 2 + slack / 4 }

    /// Appends lines.
    ///
    /// - Returns: A Boolean value that indicates whether they were written. If not, the file must be replaced.
    func append(_ lines: [UInt8]) -> Bool {
        guard let current, size + lines.count <= current.capacity else { return false }
        do throws(Processes.Errno) {
            try current.write(lines, at: size)
        } catch {
            // A reader finds everything up to here, and nothing of these lines.
            current.truncate(to: size)
            self.current = nil
            return false
        }
        size += lines.count
        return true
    }

    /// Replaces the contents. If that fails, the old file stays.
    ///
    /// - Returns: The error; nil on success.
    func replace(with lines: [UInt8]) -> Processes.Errno? {
        let bytes = header + lines
        do throws(Processes.Errno) {
            let new: ReservedFile
            if let spare { new = spare } else { new = try ReservedFile(at: sparePath) }
            spare = new
            Self.reserve(new, for: bytes.count)
            try new.setContents(bytes)
            spare = try exchange() ? current : nil
            current = new
        } catch {
            return error
        }
        size = bytes.count
        // The file is usable without a spare; see `hasRoom`.
        if spare == nil { spare = try? ReservedFile(at: sparePath) }
        if let spare { Self.reserve(spare, for: size) }
        return nil
    }

    /// Reserves the wanted space, or at least the space for further apps.
    private static func reserve(_ file: ReservedFile, for size: Int) {
        if file.reserve(2 * size + slack) != nil { _ = file.reserve(leastCapacity(for: size)) }
    }

    /// Exchanges the names of the spare and the file.
    ///
    /// - Returns: A Boolean value that indicates whether the old file is now the spare.
    private func exchange() throws(Processes.Errno) -> Bool {
        let error = unsafe -linux_exchange(sparePath, path)
        if error == 0 { return true }
        // There is no old file, or the file system cannot exchange names.
        guard [ENOENT, EINVAL, ENOSYS].contains(error) else { throw Errno(rawValue: error) }
        guard unsafe rename(sparePath, path) == 0 else { throw Errno(rawValue: errno) }
        return false
    }

    func remove() {
        current = nil
        spare = nil
        _ = unsafe unlink(path)
        _ = unsafe unlink(sparePath)
    }
}

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
        guard unsafe fstat(number, &status) == 0, isPrivate(status) else {
            close(number)
            return nil
        }
        return (number, Int(status.st_size))
    }

    private nonisolated static func isPrivate(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
            && status.st_nlink == 1
    }

    static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Returns the bytes of a file that only the daemon's own user can have written; nil if there is none.
    nonisolated static func contents(of path: String, limit: Int) -> [UInt8]? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        var status = stat()
        guard unsafe fstat(number, &status) == 0, isPrivate(status) else { return nil }
        return file.readAll(limit: limit)
    }

    /// Reserves a number of bytes in all.
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

    /// - Throws: The error of pwrite(2). The contents are then undefined.
    func setContents(_ bytes: [UInt8]) throws(Processes.Errno) {
        let rest = [UInt8](repeating: 0, count: max(0, writtenEnd - bytes.count))
        try write(bytes, at: 0)
        try write(rest, at: bytes.count)
        writtenEnd = bytes.count
    }

    /// - Throws: The error of pwrite(2). A part of the bytes may be written.
    func write(_ bytes: [UInt8], at offset: Int) throws(Processes.Errno) {
        try unsafe write(bytes.span.bytes, at: offset)
    }

    /// - Throws: The error of pwrite(2). A part of the bytes may be written.
    func write(_ bytes: RawSpan, at offset: Int) throws(Processes.Errno) {
        var written = 0
        defer { writtenEnd = max(writtenEnd, offset + written) }
        while written < bytes.byteCount {
            let count = Self.write(
                bytes.extracting(droppingFirst: written), to: descriptor.rawValue, at: offset + written)
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw Errno(rawValue: errno)
            }
        }
    }

    private nonisolated static func write(_ bytes: RawSpan, to descriptor: Int32, at offset: Int) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }

    /// Cuts the file off, and gives up its space beyond that.
    func truncate(to size: Int) {
        guard ftruncate(descriptor.rawValue, off_t(size)) == 0 else { return }
        capacity = min(capacity, size)
        writtenEnd = min(writtenEnd, size)
    }
}

/// The replacement of a file by rename(2): a reader finds the old file or the new one, also if the daemon is killed.
///
/// The file is not flushed, because the loop must not wait for a disk. After a loss of power the file may be the old one or
/// cut off; readers ignore a last line without its end.
nonisolated enum FileReplacement {
    /// Writes a file that only the daemon's own user may read and write.
    ///
    /// - Throws: The error of open(2), write(2) or rename(2). The old file stays.
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

    /// - Returns: A Boolean value that indicates whether all bytes were written; if not, errno is set.
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
