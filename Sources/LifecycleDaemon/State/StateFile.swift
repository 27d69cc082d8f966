import CLinux
import Glibc
import LifecycleCore
import Processes

/// The file in the runtime directory from which a successor of the daemon restores its state.
///
/// Each change is one write(2) at the end; a reader ignores a cut last line and the zeros behind. If the file is full, the whole state
/// goes to a spare file, with which it exchanges the name. Both are in memory, with space reserved against a full file system.
final class StateFile {
    let path: String
    /// The bytes that are reserved beyond twice the size of the state.
    private static let slack = 1 << 17

    private let header: [UInt8]
    /// The largest file that a successor reads, in bytes.
    private let sizeLimit: Int
    private var current: ReservedFile?
    private var spare: ReservedFile?
    private var size = 0

    init(path: String, header: [UInt8], sizeLimit: Int = SavedState.sizeLimit) {
        self.path = path
        self.header = header
        self.sizeLimit = sizeLimit
    }

    private var sparePath: String { path + ".new" }

    /// A Boolean value that indicates whether both files have space for more apps and for the growth of the present ones.
    var hasRoom: Bool {
        min(current?.capacity ?? 0, spare?.capacity ?? 0) >= Self.leastCapacity(for: size)
    }

    /// The size from which no more apps are launched, in bytes: the present ones may need as much again.
    var launchLimit: Int { sizeLimit / 2 }
    /// A Boolean value that indicates whether the state is larger than that.
    var isLarge: Bool { size > launchLimit }

    private static func leastCapacity(for size: Int) -> Int { size + size / 2 + slack / 4 }

    /// Appends lines.
    ///
    /// - Returns: Whether they were written. If not, the file must be replaced.
    func append(_ lines: [UInt8]) -> Bool {
        guard let current, size + lines.count <= current.capacity else { return false }
        do throws(Errno) {
            try current.write(lines, at: size)
        } catch {
            // A reader finds everything up to here, and nothing of these lines.
            current.truncate(to: size)
            self.current = nil
            return false
        }
        size += lines.count
        return true
    }

    /// Replaces the contents. If that fails, the old file stays.
    ///
    /// - Parameter add: Adds the lines.
    /// - Returns: The error; nil on success.
    func replace(_ add: (inout Contents) -> Void) -> Errno? {
        do throws(Errno) {
            let new: ReservedFile
            if let spare { new = spare } else { new = try ReservedFile(at: sparePath) }
            spare = new
            var contents = Contents(of: new, limit: sizeLimit)
            contents.add(header)
            add(&contents)
            let newSize = try contents.finish()
            reserve(new, for: newSize)
            spare = try exchange() ? current : nil
            current = new
            size = newSize
        } catch {
            return error
        }
        // The file is usable without a spare; see `hasRoom`.
        if spare == nil { spare = try? ReservedFile(at: sparePath) }
        if let spare { reserve(spare, for: size) }
        return nil
    }

    /// New contents of a file, which are written in parts: the whole has some 300 bytes for each app.
    struct Contents {
        private static let partSize = 1 << 15

        private let file: ReservedFile
        private let limit: Int
        /// The bytes after those that are written.
        private var part: [UInt8] = []
        private var writtenSize = 0
        private var error: Errno?

        fileprivate init(of file: ReservedFile, limit: Int) { (self.file, self.limit) = (file, limit) }

        mutating func add(_ lines: [UInt8]) {
            part += lines
            if part.count >= Self.partSize { write() }
        }

        private mutating func write() {
            if error == nil {
                do throws(Errno) {
                    guard writtenSize + part.count <= limit else { throw Errno(rawValue: EFBIG) }
                    try file.write(part, at: writtenSize)
                    writtenSize += part.count
                } catch {
                    self.error = error
                }
            }
            part.removeAll(keepingCapacity: true)
        }

        /// Writes what is left, and zeros behind it.
        ///
        /// - Returns: The size.
        /// - Throws: The first error of all that was added.
        fileprivate consuming func finish() throws(Errno) -> Int {
            write()
            if let error { throw error }
            try file.clear(from: writtenSize)
            return writtenSize
        }
    }

    /// Reserves the wanted space, or at least the space for further apps. A reader counts the space that is not used, too.
    private func reserve(_ file: ReservedFile, for size: Int) {
        if file.capacity > sizeLimit { file.truncate(to: sizeLimit) }
        if file.reserve(min(2 * size + Self.slack, sizeLimit)) != nil {
            _ = file.reserve(min(Self.leastCapacity(for: size), sizeLimit))
        }
    }

    /// Exchanges the names of the spare and the file.
    ///
    /// - Returns: Whether the old file is now the spare.
    private func exchange() throws(Errno) -> Bool {
        let error = unsafe -linux_exchange(sparePath, path)
        if error == 0 { return true }
        // There is no old file, or the file system cannot exchange names.
        guard [ENOENT, EINVAL, ENOSYS].contains(error) else { throw Errno(rawValue: error) }
        guard unsafe rename(sparePath, path) == 0 else { throw Errno(rawValue: errno) }
        return false
    }

    func remove() {
        current = nil
        spare = nil
        _ = unsafe unlink(path)
        _ = unsafe unlink(sparePath)
    }
}

/// The kind of a record in the state file.
nonisolated enum StateKind: String, CaseIterable, Sendable {
    /// The directory of the apps' control groups.
    case controlGroups = "place"
    case session
    /// The interruptions that end with their clients.
    case bound
    /// The processes of an app's latest launch.
    case launch
    /// The definition of an app without a manifest.
    case definition
    /// The exit of an app, beyond the next boot.
    case exit
    /// The exit of an app that was forgotten, or the failure of its launch.
    case ended
    /// The end of the records of an app.
    case forget
}

nonisolated extension SavedRecord {
    /// Makes a record of the fields that are not nil.
    init(_ fields: KeyValuePairs<StaticString, String?>) {
        self.init()
        for (name, value) in fields { add(name, value) }
    }
}

/// A line of the state file: a kind and a record, `kind name=value name=value`.
///
/// A line without a line feed was not written in full, and is ignored.
nonisolated enum StateLine {
    static func encode(_ kind: StateKind, _ record: SavedRecord) -> [UInt8] {
        var line: [UInt8] = []
        append(kind, record, to: &line)
        return line
    }

    static func append(_ kind: StateKind, _ record: SavedRecord, to lines: inout [UInt8]) {
        lines += kind.rawValue.utf8
        lines += record.bytes
        lines.append(UInt8(ascii: "\n"))
    }

    /// Splits bytes into the lines that were written in full.
    static func completeLines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let text = bytes.span
        var (lines, start): ([ArraySlice<UInt8>], Int) = ([], bytes.startIndex)
        for index in text.indices where text[index] == UInt8(ascii: "\n") {
            let end = bytes.startIndex + index
            lines.append(bytes[start..<end])
            start = end + 1
        }
        return lines
    }

    /// Decodes a line without its line feed; nil for an unknown kind.
    static func decode(_ line: ArraySlice<UInt8>) -> (StateKind, SavedRecord)? {
        let end = line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
        guard let kind = StateKind(rawValue: String(decoding: line[..<end], as: UTF8.self)) else { return nil }
        return (kind, SavedRecord(encoded: line[end...]))
    }
}
