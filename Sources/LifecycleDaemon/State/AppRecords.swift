import Configuration
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
    var names: Set<String>? { fileNames(in: path) }

    /// Reads the records in the file of an app; none if the file cannot be read or may be another user's.
    func read(_ id: AppID) -> [(AppID, SavedRecord)] {
        let bytes = (try? ReservedFile.contents(of: path(of: id), limit: Self.sizeLimit)) ?? nil
        return StateLine.read((bytes ?? [])[...]).compactMap { line in
            guard line.name.kind == kind, let app = line.name.app, let record = line.record else { return nil }
            return (app, record)
        }
    }

    func write(_ records: [(AppID, SavedRecord)], of id: AppID) {
        guard !records.isEmpty else { return remove(id) }
        do throws(DaemonError) {
            try replace(path(of: id), with: records.flatMap { StateLine(StateName(kind, $0.0), $0.1).bytes })
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
        do throws(Errno) {
            // No id contains this character.
            try FileReplacement.put(bytes, at: file, by: file + "~")
        } catch {
            throw DaemonError(.directory, "cannot write \(file)", errno: error)
        }
    }
}

/// Replaces a file by rename(2): a reader finds the old file or the new one, also if the daemon is killed.
///
/// The file is not flushed, because the loop must not wait for a disk. After a loss of power the file may be the old one or
/// cut off; readers ignore a last line without its end.
nonisolated enum FileReplacement {
    /// Writes a file that only the daemon's own user may read and write.
    ///
    /// - Throws: The error of open(2), write(2) or rename(2). The old file stays.
    static func put(
        _ bytes: [UInt8], at path: String, by temporary: String
    ) throws(Errno) {
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

    /// - Returns: Whether all bytes were written; if not, errno is set.
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

/// The saved state of an app's processes.
struct LaunchRecord {
    var tree: SavedTree
    var exitPolicy: Manifest.ExitPolicy
    /// The instant at which the core asked for the launch; identifies the launch among those of the app.
    var launched: Instant?
    /// True after SIGTERM was sent. A second one makes many programs exit at once.
    var isAskedToEnd = false
    /// True if the core knows that the main process has ended.
    var hasReportedExit = false
}

extension LaunchRecord: SavedTable {
    /// Reads a record; nil if it does not name a process.
    ///
    /// - Parameter desiredState: The state of the processes that the core wanted.
    init?(_ record: SavedRecord, desiredState: ProcessTree.DesiredState) {
        var reader = SavedCoder(reading: record)
        guard let token: LaunchToken = reader.item("token", nil), let main: ProcessIdentity = reader.item("main", nil)
        else { return nil }
        tree = SavedTree(token: token, main: main)
        tree.desiredState = desiredState
        exitPolicy = .main
        codeRest(with: &reader)
    }

    mutating func code(with coder: inout SavedCoder) {
        coder.item("token", &tree.token)
        coder.item("main", &tree.main)
        codeRest(with: &coder)
    }

    private mutating func codeRest(with coder: inout SavedCoder) {
        coder.text("cgroup", &tree.cgroup)
        coder.word("suspend-method", &tree.suspendMethod)
        coder.word("exit-policy", &exitPolicy)
        coder.instant("launched", &launched)
        coder.flag("asked-to-end", &isAskedToEnd)
        coder.flag("exit-reported", &hasReportedExit)
        coder.list("held-before", &tree.stoppedByOthers)
        coder.item("main-ended", &tree.exitStatus)
        coder.flag("taken-in", &tree.isAdopted)
        coder.text("origin", &tree.origin)
        var owner = tree.owner?.user
        coder.user("owner", &owner)
        tree.owner = owner.map { TreeOwner(user: $0) }
        coder.list("stray", &tree.escaped)
        coder.list("unit", &tree.units)
        var signals = tree.signalsForLater.map { String($0.rawValue) }
        coder.list("held-signal", &signals)
        tree.signalsForLater = signals.compactMap { Int32($0) }.map { Signal(rawValue: $0) }
        coder.list("asked-first", &tree.askedFirst)
        let signal = coder.number("end-signal", tree.endSignal.map { UInt64($0.rawValue) })
        tree.endSignal = signal.flatMap(Signal.init(saved:))
        coder.item("keeper", &tree.keeper)
    }
}

nonisolated extension Signal {
    fileprivate init?(saved number: UInt64) {
        guard let number = Int32(exactly: number), number > 0, number < 65 else { return nil }
        self.init(rawValue: number)
    }
}
