import CLinux
import Glibc
import Processes

/// The file in the runtime directory from which a daemon goes on where another was killed.
///
/// Changes are written after what is there, one write(2) each: cheap, and whole or, when the writer is killed in the middle
/// of it, a line without its end, which a reader leaves out. When the file is full, everything is written anew to a spare
/// beside it, which then takes its place. It is memory, not a disk: nothing is kept for another boot, and nothing is
/// flushed.
///
/// Both files have their space reserved, and exchange their names rather than be replaced. So a file system that fills up
/// takes no space from them. Zeros follow what is written.
final class StateFile {
    /// Where it is.
    let path: String
    /// The bytes that are reserved beyond twice what there is to keep.
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

    /// A Boolean value that indicates whether both files have space for more apps, and for what is still to come of those
    /// that are in it.
    var hasRoom: Bool {
        min(current?.capacity ?? 0, spare?.capacity ?? 0) >= Self.leastCapacity(for: size)
    }

    private static func leastCapacity(for size: Int) -> Int { size + size / 2 + slack / 4 }

    /// Adds lines at the end.
    ///
    /// - Returns: Whether they were written. If not, the file has to be replaced.
    func append(_ lines: [UInt8]) -> Bool {
        guard let current, size + lines.count <= current.capacity else { return false }
        do throws(Processes.Errno) {
            try current.write(lines, at: size)
        } catch {
            // A reader is to find everything up to here, and nothing of this.
            current.truncate(to: size)
            self.current = nil
            return false
        }
        size += lines.count
        return true
    }

    /// Puts a new file with these lines in the place of the old one, which stays as it is when that fails.
    ///
    /// - Returns: Why it could not be written; nil when it was.
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
        // Without it the file is kept all the same; see `hasRoom`.
        if spare == nil { spare = try? ReservedFile(at: sparePath) }
        if let spare { Self.reserve(spare, for: size) }
        return nil
    }

    /// Reserves what is wanted, or at least what lets further apps in.
    private static func reserve(_ file: ReservedFile, for size: Int) {
        if file.reserve(2 * size + slack) != nil { _ = file.reserve(leastCapacity(for: size)) }
    }

    /// Puts the spare in the place of the file.
    ///
    /// - Returns: Whether the old file is now the spare.
    private func exchange() throws(Processes.Errno) -> Bool {
        let error = unsafe -linux_exchange(sparePath, path)
        if error == 0 { return true }
        // There is no old file yet, or the file system cannot exchange.
        guard [ENOENT, EINVAL, ENOSYS].contains(error) else { throw Errno(rawValue: error) }
        guard unsafe rename(sparePath, path) == 0 else { throw Errno(rawValue: errno) }
        return false
    }

    /// Removes the file: there is nothing to go on with.
    func remove() {
        current = nil
        spare = nil
        _ = unsafe unlink(path)
        _ = unsafe unlink(sparePath)
    }
}
