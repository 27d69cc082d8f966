import Glibc
import LifecycleCore
import Processes

/// The state that a former daemon has saved.
nonisolated struct SavedState {
    struct App {
        var core: SavedRecord?
        var launch: SavedRecord?
        var channel: SavedRecord?
        var resources: SavedRecord?
        var definition: SavedRecord?
    }

    private(set) var machine = SavedRecord()
    private(set) var session = SavedRecord()
    /// The directory of the apps' control groups; nil for none.
    private(set) var cgroups: String?
    private(set) var apps: [AppID: App] = [:]
    /// The apps that have ended and were forgotten, the oldest first.
    private(set) var ended: [SavedRecord] = []
    /// The transitions that the daemon did not announce, the oldest first.
    private(set) var unannounced: [SavedRecord] = []

    /// Reads the lines of a state file. Ignores a line that makes no sense.
    init(lines: some Sequence<ArraySlice<UInt8>>) {
        for line in lines {
            guard let (kind, record) = StateLine.decode(line) else { continue }
            if kind == .machine { machine = record }
            if kind == .session { session = record }
            if kind == .place { cgroups = record["cgroups"] }
            if kind == .announced { unannounced = [] }
            guard let name = record["id"], !name.isEmpty else { continue }
            let id = AppID(name)
            switch kind {
            case .machine, .place, .session, .exit, .run, .announced: break
            case .transition: unannounced.append(record)
            case .ended: ended.append(record)
            case .app: apps[id, default: App()].core = record
            case .launch: apps[id, default: App()].launch = record
            case .channel: apps[id, default: App()].channel = record
            case .resources: apps[id, default: App()].resources = record
            case .definition: apps[id, default: App()].definition = record
            case .forget: apps[id] = nil
            }
        }
    }
}

extension SavedState {
    /// The version of the format. A reader accepts only its own.
    static let version = "1"
    /// Far more than 10,000 apps need, in bytes.
    private static let sizeLimit = 256 << 20

    /// Returns the first line of a state file, whose instants and pids are valid in one boot and its namespaces only.
    static func header(bootID: String, namespaces: String = Self.namespaces) -> [UInt8] {
        Array("\(prefix(bootID: bootID)) \(namespaces)\n".utf8)
    }

    private static func prefix(bootID: String) -> String { "lifed-state version=\(version) boot=\(bootID)" }

    /// The namespaces of this process's pids and clock: see namespaces(7).
    static var namespaces: String { "\(namespace("pid")) \(namespace("time"))" }

    private static func namespace(_ kind: String) -> String {
        var text = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/self/ns/\(kind)", &text, text.count)
        return count > 0
            ? String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : "\(kind):[]"
    }

    /// Reads the state file of a former daemon.
    ///
    /// - Returns: The state; nil if there is none, or one of an earlier boot.
    /// - Throws: A ``DaemonError``, which is transient if a later attempt may succeed.
    static func read(_ path: String) throws(DaemonError) -> SavedState? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw unreadable(path)
        }
        let file = Descriptor(owning: number)
        guard file.isOwnFile else {
            throw DaemonError(.state, "cannot use \(path): other users may write to it")
        }
        guard let bytes = file.readAll(limit: sizeLimit) else { throw unreadable(path) }
        return try SavedState(bytes, path: path)
    }

    private static func unreadable(_ path: String) -> DaemonError {
        DaemonError(.state, "cannot read \(path)", errno: Processes.Errno(rawValue: errno))
    }

    private init?(_ bytes: [UInt8], path: String) throws(DaemonError) {
        guard bytes.starts(with: "lifed-state version=".utf8), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw DaemonError(.state, "cannot use \(path): it is not a state file of lifed")
        }
        let header = String(decoding: bytes[...end], as: UTF8.self)
        guard header.hasPrefix("lifed-state version=\(Self.version) ") else {
            throw DaemonError(.state, "cannot use \(path): it was written by a version of lifed with another format")
        }
        let prefix = Self.prefix(bootID: BootID.current)
        guard header.hasPrefix(prefix + " ") else { return nil }
        guard header == String(decoding: Self.header(bootID: BootID.current), as: UTF8.self) else {
            throw DaemonError(
                .state,
                "cannot use \(path): it was written in another namespace of processes or of time")
        }
        self.init(lines: StateLine.completeLines(of: bytes[(end + 1)...]))
    }
}

extension Descriptor {
    /// A Boolean value that indicates whether this is a regular file that only the daemon's own user may write to.
    nonisolated var isOwnFile: Bool {
        var status = stat()
        return unsafe fstat(rawValue, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }

    /// Reads to the end of the file; nil on failure, or beyond the limit.
    nonisolated borrowing func readAll(limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(rawValue, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            bytes += chunk.prefix(count)
            guard bytes.count <= limit else {
                errno = EFBIG
                return nil
            }
        }
    }
}
