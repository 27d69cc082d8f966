import CLinux
import Glibc
import LifecycleCore
import Processes

/// The state that a former daemon has saved.
nonisolated struct SavedState {
    struct App {
        var core: SlotReader?
        var launch: SavedRecord?
        var channel: ChannelProgress?
        var resources: SavedResources?
        var definition: SavedRecord?
    }

    private(set) var machine = SlotReader([])
    private(set) var session = SavedRecord()
    private(set) var boundInterruptions = SavedRecord()
    /// The directory of the apps' control groups; nil for none.
    private(set) var cgroups: String?
    private(set) var apps: [AppID: App] = [:]
    /// The apps that have ended and were forgotten, the oldest first.
    private(set) var ended: [SavedRecord] = []
    /// The transitions that the daemon did not announce, the oldest first.
    private(set) var unannounced: [Announcement] = []
    /// The slots that were read, for the store that goes on with their file.
    private(set) var slots: SlotContents?

    /// Reads the lines of a state file. Ignores a line that makes no sense.
    init(lines: some Sequence<ArraySlice<UInt8>>) {
        for line in lines {
            guard let (kind, record) = StateLine.decode(line) else { continue }
            if kind == .session { session = record }
            if kind == .bound { boundInterruptions = record }
            if kind == .controlGroups { cgroups = record["cgroups"] }
            guard let name = record["id"], !name.isEmpty else { continue }
            let id = AppID(name)
            switch kind {
            case .controlGroups, .session, .bound, .exit: break
            case .ended: ended.append(record)
            case .launch: apps[id, default: App()].launch = record
            case .definition: apps[id, default: App()].definition = record
            case .forget: apps[id] = nil
            }
        }
    }

    /// Adds the records of slots. They are ignored if they make no sense.
    mutating func add(_ slots: SlotContents) {
        self.slots = slots
        var announced: UInt64 = 0
        for record in slots.records {
            switch record.kind {
            case .free, .transitions: break
            case .machine: machine = SlotReader(record.bytes)
            case .announced:
                var reader = SlotReader(record.bytes)
                var step: UInt64?
                reader.number("announced", &step)
                announced = step ?? 0
            case .app:
                let saved = SlotReader(record.bytes)
                if let id = saved.appID { apps[id, default: App()].core = saved }
            case .channel:
                if let (id, channel) = ChannelProgress.read(record.bytes) { apps[id, default: App()].channel = channel }
            case .resources:
                if let saved = SavedResources(record.bytes) { apps[saved.app, default: App()].resources = saved }
            }
        }
        unannounced = slots.records.filter { $0.kind == .transitions && $0.step > announced }
            .sorted { $0.step < $1.step }.flatMap { Announcement.read($0.bytes) }
    }
}

/// The resource values of an app: a slot has its id, the numbers of the record, and the instant of the launch.
nonisolated struct SavedResources {
    let app: AppID
    let record: ResourceRecord
    /// The instant of the launch whose processes have the values; nil if it is not known.
    let launched: Instant?

    init(app: AppID, record: ResourceRecord, launched: Instant?) {
        (self.app, self.record, self.launched) = (app, record, launched)
    }

    /// Reads a slot; nil if the bytes are none.
    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = SlotReader(bytes)
        let app = AppID.code(nil, with: &reader)
        let record = ResourceRecord {
            var number: UInt64?
            reader.number("", &number)
            return number
        }
        var launched: Instant?
        reader.instant("launched", &launched)
        guard let app, let record else { return nil }
        self.init(app: app, record: record, launched: launched)
    }

    func write(to slot: inout SlotWriter) {
        var (name, launched): (String?, Instant?) = (app.name, launched)
        slot.text("id", &name)
        record.forEachNumber { number in
            var number: UInt64? = number
            slot.number("", &number)
        }
        slot.instant("launched", &launched)
    }
}

extension SavedState {
    /// The format: a number that is raised by hand, and a hash of the tables, which `SavedTablesTests` compares. A daemon restores apps
    /// from its own format only, and ends those of another.
    static let format = "3.d72920bedbbb86ba"
    /// The largest file that is read, in bytes: far more than 10,000 apps need.
    nonisolated static let sizeLimit = 256 << 20

    /// Returns the first line of a state file, whose instants and pids are valid in one boot and its namespaces only.
    static func header(bootID: String, namespaces: String = Self.namespaces) -> [UInt8] {
        Array("\(prefix)boot=\(bootID) \(namespaces)\n".utf8)
    }

    private static let prefix = "lifed-state format=\(format) "

