import CLinux
import Glibc
import Testing

@testable import Processes

/// Children that have the memory of their parent until they execute a program.
@Suite(.endsWithRunner) struct StageTests {
    @Test func oneChildAtATimeHasTheMemoryOfItsParent() async {
        await #expect(processExitsWith: .success) {
            let first = try spawn(SpawnRequest(program: "/bin/true"))
            // A stopped child keeps nothing waiting.
            kill(first.identity.pid, SIGSTOP)
            var shares = [first.sharedMemory, try Stage.sharesMemory(SpawnRequest(program: "/bin/true"))]
            kill(first.identity.pid, SIGCONT)
            #expect(linux_open_gate(first.gate.descriptor.rawValue) == 0)
            #expect(Stage.status(of: first.execStatus) == .running)
            shares.append(try Stage.sharesMemory(SpawnRequest(program: "/bin/true")))
            #expect(shares == [Stage.isPossible, false, Stage.isPossible])
        }
    }

    /// Its errors of system calls are not those of its parent.
    @Test func childThatFailsLeavesTheVariablesOfItsParentAlone() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<20 {
                let child = try spawn(SpawnRequest(program: "/nowhere/program"))
                errno = EDOM
                let opened = linux_open_gate(child.gate.descriptor.rawValue)
                let status = Stage.status(of: child.execStatus)
                #expect(errno == EDOM && opened == 0)
                guard case .failed = status else {
                    Issue.record("\(status)")
                    return
                }
            }
        }
    }

    @Test func childThatEndsAtItsGateLeavesTheMemory() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<20 {
                let child = try spawn(SpawnRequest(program: "/bin/true"))
                let shares = child.sharedMemory
                #expect(shares == Stage.isPossible)
                kill(child.identity.pid, SIGKILL)
                Stage.waitForEnd(of: child.execStatus.descriptor.rawValue)
            }
        }
    }

    /// Another user must not reach the memory, and the OOM score of a child not be that of its parent.
    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func childWithOtherRightsHasMemoryOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            let own = SpawnRequest(program: "/bin/true")
            var ofOther = own, withOwnTmp = own
            ofOther.credentials = Credentials(userID: 65534, groupID: 65534, groups: [])
            withOwnTmp.hasPrivateTemporaryDirectory = true
            var shares = [try Stage.sharesMemory(ofOther), try Stage.sharesMemory(withOwnTmp)]
            let score = unsafe open("/proc/self/oom_score_adj", O_WRONLY)
            if unsafe write(score, "-1", 2) == 2 { shares.append(try Stage.sharesMemory(own)) }
            #expect(!shares.contains(true))
        }
    }
}

private enum Stage {
    /// Sanitizers would take the two for one process; other processors have no code for it.
    static var isPossible: Bool {
        #if arch(x86_64) || arch(arm64)
            return !isSanitized
        #else
            return false
        #endif
    }

    private static var isSanitized: Bool {
        unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }

    /// Starts a child that never executes anything, and returns whether it has the memory of this process.
    static func sharesMemory(_ request: SpawnRequest) throws -> Bool {
        let child = try spawn(request)
        return child.sharedMemory
    }

    /// Returns what the child says of its program, without a system call that fails.
    static func status(of pipe: borrowing ExecStatusPipe) -> ExecStatus {
        waitForEnd(of: pipe.descriptor.rawValue)
        return pipe.read()
    }

    static func waitForEnd(of pipe: Int32) {
        var source = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&source, 1, 10_000)
        #expect(count == 1)
    }
}
