import CLinux

/// A group of the cgroup v2 hierarchy: a directory whose files are its attributes, see cgroups(7).
///
/// Nothing is held open, and the kernel does not rename groups: a group is gone when its directory is.
struct Cgroup: Hashable, Sendable {
    /// Where the hierarchy is mounted.
    let mountPoint: String
    /// The group's place in the hierarchy as `/proc/PID/cgroup` shows it, without the first slash; empty for the root.
    let name: String

    /// The limit of a walk: more groups than an app is allowed to make.
    private static let walkLimit = 1024

    var path: String { name.isEmpty ? mountPoint : "\(mountPoint)/\(name)" }

    var lastName: String {
        let start = name.utf8.lastIndex(of: UInt8(ascii: "/")).map { name.utf8.index(after: $0) } ?? name.startIndex
        return String(name[start...])
    }

    /// Nil for the root.
    var parent: Cgroup? {
        guard !name.isEmpty else { return nil }
        return Cgroup(mountPoint: mountPoint, name: name.split(separator: "/").dropLast().joined(separator: "/"))
    }

    func child(_ childName: String) -> Cgroup {
        Cgroup(mountPoint: mountPoint, name: name.isEmpty ? childName : "\(name)/\(childName)")
    }

    /// Returns whether a process in the group with this name is in this one or below it.
    func contains(groupNamed other: String) -> Bool {
        // By bytes: an app can give a group of its own a name that makes one character with the slash before it.
        name.isEmpty || other.utf8.elementsEqual(name.utf8) || other.utf8.starts(with: (name + "/").utf8)
    }
}

// MARK: - Making and removing

extension Cgroup {
    /// Makes the group below an existing one. A group that exists already is an error, EEXIST.
    func create() throws(Errno) {
        guard unsafe mkdir(path, 0o755) == 0 else { throw Errno.latest }
    }

    /// Removes the group and everything below it, as far as no process is in it.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    func remove() -> Bool {
        // Mostly there is nothing below it, which one call tells.
        if unsafe rmdir(path) == 0 || linux_errno() == ENOENT { return true }
        let below = withDescendants().dropFirst()
        guard !below.isEmpty else { return false }
        for group in below.reversed() { _ = unsafe rmdir(group.path) }
        return unsafe rmdir(path) == 0 || linux_errno() == ENOENT
    }

    /// Returns the groups directly below.
    func children(limit: Int = walkLimit) -> [Cgroup] {
        guard mayHaveChildren else { return [] }
        guard let stream = unsafe opendir(path) else {
            ProcFile.recordFailure(linux_errno())
            return []
        }
        defer { unsafe closedir(stream) }
        var found: [Cgroup] = []
        while found.count < limit {
            linux_clear_errno()
            guard let entry = unsafe readdir(stream) else {
                let error = linux_errno()
                if error != 0 { ProcFile.recordFailure(error) }
                break
            }
            guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { found.append(child(name)) }
        }
        return found
    }

    /// A directory of the kernel's has two links, and one more for each directory in it: asking for their number is a
    /// fraction of the work of listing it, and most apps make no groups of their own.
    private var mayHaveChildren: Bool {
        var status = stat()
        return unsafe stat(path, &status) != 0 || status.st_nlink != 2
    }

    /// Returns the group and all groups below it, parents first.
    func withDescendants() -> [Cgroup] {
        var found = [self]
        var next = 0
        while next < found.count, found.count < Self.walkLimit {
            found += found[next].children()
            next += 1
        }
        return found
    }
}

// MARK: - Attributes

extension Cgroup {
    func write(_ value: String, to attribute: String) throws(Errno) {
        let file = try Descriptor.open("\(path)/\(attribute)", O_WRONLY)
        let bytes = Array(value.utf8)
        guard unsafe CLinux.write(file.rawValue, bytes, bytes.count) == bytes.count else {
            throw Errno.latest
        }
    }

    func has(_ attribute: String) -> Bool {
        unsafe access("\(path)/\(attribute)", F_OK) == 0
    }

