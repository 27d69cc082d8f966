import CLinux
import Glibc

/// A group of the cgroup v2 hierarchy: a directory whose files are its attributes, see cgroups(7).
///
/// Nothing is held open, and the kernel does not rename groups: a group is gone when its directory is.
struct Cgroup: Hashable, Sendable {
    /// Where the hierarchy is mounted.
    let mountPoint: String
    /// The bytes of the group's name: an app can give a group of its own a name that is not UTF-8.
    private let nameBytes: [UInt8]

    /// The limit of a walk: more groups than an app is allowed to make.
    private static let walkLimit = 1024

    private init(mountPoint: String, nameBytes: [UInt8]) {
        self.mountPoint = mountPoint
        self.nameBytes = nameBytes
    }

    /// - Parameters:
    ///   - mountPoint: Where the hierarchy is mounted.
    ///   - name: The group's place in the hierarchy, without the first slash; empty for the root.
    init(mountPoint: String, name: String) { self.init(mountPoint: mountPoint, nameBytes: Array(name.utf8)) }

    /// The group's place in the hierarchy, without the first slash; empty for the root. Bytes that are not UTF-8 are
    /// replaced.
    var name: String { String(decoding: nameBytes, as: UTF8.self) }

    /// The path of the directory, for messages and the state file. Bytes that are not UTF-8 are replaced.
    var path: String { nameBytes.isEmpty ? mountPoint : "\(mountPoint)/\(name)" }

    /// The path of the directory, for the kernel.
    var directory: CgroupPath { CgroupPath(mountPoint, nameBytes) }

    /// Returns the path of a file of the group, for the kernel.
    func file(_ attribute: String) -> CgroupPath { CgroupPath(mountPoint, nameBytes, attribute) }

    var lastName: String {
        let start = nameBytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return String(decoding: nameBytes[start...], as: UTF8.self)
    }

    /// Nil for the root.
    var parent: Cgroup? {
        guard !nameBytes.isEmpty else { return nil }
        let end = nameBytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
        return Cgroup(mountPoint: mountPoint, nameBytes: Array(nameBytes[..<end]))
    }

    func child(_ childName: String) -> Cgroup { child(childName.utf8) }

    private func child(_ childName: some Sequence<UInt8>) -> Cgroup {
        let parent = nameBytes.isEmpty ? [] : nameBytes + [UInt8(ascii: "/")]
        return Cgroup(mountPoint: mountPoint, nameBytes: parent + childName)
    }

    /// Returns whether a process in the group with this name is in this one or below it.
    func contains(groupNamed other: String) -> Bool {
        // By bytes: an app can give a group of its own a name that makes one character with the slash before it.
        guard !nameBytes.isEmpty else { return true }
        let rest = other.utf8.dropFirst(nameBytes.count)
        return other.utf8.starts(with: nameBytes) && (rest.isEmpty || rest.first == UInt8(ascii: "/"))
    }
}

// MARK: - Making and removing

extension Cgroup {
    /// Makes the group below an existing one. A group that exists already is an error, EEXIST.
    func create() throws(Errno) {
        guard unsafe directory.withPath({ unsafe mkdir($0, 0o755) }) == 0 else { throw Errno.latest }
    }

    /// Removes the group and everything below it, as far as no process is in it.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    func remove() -> Bool {
        // Mostly there is nothing below it, which one call tells.
        if removeDirectory() == 0 || errno == ENOENT { return true }
        guard let below = try? withDescendants().dropFirst(), !below.isEmpty else { return false }
        for group in below.reversed() { _ = group.removeDirectory() }
        return removeDirectory() == 0 || errno == ENOENT
    }

    private func removeDirectory() -> Int32 { unsafe directory.withPath { unsafe rmdir($0) } }

    /// Returns the groups directly below.
    func children(limit: Int = walkLimit) throws(Errno) -> [Cgroup] {
        guard mayHaveChildren else { return [] }
        guard let stream = unsafe directory.withPath({ unsafe opendir($0) }) else {
            try ProcFile.throwUnlessGone(errno)
            return []
        }
        defer { unsafe closedir(stream) }
        var found: [Cgroup] = []
        while found.count < limit {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                let error = errno
                if error != 0 { try ProcFile.throwUnlessGone(error) }
                break
            }
            guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            if name != Array(".".utf8) && name != Array("..".utf8) { found.append(child(name)) }
        }
        return found
    }

    /// A directory of the kernel's has two links, and one more for each directory in it: asking for their number is a
    /// fraction of the work of listing it, and most apps make no groups of their own.
    private var mayHaveChildren: Bool {
        var status = stat()
        return unsafe directory.withPath { unsafe stat($0, &status) } != 0 || status.st_nlink != 2
    }

    /// Returns the group and all groups below it, parents first.
    func withDescendants() throws(Errno) -> [Cgroup] {
        var found = [self]
        var next = 0
        while next < found.count, found.count < Self.walkLimit {
            found += try found[next].children()
            next += 1
        }
        return found
    }
}

