import Glibc
import Testing

@testable import lifectl

/// Programs that lifectl runs for their output.
@Suite struct ChildProcessTests {
    @Test func programThatIsNotReadToItsEndEndsAndIsReaped() throws {
        var child: ChildProcess? = try ChildProcess(["sh", "-c", "echo $$; exec sleep infinity"])
        let line = try #require(child?.nextLine())
        let pid = try #require(pid_t(String(decoding: line, as: UTF8.self)))
        #expect(kill(pid, 0) == 0)
        child = nil
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }
}
