import CLinux
import Glibc
import Processes

/// The file in the runtime directory from which a successor of the daemon restores its state.
///
/// Each change is one write(2) at the end; a reader ignores a cut last line and the zeros behind. If the file is full, the whole state
/// goes to a spare file, with which it exchanges the name. Both are in memory, with space reserved against a full file system.
final class StateFile {
    let path: String
    /// The bytes that are reserved beyond twice the size of the state.
    private static let slack = 1 << 17

    private let header: [UInt8]
    /// The largest file that a successor reads, in bytes.
    private let sizeLimit: Int
    private var current: ReservedFile?
    private var spare: ReservedFile?
    private var size = 0

    init(path: String, header: [UInt8], sizeLimit: Int = SavedState.sizeLimit) {
        self.path = path
        self.header = header
        self.sizeLimit = sizeLimit
    }

    private var sparePath: String { path + ".new" }

    /// A Boolean value that indicates whether both files have space for more apps and for the growth of the present ones.
    var hasRoom: Bool {
        min(current?.capacity ?? 0, spare?.capacity ?? 0) >= Self.leastCapacity(for: size)
    }

    /// The size from which no more apps are launched, in bytes: the present ones may need as much again.
    var launchLimit: Int { sizeLimit / 2 }
    /// A Boolean value that indicates whether the state is larger than that.
    var isLarge: Bool { size > launchLimit }

    private static func leastCapacity(for size: Int) -> Int { size + size / 2 + slack / 4 }

    /// Appends lines.
    ///
    /// - Returns: Whether they were written. If not, the file must be replaced.
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
        guard bytes.count <= sizeLimit else { return Errno(rawValue: EFBIG) }
        do throws(Processes.Errno) {
            let new: ReservedFile
            if let spare { new = spare } else { new = try ReservedFile(at: sparePath) }
            spare = new
            reserve(new, for: bytes.count)
            try new.setContents(bytes)
            spare = try exchange() ? current : nil
            current = new
        } catch {
            return error
        }
        size = bytes.count
        // The file is usable without a spare; see `hasRoom`.
        if spare == nil { spare = try? ReservedFile(at: sparePath) }
        if let spare { reserve(spare, for: size) }
        return nil
    }

    /// Reserves the wanted space, or at least the space for further apps. A reader counts the space that is not used, too.
    private func reserve(_ file: ReservedFile, for size: Int) {
        if file.capacity > sizeLimit { file.truncate(to: sizeLimit) }
        if file.reserve(min(2 * size + Self.slack, sizeLimit)) != nil {
            _ = file.reserve(min(Self.leastCapacity(for: size), sizeLimit))
        }
    }

    /// Exchanges the names of the spare and the file.
    ///
    /// - Returns: Whether the old file is now the spare.
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
