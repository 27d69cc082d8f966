import Glibc
import LifecycleCore
import Processes
import Systemd

/// A directory with a small file for each app that there is something to remember of beyond the next boot.
///
/// A file is replaced as a whole, see ``FileReplacement``. While nothing can be written the daemon works as before, and
/// says so once.
final class AppRecords {
    private let directory: String
    private let kind: StateKind
    private let parentMode: mode_t
    private let log: Log
    private var isFailing = false

    /// Far more than there is to remember of an app.
    private static let sizeLimit = 256 << 10

    /// - Parameters:
    ///   - kind: What the lines of its files are.
    ///   - state: The daemon's state directory; made, as the directory itself, when it is first written to.
    init(_ name: String, of kind: StateKind, in state: String, isSystem: Bool, log: Log) {
        directory = state + "/" + name
        self.kind = kind
        // The apps' users go through the state directory to their own.
        parentMode = isSystem ? 0o711 : 0o700
        self.log = log
    }

    /// What is remembered of an app; nothing where that cannot be read.
    func read(_ id: AppID) -> [SavedRecord] {
        let number = unsafe open(path(of: id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return [] }
        let file = Descriptor(owning: number)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o022 == 0,
            let bytes = file.readAll(limit: Self.sizeLimit)
        else { return [] }
        // What follows the last line feed was never written in full.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        return lines.compactMap { line in StateLine.decode(line).flatMap { $0.0 == kind ? $0.1 : nil } }
    }

    /// Remembers this of an app, and nothing else any more.
    func write(_ records: [SavedRecord], of id: AppID) {
        guard !records.isEmpty else { return remove(id) }
        do throws(DirectoryError) {
            try replace(path(of: id), with: records.flatMap { StateLine.encode(kind, $0) })
            isFailing = false
        } catch {
            if !isFailing { log.write(LogEntry(priority: .warning, message: error.description)) }
            isFailing = true
        }
    }

    /// Forgets an app.
    func remove(_ id: AppID) {
        _ = unsafe unlink(path(of: id))
    }

    private func path(of id: AppID) -> String { directory + "/" + id.name }

    private func replace(_ path: String, with bytes: [UInt8]) throws(DirectoryError) {
        let parent = String(directory.prefix(upTo: directory.lastIndex(of: "/") ?? directory.startIndex))
        try PrivateDirectory.make(parent, mode: parentMode)
        try PrivateDirectory.add(directory, mode: 0o700)
        do throws(Processes.Errno) {
            // No id has this character.
            try FileReplacement.put(bytes, at: path, by: path + "~")
        } catch {
            throw DirectoryError(description: "\(path) cannot be written: \(error)")
        }
    }
}
