import CLinux
import Glibc

/// A file on a device, as `/proc/locks` names it.
public struct LockedFile: Hashable, Sendable {
    /// The device and the inode: `fe:00:16581292`.
    public let name: String
}

/// A process that waits for a lock, and the lock's holder: proc_locks(5).
public struct LockWait: Hashable, Sendable {
    /// The file that is locked.
    public let file: LockedFile
    /// The holder; nil for a lock of an open file description (`F_OFD_SETLK`), which belongs to no process.
    public let holder: ProcessID?
    /// The process that waits.
    public let waiter: ProcessID

    /// The number of bytes of the list that are read.
    private static let limit = 1 << 20

    /// Returns the waits of this moment. The kernel lists every lock of the machine, and may wait 10 ms for that
    /// (synchronize_rcu(), Linux 6.18).
    public static func all() -> [LockWait] {
        guard let text = try? ProcFile.read("/proc/locks", limit: limit) else { return [] }
        return parse(text)
    }

    /// Reads the lines: `7: FLOCK  ADVISORY  WRITE 13324 fe:00:16220209 0 EOF` for a lock, and below it, for each process that waits
    /// for it, the same with `->` after the number.
    public static func parse(_ text: [UInt8]) -> [LockWait] {
        // Mostly no process waits.
        guard text.contains(UInt8(ascii: ">")) else { return [] }
        var waits: [LockWait] = []
        var held: Substring?
        var holder: ProcessID?
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count >= 6 else { continue }
            guard words[1] == "->" else {
                (held, holder) = (words[0], ProcessID(words[4]))
                continue
            }
            // The first line of a list that was cut off may be missing.
            guard words.count >= 7, words[0] == held, let waiter = ProcessID(words[5]) else { continue }
            waits.append(
                LockWait(
                    file: LockedFile(name: String(words[6])), holder: holder.flatMap { $0 > 0 ? $0 : nil },
                    waiter: waiter))
        }
        return waits
    }
}

extension OpenFile {
    /// The length of the longest line of a `fdinfo` file.
    private static let longestLine = 256

    /// The files that the process holds locks on through this open file: the lines `lock:` of proc_pid_fdinfo(5).
    ///
    /// An open file may be locked by another process that has it from a common parent.
    public var locks: [LockedFile] {
        guard target.utf8.first == UInt8(ascii: "/") else { return [] }
        let path = ProcPath(process, "fdinfo/", number)
        if let found = try? ProcFile.readWhole(path, { Self.locks(in: $0) }) { return found }
        // There may be many.
        let text = (try? ProcFile.read(path, limit: 1 << 14, longestRecord: Self.longestLine)) ?? []
        return Self.locks(in: text.span)
    }

    private static func locks(in text: Span<UInt8>) -> [LockedFile] {
        var found: [LockedFile] = []
        text.forEachLine { line in
            guard line.starts(with: "lock:") else { return }
            // lock:	1: FLOCK  ADVISORY  WRITE 13324 fe:00:16220209 0 EOF
            let text = unsafe line.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            let words = text.split { $0 == " " || $0 == "\t" }
            if words.count >= 7 { found.append(LockedFile(name: String(words[6]))) }
        }
        return found
    }
}

/// The file systems that this process has mounted: proc_pid_mountinfo(5).
///
/// A look at a file of an app can wait for a program of the app: a file system of fuse(4) answers, or does not, by a process of the
/// user, and that one may be suspended.
public struct Mounts: Sendable {
    private var kindsByDevice: [FileDevice: String] = [:]
    private var kindsByNumber: [UInt64: String] = [:]
    private var root: FileDevice?

    private static let limit = 1 << 20

    /// The mounts of this moment.
    public init() { self.init(parsing: (try? ProcFile.read("/proc/self/mountinfo", limit: Self.limit)) ?? []) }

    /// Reads the lines: `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
    init(parsing text: [UInt8]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard let dash = words.firstIndex(of: "-"), dash >= 6, words.count > dash + 1 else { continue }
            let numbers = words[2].split(separator: ":")
            guard let number = UInt64(words[0]), numbers.count == 2, let major = UInt32(numbers[0]),
                let minor = UInt32(numbers[1])
            else { continue }
            let kind = String(words[dash + 1])
            let device = FileDevice(major: major, minor: minor)
            kindsByNumber[number] = kind
            kindsByDevice[device] = kind
            if words[4] == "/" { root = device }
        }
    }

    /// Returns whether an access to the file waits for no other process and no other machine.
    public func areLocal(for file: LockedFile) -> Bool {
        file.device.flatMap { kindsByDevice[$0] }.map(Self.localKinds.contains) ?? false
    }

    /// Returns whether only root can have mounted the file system of a file. Without that, its owner and mode mean nothing. The root
    /// of a container without root can be of FUSE.
    func areOfRoot(for file: linux_file) -> Bool {
        let device = FileDevice(major: file.device_major, minor: file.device_minor)
        // The device of a file differs from that of its mount on btrfs, and the mount's number in another namespace.
        guard let kind = kindsByNumber[file.mount] ?? kindsByDevice[device] else { return false }
        return device == root || !kind.hasPrefix("fuse")
    }

    private static let localKinds: Set = [
        "bcachefs", "btrfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "iso9660", "jffs2", "jfs", "nilfs2",
        "ntfs3", "overlay", "ramfs", "reiserfs", "rootfs", "squashfs", "tmpfs", "ubifs", "udf", "vfat", "xfs", "zfs",
    ]
}

/// The device of a file system.
struct FileDevice: Hashable, Sendable {
    let major: UInt32
    let minor: UInt32
}

extension LockedFile {
    /// The device: the numbers of `/proc/locks` are hexadecimal.
    var device: FileDevice? {
        let words = name.split(separator: ":")
        guard words.count == 3, let major = UInt32(words[0], radix: 16), let minor = UInt32(words[1], radix: 16) else {
            return nil
        }
        return FileDevice(major: major, minor: minor)
    }
}
