import CLinux
import Glibc
import Testing

@testable import Processes

@Suite struct MountsTests {
    private static let table = Mounts(
        parsing: Array(
            """
            22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:13 - proc proc rw
            28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
            29 28 0:25 / /home rw - btrfs /dev/vdb rw
            30 28 0:44 / /home/user/far rw,nosuid - fuse.sshfs far:/ rw,user_id=1000,default_permissions
            31 28 0:45 / /srv rw - nfs4 server:/ rw
            32 28
            x 28 0:46 / /x rw - ext4 /dev/x rw
            33 28 0:99999999999 / /x rw - ext4 /dev/x rw
            """.utf8))

    @Test(arguments: [
        ("fe:00:17", true), ("00:19:17", true), ("00:2c:2", false), ("00:2d:2", false), ("00:2e:2", false),
        ("00:63:1", false), ("", false), ("fe:00", false), ("zz:00:1", false), ("-1:00:1", false),
    ])
    func lockedFileIsLocalIfItsFileSystemNeedsNoServer(name: String, isLocal: Bool) {
        #expect(Self.table.areLocal(for: LockedFile(name: name)) == isLocal)
    }

    private static func file(mount: UInt64, _ major: UInt32, _ minor: UInt32) -> linux_file {
        var file = linux_file()
        (file.mount, file.device_major, file.device_minor) = (mount, major, minor)
        return file
    }

    @Test func mountOfAUserIsNotOfRoot() {
        #expect(Self.table.areOfRoot(for: Self.file(mount: 28, 254, 0)))
        // A subvolume of btrfs has a device of its own.
        #expect(Self.table.areOfRoot(for: Self.file(mount: 29, 0, 77)))
        // The same file in the mount namespace of an app.
        #expect(Self.table.areOfRoot(for: Self.file(mount: 512, 254, 0)))
        #expect(Self.table.areOfRoot(for: Self.file(mount: 31, 0, 45)))
        #expect(!Self.table.areOfRoot(for: Self.file(mount: 30, 0, 44)))
        #expect(!Self.table.areOfRoot(for: Self.file(mount: 512, 0, 44)))
        #expect(!Self.table.areOfRoot(for: Self.file(mount: 512, 0, 88)))
    }

    @Test func rootOfAContainerWithoutRootIsOfRoot() {
        let mounts = Mounts(
            parsing: Array("1 0 0:50 / / rw - fuse.fuse-overlayfs f rw\n2 1 0:51 / /h rw - fuse.sshfs h rw".utf8))
        #expect(mounts.areOfRoot(for: Self.file(mount: 1, 0, 50)) && !mounts.areOfRoot(for: Self.file(mount: 2, 0, 51)))
    }

    @Test func rootDirectoryOfThisMachineIsOfRoot() {
        var file = linux_file()
        #expect(unsafe linux_stat_file(AT_FDCWD, "/", &file) == 0)
        #expect(Mounts().areOfRoot(for: file) && file.user == 0 && file.inode > 0)
    }
}
