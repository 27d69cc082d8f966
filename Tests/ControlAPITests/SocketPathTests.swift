import Glibc
import Testing

@testable import ControlAPI

@Suite struct SocketPathTests {
    private let user = ["XDG_RUNTIME_DIR": "/run/user/7"]

    @Test func theUsersDaemonComesFirst() {
        let paths = SocketPath.candidates(.automatic, environment: { user[$0] })
        #expect(paths == ["/run/user/7/lifed/control", "/run/lifed/control"])
    }

    @Test func theVariableDecidesWhenNothingElseIsSaid() {
        let environment = user.merging(["LIFED_SOCKET": "/s"]) { $1 }
        #expect(SocketPath.candidates(.automatic, environment: { environment[$0] }) == ["/s"])
        #expect(SocketPath.candidates(.system, environment: { environment[$0] }) == ["/run/lifed/control"])
        #expect(SocketPath.candidates(.user, environment: { environment[$0] }) == ["/run/user/7/lifed/control"])
        #expect(SocketPath.candidates(.path("/t"), environment: { environment[$0] }) == ["/t"])
    }

    @Test func onlyASocketThatWasNamedMayBeAnybodys() {
        #expect(SocketPath.trust(.automatic, environment: { user[$0] }) == .rootAndCaller)
        #expect(SocketPath.trust(.automatic, environment: { ["LIFED_SOCKET": ""][$0] }) == .rootAndCaller)
        #expect(SocketPath.trust(.automatic, environment: { ["LIFED_SOCKET": "/s"][$0] }) == .anyUser)
        #expect(SocketPath.trust(.path("/s"), environment: { _ in nil }) == .anyUser)
        for choice in [SocketPath.Choice.user, .system] {
            #expect(SocketPath.trust(choice, environment: { ["LIFED_SOCKET": "/s"][$0] }) == .rootAndCaller)
        }
    }

    @Test(arguments: [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "relative"], ["LIFED_SOCKET": ""]])
    func withoutARuntimeDirectoryThereIsNoUsersDaemon(_ environment: [String: String]) {
        #expect(SocketPath.candidates(.user, environment: { environment[$0] }) == [])
        #expect(SocketPath.candidates(.automatic, environment: { environment[$0] }) == ["/run/lifed/control"])
    }

    @Test func theSocketThatIsThereIsTheOneComplainedAbout() {
        func failure(_ paths: [String]) -> ControlClientError? {
            do throws(ControlClientError) {
                _ = try ControlClient.connect(toFirstOf: paths, timeout: .seconds(60))
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(["/nonexistent/a", "/nonexistent/b"]) == .absent(path: "/nonexistent/b"))
        // A name that is too long stands for every error other than that there is no daemon.
        let long = "/" + String(repeating: "x", count: 200)
        let unreachable = ControlClientError.unreachable(path: long, errno: ENAMETOOLONG)
        #expect(failure([long, "/nonexistent/b"]) == unreachable)
        #expect(failure(["/nonexistent/a", long]) == unreachable)
        #expect(failure([]) == .absent(path: ""))
    }
}
