import Glibc
import LifecycleCore
import Processes

/// What a daemon that is gone has left of itself.
nonisolated struct SavedState {
    /// What is kept of one app.
    struct App {
        var core: SavedRecord?
        var launch: SavedRecord?
        var channel: SavedRecord?
        var resources: SavedRecord?
        var definition: SavedRecord?
    }

    private(set) var machine = SavedRecord()
    /// The login session that was followed.
    private(set) var session = SavedRecord()
    /// The directory of the cgroups, where the apps have some.
    private(set) var cgroups: String?
    private(set) var apps: [AppID: App] = [:]
    /// How apps ended that are no longer known, the oldest first.
    private(set) var ended: [SavedRecord] = []

    /// Nothing.
    init() {}

    /// What is in a state file's lines. A line that makes no sense is left out.
    init(lines: some Sequence<ArraySlice<UInt8>>) {
        for line in lines {
            guard let (kind, record) = StateLine.decode(line) else { continue }
            if kind == .machine { machine = record }
            if kind == .session { session = record }
            if kind == .place { cgroups = record["cgroups"] }
            guard let name = record["id"], !name.isEmpty else { continue }
            let id = AppID(name)
            switch kind {
            case .machine, .place, .session, .exit, .run: break
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

/// Why there is nothing to go on with, in words for a person; nil where there never was anything.
nonisolated struct UnusableState: Error, CustomStringConvertible {
    let description: String

    /// Whether only the reading failed, for a reason that may have gone the next time: the file itself may be as it should.
    var mayBeReadLater = false

    init(description: String) {
        self.description = description
    }

    /// A system call that failed.
    init(_ path: String, _ error: Processes.Errno) {
        description = "\(path) cannot be read: \(error)"
        mayBeReadLater = [EIO, EMFILE, ENFILE, ENOMEM].contains(error.rawValue)
    }
}

extension SavedState {
    /// The version of what the lines mean. A reader takes only its own.
    static let version = "1"
    /// Far more than 10,000 apps need.
    private static let sizeLimit = 256 << 20

    /// The first line of a state file: the instants and process numbers in it mean something until the next boot, and in
    /// the same namespaces, only.
    static func header(bootID: String, namespaces: String = Self.namespaces) -> [UInt8] {
        Array("\(prefix(bootID: bootID)) \(namespaces)\n".utf8)
    }

    private static func prefix(bootID: String) -> String { "lifed-state version=\(version) boot=\(bootID)" }

    /// Where this process's numbers of processes and its clock are from: see namespaces(7).
    static var namespaces: String { "\(namespace("pid")) \(namespace("time"))" }

    private static func namespace(_ kind: String) -> String {
        var text = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/self/ns/\(kind)", &text, text.count)
        return count > 0
            ? String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : "\(kind):[]"
    }

    /// Reads the state file of a daemon that is gone; nil where there is none, or one of an earlier boot.
    static func read(_ path: String) throws(UnusableState) -> SavedState? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw UnusableState(path, Processes.Errno(rawValue: errno))
        }
        let file = Descriptor(owning: number)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o022 == 0
        else { throw UnusableState(description: "\(path) is not a file that only the daemon's own user may write to") }
        guard let bytes = file.readAll(limit: sizeLimit) else {
            throw UnusableState(path, Processes.Errno(rawValue: errno))
        }
        return try SavedState(bytes, path: path)
    }

    private init?(_ bytes: [UInt8], path: String) throws(UnusableState) {
        guard bytes.starts(with: "lifed-state version=".utf8), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw UnusableState(description: "\(path) is no state file of lifed")
        }
        let header = String(decoding: bytes[...end], as: UTF8.self)
        guard header.hasPrefix("lifed-state version=\(Self.version) ") else {
            throw UnusableState(
                description: "\(path) was written by a version of lifed that means something else by it")
        }
        let prefix = Self.prefix(bootID: BootID.current)
        guard header.hasPrefix(prefix + " ") else { return nil }
        guard header == String(decoding: Self.header(bootID: BootID.current), as: UTF8.self) else {
            throw UnusableState(
                description:
                    "\(path) was written in another namespace of processes or of time, where numbers mean others")
        }
        // What follows the last line feed was never written in full.
        let lines = bytes[(end + 1)...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast()
        self.init(lines: lines)
    }
}

extension Descriptor {
    /// Everything that is left to read; nil when reading fails, or when there is more than the limit.
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
