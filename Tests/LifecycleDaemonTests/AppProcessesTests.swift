import LifecycleCore
import Processes
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct AppProcessesTests {
    private static let clock = AppIndex(value: 0)

    enum Operation: CaseIterable { case stop, resume, terminate, kill, release }

    /// The core waits for an outcome of each operation.
    @Test(arguments: Operation.allCases) func operationOnAnAppWithoutProcessesIsAnswered(operation: Operation) throws {
        let core = try CoreDriver.knowing(AppID("clock"), in: Events())
        let processes = try AppProcesses(core: core, table: ProcessTable(), log: RecordingJournal())
        switch operation {
        case .stop: processes.stop(Self.clock)
        case .resume: processes.resume(Self.clock)
        case .terminate: processes.terminate(Self.clock, .terminate)
        case .kill: processes.kill(Self.clock)
        case .release: processes.release(Self.clock)
        }
        guard case .outcome(Self.clock, .gone)? = core.inbox.first, core.inbox.count == 1 else {
            Issue.record("\(core.inbox)")
            return
        }
    }
}
