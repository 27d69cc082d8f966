import Glibc
import LifecycleCore
import Processes

/// The kind of a record.
nonisolated enum StateKind: String, CaseIterable, Sendable {
    // Of the daemon: one record each.
    /// The directory of the apps' control groups.
    case controlGroups = "place"
    /// The state of the core besides the apps.
    case machine
    case session
    /// The interruptions that end with their clients.
    case bound

    // Of an app: one record each.
    /// The state of the app in the core.
    case app
    /// The processes of its latest launch.
    case launch
    /// The progress of the conversation on its channel.
    case channel
    /// Its resource values, set and own.
    case resources
    /// What its command, its desktop entry or its manifest says.
    case definition
    /// The exit of an app that was forgotten, or the failure of its launch.
    case ended
    /// The exit of an app that is to be restored, in a file of its own beyond the next boot.
    case exit

    // Of the step.
    /// A transition of the app that is to be announced.
    case transition
    /// All transitions so far are announced.
    case announced

    /// The records of an app that are there as long as the core has one of it.
    static let ofApp: [StateKind] = [.app, .launch, .channel, .resources, .definition]

    var hasName: Bool {
        switch self {
        case .controlGroups, .machine, .session, .bound, .announced: false
        case .app, .launch, .channel, .resources, .definition, .ended, .exit, .transition: true
        }
    }
}

/// The name of a record: its kind, and the app that it is about.
nonisolated struct StateName: Hashable, Sendable {
    let kind: StateKind
    let app: AppID?

    init(_ kind: StateKind, _ app: AppID? = nil) { (self.kind, self.app) = (kind, app) }
}

/// A line of the state: a record with its name, `KIND [APP] name=value name=value`, or that there is none any more, `no KIND [APP]`.
nonisolated struct StateLine: Equatable {
    let name: StateName
    /// Nil for none any more.
    let record: SavedRecord?

    init(_ name: StateName, _ record: SavedRecord?) { (self.name, self.record) = (name, record) }

    /// The line as it is written.
    var bytes: [UInt8] {
        var bytes = Array((record == nil ? "no \(name.kind.rawValue)" : name.kind.rawValue).utf8)
        if let app = name.app { bytes += [UInt8(ascii: " ")] + SavedRecord.encoded(app.name.utf8) }
        if let record { bytes += record.bytes }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// The bytes of the line, or a few more.
    fileprivate var size: Int { (record?.bytes.count ?? 0) + (name.app?.name.utf8.count ?? 0) + 16 }

    /// Reads a line without its line feed; nil for one without meaning.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        func word() -> ArraySlice<UInt8> {
            let word = rest.prefix { $0 != UInt8(ascii: " ") }
            rest = rest[word.endIndex...]
            return word
        }
        func nextWord() -> ArraySlice<UInt8> {
            rest = rest.dropFirst()
            return word()
        }
        var kindWord = word()
        let isRemoval = kindWord.elementsEqual("no".utf8)
        if isRemoval { kindWord = nextWord() }
        guard let kind = StateKind(rawValue: String(decoding: kindWord, as: UTF8.self)) else { return nil }
        var app: AppID?
        if kind.hasName {
            let name = String(decoding: SavedRecord.decoded(nextWord()), as: UTF8.self)
            guard !name.isEmpty else { return nil }
            app = AppID(name)
        }
        self.init(StateName(kind, app), isRemoval ? nil : SavedRecord(encoded: rest))
    }

    /// Reads the lines that were written in full.
    static func read(_ bytes: ArraySlice<UInt8>) -> [StateLine] {
        let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.startIndex
        return bytes[..<end].split(separator: UInt8(ascii: "\n")).compactMap { StateLine($0) }
    }
}

