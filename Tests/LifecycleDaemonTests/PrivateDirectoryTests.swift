import Glibc
import Testing

@testable import LifecycleDaemon

@Suite struct PrivateDirectoryTests {
    @Test func directoryAndItsParentsAreMadeWithTheMode() throws {
        try withTemporaryDirectory { root in
            try PrivateDirectory.make(root + "/a/b/c", mode: 0o700)
            #expect(mode(of: root + "/a/b/c") == 0o700)
        }
    }

    @Test func linkOrFileInItsPlaceIsRefusedAndNamed() throws {
        try withTemporaryDirectory { root in
            _ = unsafe symlink("/tmp", root + "/link")
            let descriptor = unsafe creat(root + "/file", 0o600)
            close(descriptor)
            for name in ["link", "file"] {
                let error = #expect(throws: DaemonError.self) {
                    try PrivateDirectory.make("\(root)/\(name)", mode: 0o700)
                }
                #expect(error?.description.contains("\(root)/\(name)") == true)
            }
            #expect(mode(of: "/tmp") != 0o700)
        }
    }

    @Test func existingDirectoryIsUnchangedOrRefused() throws {
        try withTemporaryDirectory { root in
            for (mode, isFine) in [(0o750, true), (0o755, true), (0o777, false), (0o1777, false), (0o770, false)] {
                _ = unsafe chmod(root, mode_t(mode))
                let result = Result { try PrivateDirectory.make(root, mode: 0o700) }
                #expect(((try? result.get()) != nil) == isFine)
                #expect(self.mode(of: root) == mode_t(mode))
            }
        }
    }

    @Test func parentThatAnotherUserMayReplaceIsRefused() throws {
        try withTemporaryDirectory { root in
            for (mode, isFine) in [(0o777, false), (0o1777, true), (0o775, false), (0o1775, true), (0o755, true)] {
                _ = unsafe chmod(root, mode_t(mode))
                for name in ["own", "\u{301}own"] {
                    let result = Result { try PrivateDirectory.make("\(root)/\(name)-\(mode)/own", mode: 0o700) }
                    #expect(((try? result.get()) != nil) == isFine)
                }
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can prepare what is another's"))
    func parentOfAnotherUserIsRefusedAndNamed() throws {
        try withTemporaryDirectory { root in
            _ = unsafe mkdir(root + "/theirs", 0o755)
            _ = unsafe chown(root + "/theirs", 12345, 12345)
            _ = unsafe mkdir(root + "/ours", 0o755)
            _ = unsafe symlink("ours", root + "/link")
            try PrivateDirectory.make(root + "/link/a", mode: 0o700)
            _ = unsafe lchown(root + "/link", 12345, 12345)
            for name in ["theirs", "link"] {
                let error = #expect(throws: DaemonError.self) {
                    try PrivateDirectory.make("\(root)/\(name)/b", mode: 0o700)
                }
                #expect(error?.description.contains("\(root)/\(name): it belongs to user 12345") == true)
            }
        }
    }

    @Test func directoryOfAnotherUserIsNeverHandedOver() throws {
        try withTemporaryDirectory { root in
            let error = #expect(throws: DaemonError.self) {
                try PrivateDirectory.make(root, mode: 0o700, owner: (geteuid() + 1, getegid()))
            }
            #expect(error?.description.contains("belongs to user \(geteuid())") == true)
        }
    }

    @Test func unfinishedDirectoryIsRemovedAndCanBeMadeLater() async {
        await #expect(processExitsWith: .success) {
            try await MainActor.run {
                try withTemporaryDirectory { root in
                    var limit = rlimit()
                    _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
                    let path = root + "/own"
                    let error = #expect(throws: DaemonError.self) { try PrivateDirectory.add(path, mode: 0o700) }
                    #expect(error?.description.contains("cannot open \(path)") == true)
                    #expect(unsafe access(path, F_OK) != 0)
                    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    try PrivateDirectory.add(path, mode: 0o700)
                }
            }
        }
    }

    private func mode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}
