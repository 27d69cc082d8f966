import Glibc
import LifecycleCore
import Processes
import Systemd

/// A directory with a small file for each app of which the daemon remembers something beyond the next boot.
///
/// A file is replaced as a whole, see ``FileReplacement``. While no file can be written the daemon works as before, and
/// reports this once.
final class AppRecords {
    /// The state directory, which is made when it is first written to.
    struct Directory {
        let path: String
        let isSystem: Bool
        let log: any JournalSink
    }

    private let state: Directory
    private let path: String
    private let kind: StateKind
    private var isFailing = false

    /// Far more than a file holds, in bytes.
    private static let sizeLimit = 256 << 10

    init(_ name: String, of kind: StateKind, in state: Directory) {
        self.state = state
        self.kind = kind
        path = state.path + "/" + name
    }

    /// The names of the files of apps; nil if the directory cannot be listed.
    var names: Set<String>? {
        guard let directory = unsafe opendir(path) else { return errno == ENOENT ? [] : nil }
        defer { unsafe closedir(directory) }
        var names: Set<String> = []
        while let entry = unsafe readdir(directory) {
            unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    if unsafe name[0] != CChar(bitPattern: UInt8(ascii: ".")) {
                        _ = unsafe names.insert(String(cString: name))
                    }
                }
            }
        }
        return names
    }

    /// Reads the records of an app; none if the file cannot be read or may be another user's.
    func read(_ id: AppID) -> [SavedRecord] {
        let bytes = (try? ReservedFile.contents(of: path(of: id), limit: Self.sizeLimit)) ?? nil
        guard let bytes else { return [] }
        return StateLine.completeLines(of: bytes[...]).compactMap { line in
            StateLine.decode(line).flatMap { $0.0 == kind ? $0.1 : nil }
        }
    }

    func write(_ records: [SavedRecord], of id: AppID) {
        guard !records.isEmpty else { return remove(id) }
        do throws(DaemonError) {
            try replace(path(of: id), with: records.flatMap { StateLine.encode(kind, $0) })
            isFailing = false
        } catch {
            if !isFailing { state.log.write(.warning, error.description) }
            isFailing = true
        }
    }

    func remove(_ id: AppID) {
        _ = unsafe unlink(path(of: id))
    }

    private func path(of id: AppID) -> String { path + "/" + id.name }

    private func replace(_ file: String, with bytes: [UInt8]) throws(DaemonError) {
        // The users of apps reach their own directories through the state directory.
        try PrivateDirectory.make(state.path, mode: state.isSystem ? 0o711 : 0o700)
        try PrivateDirectory.add(path, mode: 0o700)
        do throws(Processes.Errno) {
            // No id contains this character.
            try FileReplacement.put(bytes, at: file, by: file + "~")
        } catch {
            throw DaemonError(.directory, "cannot write \(file)", errno: error)
        }
    }
}