/// What the next daemon needs to know: the last record of each name, and the transitions that are not announced.
nonisolated struct SavedState {
    private(set) var records: [StateName: SavedRecord] = [:]
    /// The oldest first.
    private(set) var unannounced: [StateLine] = []
    /// The bytes of all of it, or a few more.
    private(set) var size = 0

    subscript(kind: StateKind, app: AppID? = nil) -> SavedRecord? { records[StateName(kind, app)] }

    /// Returns the apps that have a record of the kind.
    func apps(with kind: StateKind) -> [AppID] {
        records.keys.compactMap { $0.kind == kind ? $0.app : nil }
    }

    /// The transitions that the previous daemon has not announced, the oldest first.
    var announcements: [Announcement] {
        unannounced.compactMap { line in
            line.name.app.flatMap { app in line.record.flatMap { Announcement(of: app, $0) } }
        }
    }

    /// Applies a line.
    ///
    /// - Returns: Whether it has changed something.
    mutating func apply(_ line: StateLine) -> Bool {
        switch line.name.kind {
        case .transition:
            unannounced.append(line)
            size += line.size
        case .announced:
            guard !unannounced.isEmpty else { return false }
            size -= unannounced.reduce(0) { $0 + $1.size }
            unannounced = []
        default:
            let old = records[line.name]
            guard old != line.record else { return false }
            records[line.name] = line.record
            if let old { size -= StateLine(line.name, old).size }
            if line.record != nil { size += line.size }
        }
        return true
    }

    /// All of it as lines.
    var lines: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for (name, record) in records { bytes += StateLine(name, record).bytes }
        for line in unannounced { bytes += line.bytes }
        return bytes
    }
}

// MARK: - Steps

/// The form of the log: a header, then a frame for each step, `frame SIZE`, that many bytes of lines, and `end SIZE`.
///
/// A daemon that was killed may have cut off the last frame; zeros follow. A step counts as a whole or not at all.
nonisolated enum StateFrames {
    static func frame(_ lines: [UInt8]) -> [UInt8] {
        Array("frame \(lines.count)\n".utf8) + lines + Array("end \(lines.count)\n".utf8)
    }

    /// Returns the lines of the frames that are whole.
    static func lines(in bytes: ArraySlice<UInt8>) -> [StateLine] {
        var lines: [StateLine] = []
        var rest = bytes
        while let body = popFrame(&rest) { lines += StateLine.read(body) }
        return lines
    }

    private static func popFrame(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.starts(with: "frame ".utf8), let feed = rest.firstIndex(of: UInt8(ascii: "\n")),
            let size = Int(String(decoding: rest[rest.startIndex + 6..<feed], as: UTF8.self)),
            (0...rest.endIndex - feed - 1).contains(size)
        else { return nil }
        let body = rest[(feed + 1)...].prefix(size)
        let end = Array("end \(size)\n".utf8)
        guard rest[body.endIndex...].starts(with: end) else { return nil }
        rest = rest[(body.endIndex + end.count)...]
        return body
    }
}

// MARK: - Reading

extension SavedState {
    /// The format: a number that is raised by hand, and a hash of the tables, which `SavedTablesTests` compares. A daemon restores apps
    /// from its own format only, and ends those of another.
    static let format = "4.9e81a1156a67db80"
    /// The largest file that is read, in bytes: far more than 10,000 apps need.
    nonisolated static let sizeLimit = 256 << 20

    private static let prefix = "lifed-state format=\(format) "

    /// Returns the first line of the log, whose instants and pids are valid in one boot and its namespaces only.
    static func header(bootID: String, namespaces: String = Self.namespaces) -> [UInt8] {
        Array("\(prefix)boot=\(bootID) \(namespaces)\n".utf8)
    }

    /// The namespaces of this process's pids and clock: see namespaces(7).
    static var namespaces: String { "\(namespace("pid")) \(namespace("time"))" }

    private static func namespace(_ kind: String) -> String {
        var text = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/self/ns/\(kind)", &text, text.count)
        return count > 0
            ? String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : "\(kind):[]"
    }

    /// Replays lines.
    init(_ lines: [StateLine]) {
        for line in lines { _ = apply(line) }
    }

    /// Reads the log of the previous daemon.
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
        guard bytes.starts(with: "lifed-state format=".utf8), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            throw DaemonError(.state, "cannot use \(path): it is not a state file of lifed")
        }
        let header = String(decoding: bytes[...end], as: UTF8.self)
        guard header.hasPrefix(prefix) else {
            throw DaemonError(.state, "cannot use \(path): it was written by a version of lifed with another format")
        }
        guard header.hasPrefix("\(prefix)boot=\(bootID) ") else { return nil }
        guard header == String(decoding: Self.header(bootID: bootID), as: UTF8.self) else {
            throw DaemonError(
                .state, "cannot use \(path): it was written in another namespace of processes or of time")
        }
        return SavedState(StateFrames.lines(in: bytes[(end + 1)...]))
    }

    /// Reads the launches of a log that cannot be used. Every format writes launches alike.
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
        return SavedState(StateLine.read(bytes[(end + 1)...]))
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
