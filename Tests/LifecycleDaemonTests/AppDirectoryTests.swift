import Glibc
import Testing

@testable import LifecycleDaemon

@Suite struct AppDirectoryTests {
    @Test func directoryComesBackAfterThatOfAnotherUserWasRemoved() throws {
        try withTemporaryDirectory { root in
            let path = root + "/app"
            _ = unsafe mkdir("\(path)~3001", 0o700)
            write([], to: "\(path)~3001/file")
            AppLauncher.exchangeDirectory(path, for: 3002)
            #expect(names(in: root) == ["app~3001"])
            AppLauncher.exchangeDirectory(path, for: 3001)
            #expect(names(in: root) == ["app"])
            #expect(names(in: path) == ["file"])
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory to another user"))
    func usersTakeTurnsWithoutLoss() throws {
        try withTemporaryDirectory { root in
            let path = root + "/app"
            for user in [3001, 3002, 3001, 3002] as [uid_t] {
                AppLauncher.exchangeDirectory(path, for: user)
                try PrivateDirectory.add(path, mode: 0o700, owner: (user, user))
                write([], to: "\(path)/file-\(user)")
                #expect(names(in: path) == ["file-\(user)"])
            }
            #expect(names(in: root) == ["app", "app~3001"])
        }
    }
}
