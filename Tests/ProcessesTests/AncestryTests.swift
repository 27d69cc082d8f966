import Glibc
import Processes
import Testing

@Suite struct AncestryTests {
    @Test func `it ends at this process, which is not in it`() throws {
        let own = try #require(Ancestry(of: getpid()))
        #expect(own.processes.isEmpty && own.reachesThisProcess)
    }

    @Test func `a parent's parents do not go through this process`() throws {
        let parent = try #require(Ancestry(of: getppid()))
        #expect(!parent.reachesThisProcess)
        #expect(parent.processes.first == getppid() || getppid() == 1)
    }

    @Test func `init has none, and a number that is nobody's cannot be told`() {
        #expect(Ancestry(of: 1)?.processes == [])
        #expect(Ancestry(of: 1)?.reachesThisProcess == false)
        #expect(Ancestry(of: .max) == nil)
    }
}
