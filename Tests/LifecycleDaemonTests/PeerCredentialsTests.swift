import ControlAPI
import Glibc
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct PeerCredentialsTests {
    @Test func kernelIdentifiesThePeer() throws {
        var ends: [Int32] = [-1, -1]
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(result == 0)
        defer { for end in ends { close(end) } }
        let peer = try #require(PeerCredentials(of: ends[0]))
        #expect(peer.process == getpid() && peer.user == geteuid() && peer.group == getegid())
        #expect(AccessPolicy(isSystem: true).right(of: peer) == .administrator)
    }

    @Test func peerProcessIsHeldAndLives() throws {
        var ends: [Int32] = [-1, -1]
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(result == 0)
        defer { for end in ends { close(end) } }
        let process = PeerProcess(of: ends[0], number: getpid())
        switch process {
        case .some(let process):
            let lives = process.lives
            #expect(lives)
        case .none: Issue.record("there is no descriptor for the peer")
        }
    }

    @Test(arguments: [
        ("Pid:\t5\nNSpid:\t5\n", true), ("Pid:\t5\nNSpid:\t5\t1\n", false), ("Pid:\t0\nNSpid:\t0\n", false),
        ("Pid:\t-1\nNSpid:\t-1\n", false), ("Pid:\t5\n", true), ("", false),
    ])
    func processIsInOwnNamespaceIfItHasOneNumber(information: String, expected: Bool) {
        #expect(PeerProcess.isInOwnNamespace(information: "pos:\t0\nflags:\t02000002\n" + information) == expected)
    }

    @Test func peerOfTheSameProcessIsInOwnNamespace() throws {
        var ends: [Int32] = [-1, -1]
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(result == 0)
        defer { for end in ends { close(end) } }
        switch PeerProcess(of: ends[0], number: getpid()) {
        case .some(let process):
            let isInOwnNamespace = process.isInOwnNamespace
            #expect(isInOwnNamespace)
        case .none: Issue.record("there is no descriptor for the peer")
        }
    }

    @Test func fileHasNoPeer() {
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        #expect(PeerCredentials(of: descriptor) == nil)
    }
}

@Suite struct AppAccessTests {
    @Test func appMayOnlyQueryAndActOnItself() {
        #expect(methods(.filtered) == [.list, .getStatus, .monitor, .history, .findApp])
        #expect(methods(.onItself) == [.describe, .explain, .background, .suspend, .terminate, .kill])
    }

    @Test func methodThatAffectsAllUsersIsForAdministrators() {
        #expect(methods(.administrators) == [.simulateMemoryPressure, .simulate, .reload, .reexecute])
    }

    private func methods(_ access: MethodAccess) -> Set<LifedMethod> {
        Set(LifedMethod.allCases.filter { $0.access == access })
    }

    @Test func scopeOfEverythingSeesAllApps() {
        #expect(ClientScope.everything.onlyApp == nil)
        #expect(ClientScope.app(AppID("clock")).onlyApp == AppID("clock"))
        #expect(ClientScope.member(1000).onlyApp == nil)
    }
}