    /// Returns the line at the begin of the slots of a state file.
    static func slotsHeader(bootID: String, namespaces: String = Self.namespaces) -> [UInt8] {
        Array("lifed-slots format=\(format) boot=\(bootID) \(namespaces)\n".utf8)
    }

    static func slotsPath(_ path: String) -> String { path + ".slots" }

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
    /// - Parameter bootID: The identifier of this boot.
    /// - Returns: The state; nil if there is none, or one of an earlier boot.
    /// - Throws: A ``DaemonError``, which is transient if a later attempt may succeed.
    static func read(_ path: String, bootID: String) throws(DaemonError) -> SavedState? {
        let bytes: [UInt8]?
        do throws(Errno) {
            bytes = try ReservedFile.contents(of: path, limit: sizeLimit)
        } catch {
            if error.rawValue == EPERM {
                throw DaemonError(.state, "cannot use \(path): other users may read or write it")
            }
            throw DaemonError(.state, "cannot read \(path)", errno: error)
        }
        guard let bytes else { return nil }
        return try SavedState(bytes, path: path, bootID: bootID)
    }

    /// Reads the launches of a state file whose slots or format cannot be used. Every format writes launches alike.
    ///
    /// - Returns: The state; nil if the header does not name this boot and these namespaces: the numbers of processes mean
    ///   nothing in others.
    static func readRest(_ path: String, bootID: String) -> SavedState? {
        guard let bytes = (try? ReservedFile.contents(of: path, limit: sizeLimit)) ?? nil,
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = bytes[..<end].split(separator: UInt8(ascii: " "))
        let expected = Array("boot=\(bootID) \(namespaces)".utf8).split(separator: UInt8(ascii: " "))
        guard expected.allSatisfy(words.contains) else { return nil }
        return SavedState(lines: StateLine.completeLines(of: bytes[(end + 1)...]))
    }

    private init?(_ bytes: [UInt8], path: String, bootID: String) throws(DaemonError) {
        guard bytes.starts(with: "lifed-state format=".utf8), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw DaemonError(.state, "cannot use \(path): it is not a state file of lifed")
        }
        let header = String(decoding: bytes[...end], as: UTF8.self)
        guard header.hasPrefix(Self.prefix) else {
            throw DaemonError(.state, "cannot use \(path): it was written by a version of lifed with another format")
        }
        guard header.hasPrefix("\(Self.prefix)boot=\(bootID) ") else { return nil }
        guard header == String(decoding: Self.header(bootID: bootID), as: UTF8.self) else {
            throw DaemonError(
                .state,
                "cannot use \(path): it was written in another namespace of processes or of time")
        }
        self.init(lines: StateLine.completeLines(of: bytes[(end + 1)...]))
        let slotsPath = Self.slotsPath(path)
        let slots: SlotContents?
        do throws(Errno) {
            slots = try SlotContents(path: slotsPath, header: Self.slotsHeader(bootID: bootID))
        } catch {
            throw DaemonError(.state, "cannot read \(slotsPath)", errno: error)
        }
        guard let slots else {
            throw DaemonError(.state, "cannot use \(slotsPath): it is missing, or belongs to another state file")
        }
        add(slots)
    }
}

extension BootID {
    /// Returns the identifier of this boot, which the daemon reads once.
    ///
    /// - Throws: A transient ``DaemonError``. With no identifier a saved state would count as one of another boot.
    nonisolated static func ofThisBoot() throws(DaemonError) -> String {
        do throws(Errno) {
            return try read()
        } catch {
            throw DaemonError(.start, "cannot read \(path)", errno: error)
        }
    }
}

extension Descriptor {
    /// Reads to the end of the file; nil on failure, or beyond the limit.
    nonisolated borrowing func readAll(limit: Int) -> [UInt8]? {
        var status = stat()
        let size = unsafe fstat(rawValue, &status) == 0 ? Int(status.st_size) : 0
        var bytes = readChunk(of: min(max(size, 0), limit) + 1)
        while let read = bytes, !read.isEmpty {
            guard read.count <= limit else {
                errno = EFBIG
                return nil
            }
            guard let more = readChunk(of: 1 << 16) else { return nil }
            if more.isEmpty { return read }
            bytes = read + more
        }
        return bytes
    }

    /// Reads up to so many bytes: none at the end of the file, nil on failure.
    private nonisolated borrowing func readChunk(of size: Int) -> [UInt8]? {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            repeat {
                count = unsafe Glibc.read(rawValue, buffer.baseAddress, size)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        return count < 0 ? nil : bytes
    }
}
