import Glibc
import Testing

@testable import Processes

@Suite(.endsWithRunner) struct GateTests {
    @Test func nothingIsExecutedBeforeTheBeginning() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let output = try Pipe()
            let tree = try world.table.launch(world.request("idle", output: output))
            try world.wait("it waits") { Gate.isWaiting(tree.main.pid) }
            #expect(output.read().isEmpty)
            #expect(tree.execStatus() == .pending)
            tree.begin()
            tree.begin()
            try world.wait("ready") { output.read().contains("ready") }
            #expect(tree.execStatus() == .running)
            try world.end()
            tree.begin()
        }
    }

    @Test func droppedTreeHasExecutedNothing() async {
        await #expect(processExitsWith: .success) {
            let world = try ProcessWorld()
            let file = try TemporaryScript("")
            for _ in 0..<20 {
                let tree = try world.table.launch(Gate.writer(of: file))
                world.table.remove(tree.token)
            }
            try world.wait("all have ended") {
                world.reap()
                return ProcessWorld.childCount == 0
            }
            #expect(file.content.isEmpty)
        }
    }

    /// A descriptor of another child's gate that a child inherits would keep one or both waiting for ever.
    @Test func nothingIsExecutedAfterEndOfDaemon() async throws {
        let file = try TemporaryScript("")
        let path = file.path
        let previous = await #expect(
            processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) { [path = path as String] in
            let world = try ProcessWorld()
            var waiting: [ProcessTree] = []
            for _ in 0..<10 { waiting.append(try world.table.launch(Gate.writer(of: path))) }
            try world.wait("all wait") { waiting.allSatisfy { Gate.isWaiting($0.main.pid) } }
            // A stopped process keeps all that it has.
            kill(waiting[3].main.pid, SIGSTOP)
            kill(waiting[9].main.pid, SIGSTOP)
            try world.wait("two are stopped") {
                [3, 9].allSatisfy { (try? ProcessStatus(of: waiting[$0].main.pid))?.state == .stopped }
            }
            print(waiting.map { "\($0.main.pid):\($0.main.startTime)" }.joined(separator: " "))
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        let said = String(decoding: previous?.standardOutputContent ?? [], as: UTF8.self)
        let processes = said.split { $0 == " " || $0 == "\n" }.compactMap(Gate.process)
        #expect(processes.count == 10)
        let stopped = [processes[3], processes[9]]
        try waitUntil("all that are not stopped have ended") {
            try processes.allSatisfy { try stopped.contains($0) || $0.hasEnded() }
        }
        for process in stopped { _ = SignalDelivery.send(.resume, to: process) }
        try waitUntil("the others have ended") { try processes.allSatisfy { try $0.hasEnded() } }
        #expect(file.content.isEmpty)
    }
}

/// What the tests of the gate say of children.
private enum Gate {
    /// A program that leaves a trace as soon as it runs.
    static func writer(of path: String) -> SpawnRequest {
        SpawnRequest(program: "/bin/sh", arguments: ["-c", "echo ran >>\(path)"])
    }

    static func writer(of file: TemporaryScript) -> SpawnRequest { writer(of: file.path) }

    /// A Boolean value that indicates whether a child has come as far as it may: it still is the same program as this one, and waits for a byte.
    static func isWaiting(_ pid: ProcessID) -> Bool {
        let descriptors = try? ProcFile.processIDs(in: "/proc/\(pid)/fd")
        guard let status = try? ProcessStatus(of: pid), status.state == .sleeping else { return false }
        return status.session == pid && descriptors?.max() == 4
    }

    static func process(_ text: Substring) -> ProcessIdentity? {
        let numbers = text.split(separator: ":")
        guard numbers.count == 2, let pid = ProcessID(numbers[0]), let start = UInt64(numbers[1]) else { return nil }
        return ProcessIdentity(pid: pid, startTime: start)
    }
}
