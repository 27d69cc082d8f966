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
        guard FileReplacement.write(lines, to: number) else {
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
        do throws(Processes.Errno) {
            descriptor = try FileReplacement.put(header + lines, at: path, by: path + ".new", flags: O_APPEND)
        } catch {
            return error
        }
        size = header.count + lines.count
        initialSize = size
        return nil
    }

    /// Removes the file: there is nothing to go on with.
    func remove() {
        descriptor = nil
        _ = unsafe unlink(path)
    }
}
