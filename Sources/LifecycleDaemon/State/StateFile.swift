import Glibc
import Processes

/// The file in the runtime directory from which a daemon goes on where another was killed.
///
/// Changes are appended, one write(2) each: cheap, and whole or, when the writer is killed in the middle of it, a line
/// without its end, which a reader leaves out. When most of the file is out of date it is written anew beside and put in
/// place by rename(2). It is memory, not a disk: nothing is kept for another boot, and nothing is flushed.
final class StateFile {
    /// Where it is.
    let path: String
    /// The bytes beyond which the file is worth writing anew, when that is more than twice what it had at first.
    private static let slack = 1 << 18

    private let header: [UInt8]
    private var descriptor: Descriptor?
    private var size = 0
    private var initialSize = 0

    init(path: String, header: [UInt8]) {
        self.path = path
        self.header = header
    }

    /// Whether most of the file is out of date, or something could not be written: then it has to be replaced.
    var wantsReplacing: Bool { descriptor == nil || size > 2 * initialSize + Self.slack }

    /// Adds lines at the end. What cannot be written in full is taken back, and the file has to be replaced.
    ///
    /// - Returns: Whether it was written.
    func append(_ lines: [UInt8]) -> Bool {
        guard let number = descriptor?.rawValue else { return false }
        guard Self.write(lines, to: number) else {
            // A reader is to find everything up to here, and nothing of this.
            _ = ftruncate(number, off_t(size))
            descriptor = nil
            return false
        }
        size += lines.count
        return true
    }

    /// Puts a new file with these lines in the place of the old one, which stays as it is when that fails.
    ///
    /// - Returns: Why it could not be written; nil when it was.
    func replace(with lines: [UInt8]) -> Processes.Errno? {
        let temporary = path + ".new"
        _ = unsafe unlink(temporary)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let number = unsafe open(temporary, flags, 0o600)
        guard number >= 0 else { return Errno(rawValue: errno) }
        let new = Descriptor(owning: number)
        guard Self.write(header + lines, to: number), unsafe rename(temporary, path) == 0 else {
            let error = Errno(rawValue: errno)
            _ = unsafe unlink(temporary)
            return error
        }
        descriptor = consume new
        size = header.count + lines.count
        initialSize = size
        return nil
    }

    /// Removes the file: there is nothing to go on with.
    func remove() {
        descriptor = nil
        _ = unsafe unlink(path)
    }

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
