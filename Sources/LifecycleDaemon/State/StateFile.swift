import CLinux
import Glibc
import Processes

/// The file of the log, and a spare of the same size.
///
/// Each frame is one pwrite(2) at the end. When the file is full, what counts goes to the spare, and the two exchange their names: a daemon
/// that is killed leaves the one or the other. Both have their space reserved, so that this succeeds on a full file system.
final class StateFile {
    let path: String
    /// The bytes that are reserved beyond twice the size of what counts.
    private static let slack = 1 << 17

    private let header: [UInt8]
    /// The largest file that the next daemon reads, in bytes.
    private let sizeLimit: Int
    private var current: ReservedFile?
    private var spare: ReservedFile?
    /// The end of the last frame.
    private var end = 0

    init(path: String, header: [UInt8], sizeLimit: Int) {
        self.path = path
        self.header = header
        self.sizeLimit = sizeLimit
    }

    private var sparePath: String { path + ".new" }

    private static func leastCapacity(for size: Int) -> Int { size + size / 2 + slack / 4 }

    /// Returns whether both files have space for more than these lines.
    func hasRoom(for size: Int) -> Bool {
        min(current?.capacity ?? 0, spare?.capacity ?? 0) >= Self.leastCapacity(for: size)
    }

    /// Appends a frame.
    ///
    /// - Returns: Whether it was written. If not, everything must be written anew.
    func append(_ lines: [UInt8]) -> Bool {
        let frame = StateFrames.frame(lines)
        guard let current, end + frame.count <= current.capacity else { return false }
        do throws(Errno) {
            try current.write(frame, at: end)
        } catch {
            self.current = nil
            return false
        }
        end += frame.count
        return true
    }

    /// Writes everything anew, as one frame. If that fails, the old file stays.
    ///
    /// - Throws: The error that kept everything from being written.
    func replace(_ lines: [UInt8]) throws(Errno) {
        let contents = header + StateFrames.frame(lines)
        guard contents.count <= sizeLimit else { throw Errno(rawValue: EFBIG) }
        let new: ReservedFile
        if let spare { new = spare } else { new = try ReservedFile(at: sparePath) }
        spare = new
        reserve(new, for: contents.count)
        if let error = new.reserve(contents.count) { throw error }
        try new.write(contents, at: 0)
        try new.clear(from: contents.count)
        do throws(Errno) {
            spare = try exchange() ? current : nil
        } catch {
            // Somebody may have removed it: the next attempt makes another.
            spare = nil
            throw error
        }
        current = new
        end = contents.count
        // The file is usable without a spare; see `hasRoom(for:)`.
        if spare == nil { spare = try? ReservedFile(at: sparePath) }
        if let spare { reserve(spare, for: end) }
    }

    /// Reserves the wanted space, or at least the space for more apps. The next daemon reads the space that is not used, too.
    private func reserve(_ file: ReservedFile, for size: Int) {
        if file.capacity > sizeLimit { file.truncate(to: sizeLimit) }
        if file.reserve(min(2 * size + Self.slack, sizeLimit)) != nil {
            _ = file.reserve(min(Self.leastCapacity(for: size), sizeLimit))
        }
    }

    /// Exchanges the names of the spare and the file.
    ///
    /// - Returns: Whether the old file is now the spare.
    private func exchange() throws(Errno) -> Bool {
        let error = unsafe -linux_exchange(sparePath, path)
        if error == 0 { return true }
        // There is no old file, or the file system cannot exchange names.
        guard [ENOENT, EINVAL, ENOSYS].contains(error) else { throw Errno(rawValue: error) }
        guard unsafe rename(sparePath, path) == 0 else { throw Errno(rawValue: errno) }
        return false
    }

    func remove() {
        (current, spare) = (nil, nil)
        _ = unsafe unlink(path)
        _ = unsafe unlink(sparePath)
    }
}