// MARK: - Attributes

extension Cgroup {
    func write(_ value: String, to attribute: String) throws(Errno) {
        let file = try Descriptor.open(file(attribute), O_WRONLY)
        let bytes = Array(value.utf8)
        guard unsafe Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count else {
            throw Errno.latest
        }
    }

    func has(_ attribute: String) -> Bool {
        unsafe file(attribute).withPath { unsafe access($0, F_OK) } == 0
    }

    /// The number of the directory, which no later group has; nil if the group is gone.
    var number: UInt? {
        var status = stat()
        return unsafe directory.withPath { unsafe stat($0, &status) } == 0 ? UInt(status.st_ino) : nil
    }

    /// Reads the present state; nil if the group is gone.
    func readEvents() throws(Errno) -> CgroupEvents? {
        try ProcFile.readWhole(file("cgroup.events")) { CgroupEvents(parsing: $0) }
    }

    /// A Boolean value that indicates whether `cgroup.freeze` asks for the freeze; `CgroupEvents` tells whether it is
    /// done.
    var isAskedToFreeze: Bool {
        (try? ProcFile.read(file("cgroup.freeze"), limit: 2))?.first == UInt8(ascii: "1")
    }

    /// Returns the processes in the group and below it.
    ///
    /// Processes outside of our PID namespace show as 0 and are left out: they cannot be named.
    func processIDs() throws(Errno) -> [ProcessID] {
        var found: [ProcessID] = []
        for group in try withDescendants() { found += try group.ownProcessIDs() }
        return found
    }

    /// Returns the processes in the group itself.
    func ownProcessIDs() throws(Errno) -> [ProcessID] {
        // Far above what fits into the kernel's largest pid_max (4,194,304) in practice.
        let list = try ProcFile.read(file("cgroup.procs"), limit: 4 << 20, longestRecord: 16) ?? []
        return Self.processIDs(in: list.span)
    }

    /// Returns the processes in the text of a `cgroup.procs`.
    static func processIDs(in text: Span<UInt8>) -> [ProcessID] {
        var found: [ProcessID] = []
        var position = 0
        while position < text.count, let id: ProcessID = text.number(at: &position) {
            if id > 0 { found.append(id) }
            position += 1
        }
        return found
    }

    /// A Boolean value that indicates whether systemd has handed the group over (`Delegate=yes`).
    ///
    /// The system's manager says so in an attribute that only root can set, and newer versions in another one too.
    var isDelegated: Bool {
        ["trusted.delegate", "user.delegate"].contains(where: hasMark)
    }

    /// Returns whether an extended attribute of the group has the value 1.
    func hasMark(_ attribute: String) -> Bool {
        var value: UInt8 = 0
        let length = unsafe directory.withPath { unsafe linux_read_attribute($0, attribute, &value, 1) }
        return length == 1 && value == UInt8(ascii: "1")
    }

    /// Sets an extended attribute of the group to 1. It lasts as long as the group.
    ///
    /// - Parameter attribute: The name, which begins with `user.` (Linux 5.7).
    func mark(_ attribute: String) throws(Errno) {
        let result = unsafe directory.withPath { unsafe linux_set_attribute($0, attribute, CChar(UInt8(ascii: "1"))) }
        guard result == 0 else { throw Errno(rawValue: -result) }
    }

    /// Removes an extended attribute, if it is there.
    func removeMark(_ attribute: String) {
        _ = unsafe directory.withPath { unsafe linux_remove_attribute($0, attribute) }
    }
}

// MARK: - Finding

extension Cgroup {
    /// Returns the group that a process is in, by its place in the hierarchy; nil if the process or the hierarchy is
    /// not there.
    static func name(of pid: ProcessID) throws(Errno) -> String? {
        guard let text = try ProcFile.read(ProcPath(pid, "cgroup"), limit: 1 << 16) else { return nil }
        return name(inList: String(decoding: text, as: UTF8.self))
    }

    /// Returns the group in the text of a `/proc/PID/cgroup`, unless it has been removed.
    static func name(inList text: String) -> String? {
        // The kernel appends this to the name of a group that has been removed.
        place(inList: text).flatMap { $0.utf8.reversed().starts(with: " (deleted)".utf8.reversed()) ? nil : $0 }
    }