    /// The number of the directory, which no later group has; nil if the group is gone.
    var number: UInt? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? UInt(status.st_ino) : nil
    }

    /// The present state; nil if the group is gone.
    var events: CgroupEvents? {
        ProcFile.readWhole("\(path)/cgroup.events") { CgroupEvents(parsing: $0) }
    }

    /// A Boolean value that indicates whether `cgroup.freeze` asks for the freeze; `CgroupEvents` tells whether it is
    /// done.
    var isAskedToFreeze: Bool {
        ProcFile.read("\(path)/cgroup.freeze", limit: 2)?.first == UInt8(ascii: "1")
    }

    /// Returns the processes in the group and below it.
    ///
    /// Processes outside of our PID namespace show as 0 and are left out: they cannot be named.
    func processIDs() -> [ProcessID] {
        withDescendants().flatMap { $0.ownProcessIDs() }
    }

    /// Returns the processes in the group itself.
    func ownProcessIDs() -> [ProcessID] {
        // Far above what fits into the kernel's largest pid_max (4,194,304) in practice.
        let list = ProcFile.read("\(path)/cgroup.procs", limit: 4 << 20, longestRecord: 16) ?? []
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

    /// Returns whether the text of a `cgroup.procs` names this process once, and nothing else.
    static func isOnly(_ process: ProcessID, in text: Span<UInt8>) -> Bool {
        var position = 0
        return text.number(at: &position) == process && position + 1 >= text.count
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
        return unsafe linux_read_attribute(path, attribute, &value, 1) == 1 && value == UInt8(ascii: "1")
    }

    /// Sets an extended attribute of the group to 1. It lasts as long as the group.
    ///
    /// - Parameter attribute: The name, which begins with `user.` (Linux 5.7).
    func mark(_ attribute: String) throws(Errno) {
        let result = unsafe linux_set_attribute(path, attribute, CChar(UInt8(ascii: "1")))
        guard result == 0 else { throw Errno(rawValue: -result) }
    }

    /// Removes an extended attribute, if it is there.
    func removeMark(_ attribute: String) { _ = unsafe linux_remove_attribute(path, attribute) }
}

// MARK: - Finding

extension Cgroup {
    /// Returns the group that a process is in, by its place in the hierarchy; nil if the process or the hierarchy is
    /// not there.
    static func name(of pid: ProcessID) -> String? {
        guard let text = ProcFile.read("/proc/\(pid)/cgroup", limit: 1 << 16) else { return nil }
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
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        guard let line = lines.first(where: { $0.starts(with: "0::/".utf8) }) else { return nil }
        let names = line.dropFirst("0::/".utf8.count)
        let isOutside = names.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
        return isOutside ? nil : String(decoding: names, as: UTF8.self)
    }

    /// Returns a group by the path of its directory; nil if there is none, or the path leads through other directories.
    static func existing(at path: String) -> Cgroup? {
        guard let mountPoint = ofThisProcess()?.mountPoint, path.utf8.starts(with: (mountPoint + "/").utf8) else {
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
    static func ofThisProcess() -> Cgroup? {
        guard let name = name(of: getpid()), let mounts = ProcFile.read("/proc/self/mountinfo", limit: 1 << 20),
            let mountPoint = mountPoint(inMounts: String(decoding: mounts, as: UTF8.self))
        else { return nil }
        return Cgroup(mountPoint: mountPoint, name: name)
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
/// A read takes the notice, so only the event loop reads it; ``Cgroup/events`` tells the present state.
/// The kernel spaces its notices: a second one within some 16 ms comes late.
struct CgroupEventFile: ~Copyable {
    let descriptor: Descriptor

    init(of group: Cgroup) throws(Errno) {
        descriptor = try Descriptor.open("\(group.path)/cgroup.events", O_RDONLY)
    }

    /// Makes the descriptor wait for the next change.
    ///
    /// - Returns: False if the group is gone.
    func acknowledge() -> Bool {
        var byte: UInt8 = 0
        return unsafe pread(descriptor.rawValue, &byte, 1, 0) >= 0
    }
}
