import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct HelperTests {
    @Test func processThatHidesItsFileIsAHelperByItsName() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            let (tree, _) = try world.launch("hide-memory")
            if geteuid() == 0 { #expect(setuid(65534) == 0) }
            let process = try #require(ProcessStatus(of: tree.main.pid))
            #expect(RunningProcess.executable(of: process.pid) == nil)
            let helpers = HelperPrograms()
            helpers.names = ["ssh-agent"]
            #expect(helpers.include(process))
            helpers.names = ["gpg-agent"]
            #expect(!helpers.include(process))
            try world.end()
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be two users"))
    func processOfAnotherUserIsNoHelperByItsName() async {
        await #expect(processExitsWith: .success) {
            let world = try World()
            let (tree, _) = try world.launch("hide-memory")
            #expect(setuid(65533) == 0)
            let process = try #require(ProcessStatus(of: tree.main.pid))
            let helpers = HelperPrograms()
            helpers.names = ["ssh-agent"]
            #expect(!helpers.include(process))
        }
    }
}