    /// Returns the same, of a group that may have been removed, or of which an app wants it to be believed: nothing
    /// keeps it from giving a group of its own such a name. A group outside of our cgroup namespace has no place here.
    static func place(inList text: String) -> String? {
        // By bytes: a name may begin with what makes one character with the slash before it.
        var names: String?
        text.utf8.span.forEachLine { line in
            guard names == nil, line.starts(with: "0::/") else { return }
            let line = line.extracting(droppingFirst: "0::/".utf8.count)
            names = unsafe line.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        }
        var isOutside = false
        names?.utf8.span.forEachPart(before: UInt8(ascii: "/")) { if $0.isEqual(to: "..") { isOutside = true } }
        return isOutside ? nil : names
    }

    /// Returns a group by the path of its directory; nil if there is none, or the path leads through other directories.
    static func existing(at path: String) throws(Errno) -> Cgroup? {
        guard let mountPoint = try ofThisProcess()?.mountPoint, path.utf8.starts(with: (mountPoint + "/").utf8) else {
            return nil
        }
        let names = path.utf8.dropFirst(mountPoint.utf8.count + 1)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard names.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
        let group = Cgroup(mountPoint: mountPoint, name: names.joined(separator: "/"))
        return group.has("cgroup.events") ? group : nil
    }

    /// Returns the group of this process, where the hierarchy is mounted.
    static func ofThisProcess() throws(Errno) -> Cgroup? {
        guard let name = try name(of: getpid()), let mounts = try ProcFile.read("/proc/self/mountinfo", limit: 1 << 20),
            let mountPoint = mountPoint(inMounts: String(decoding: mounts, as: UTF8.self))
        else { return nil }
        return Cgroup(mountPoint: mountPoint, name: name)
    }

    /// The group that a process is in; nil if the process or the hierarchy is not there.
    init?(ofProcess pid: ProcessID) throws(Errno) {
        guard let name = try Self.name(of: pid), let own = try Self.ofThisProcess() else { return nil }
        self.init(mountPoint: own.mountPoint, name: name)
    }

    /// Returns the mount point of the whole hierarchy from the text of proc_pid_mountinfo(5): `/sys/fs/cgroup`, or a
    /// place of its own beside the hierarchies of version 1.
    static func mountPoint(inMounts text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 1 else { continue }
            // A backslash begins an escape of a character that no usual mount point has.
            if fields[dash + 1] == "cgroup2", fields[3] == "/", !fields[4].contains("\\") { return String(fields[4]) }
        }
        return nil
    }
}

/// The path of a control group or of one of its files.
struct CgroupPath: FilePath {
    /// The bytes, with a zero at the end.
    private let bytes: [UInt8]

    fileprivate init(_ mountPoint: String, _ name: [UInt8], _ attribute: String? = nil) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(mountPoint.utf8.count + name.count + (attribute?.utf8.count ?? 0) + 3)
        bytes += mountPoint.utf8
        if !name.isEmpty { bytes.append(UInt8(ascii: "/")) }
        bytes += name
        if let attribute {
            bytes.append(UInt8(ascii: "/"))
            bytes += attribute.utf8
        }
        bytes.append(0)
        self.bytes = bytes
    }

    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { preconditionFailure("a path has a zero at the end") }
            return unsafe start.withMemoryRebound(to: CChar.self, capacity: bytes.count) { unsafe body($0) }
        }
    }
}

/// The state of a group in `cgroup.events`: see the kernel's document "Control Group v2".
struct CgroupEvents: Hashable, Sendable {
    /// A Boolean value that indicates whether a process that has not ended is in the group or below it.
    var isPopulated = false
    /// A Boolean value that indicates whether every process in the group is frozen or stopped, after it was asked for.
    var isFrozen = false

    init(parsing text: Span<UInt8>) {
        text.forEachLine { line in
            if line.isEqual(to: "populated 1") { isPopulated = true }
            if line.isEqual(to: "frozen 1") { isFrozen = true }
        }
    }
}

/// An open `cgroup.events`, which polls as exceptional (POLLPRI) from a change until it is read.
///
/// A read takes the notice, so only the event loop reads it; ``Cgroup/readEvents()`` tells the present state.
/// The kernel spaces its notices: a second one within some 16 ms comes late.
struct CgroupEventFile: ~Copyable {
    let descriptor: Descriptor

    init(of group: Cgroup) throws(Errno) {
        descriptor = try Descriptor.open(group.file("cgroup.events"), O_RDONLY)
    }

    /// Makes the descriptor wait for the next change.
    ///
    /// - Returns: False if the group is gone.
    func acknowledge() -> Bool {
        var byte: UInt8 = 0
        return unsafe pread(descriptor.rawValue, &byte, 1, 0) >= 0
    }
}
