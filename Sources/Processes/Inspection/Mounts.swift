import CLinux

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
    public init() { self.init(parsing: ProcFile.read("/proc/self/mountinfo", limit: Self.limit) ?? []) }

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
