import CLinux

/// What the kernel says in `cgroup.events`, see its "Control Group v2" document.
struct CgroupEvents: Hashable, Sendable {
    /// Whether a process that has not ended is in the group or below it.
    var isPopulated = false
    /// Whether every process in the group is frozen or stopped, after it was asked for.
    var isFrozen = false

    init(parsing text: String) {
        for line in text.split(separator: "\n") {
            switch line {
            case "populated 1": isPopulated = true
            case "frozen 1": isFrozen = true
            default: break
            }
        }
    }
}

/// An open `cgroup.events`, which polls as exceptional (POLLPRI) from a change until it is read.
///
/// The kernel spaces its notices: one that follows another within some 16 ms comes late, what is read is always true.
struct CgroupEventFile: ~Copyable {
    let descriptor: Descriptor

    init(of group: Cgroup) throws(Errno) {
        descriptor = try Descriptor.open("\(group.path)/cgroup.events", O_RDONLY)
    }

    /// What holds now; nil when the group is gone.
    func read() -> CgroupEvents? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe pread(descriptor.rawValue, &bytes, bytes.count, 0)
        guard count >= 0 else { return nil }
        return CgroupEvents(parsing: String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
