import Glibc
import Testing

@testable import Processes

/// What a scenario lives in: a process of its own (an exit test), so that it can reap every child there is
/// while other tests run beside it.
final class ProcessWorld {
    let table: ProcessTable
    private(set) var events: [TreeEvent] = []
    /// Kept open: who writes later must not die of it.
    private var outputs: [Pipe] = []

    let base: Cgroup?
    /// The sockets of keepers, which the next world finds as well.
    let keepers: String

    /// - Parameter hasCgroups: Whether its trees get a cgroup each; then there must be a hierarchy to make them in.
    convenience init(hasCgroups: Bool = false) throws {
        let base = hasCgroups ? try #require(try Cgroup.ofThisProcess()).child("lifed-test-\(getpid())") : nil
        try base?.create()
        try self.init(base: base)
    }

    /// - Parameters:
    ///   - base: The cgroup that its trees get theirs in.
    ///   - keepers: The directory of a world before.
    init(base: Cgroup?, keepers: String = "/tmp/lifed-test-keepers-\(RunnerPipe.runner)-\(getpid())") throws {
        try Reaper.becomeSubreaper()
        self.base = base
        self.keepers = keepers
        table = ProcessTable(
            cgroups: try base.map { try CgroupSubtree(base: $0) },
            keepers: KeeperProgram(path: Self.program("lifed-keeper"), directory: keepers))
        // Some tests become another user.
        _ = unsafe (mkdir(keepers, 0o777), chmod(keepers, 0o777))
    }

    /// A Boolean value that indicates whether this machine lets tests make cgroups.
    static let canMakeCgroups: Bool = {
        guard let group = (try? Cgroup.ofThisProcess())?.child("lifed-test-probe-\(getpid())") else { return false }
        guard (try? group.create()) != nil else { return false }
        defer { group.remove() }
        return group.has("cgroup.kill") && group.has("cgroup.freeze")
    }()

    /// The cgroup that a tree's main process is in, wherever in the hierarchy the tests run.
    func group(of tree: ProcessTree) throws -> Cgroup {
        let mountPoint = try #require(base).mountPoint
        return Cgroup(mountPoint: mountPoint, name: try #require(try Cgroup.name(of: tree.main.pid)))
    }

    static let fixture = program("ProcessFixture")

    private static func program(_ name: String) -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let length = unsafe readlink("/proc/self/exe", &path, path.count)
        let executable = String(decoding: path.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/" + name
    }

    /// A request for one of the fixture's programs.
    func request(_ program: String, output: Pipe) -> SpawnRequest {
        var request = SpawnRequest(program: Self.fixture, arguments: [program, RunnerPipe.path])
        request.standardOutput = output.writeEnd.rawValue
        return request
    }

    /// Starts a program that runs at once.
    func start(
        _ request: SpawnRequest, name: String = "unnamed", by method: SuspendMethod = .signal
    ) throws -> ProcessTree {
        let tree = try recordingErrors { try table.launch(request, name: name, suspendMethod: method) }
        tree.begin()
        return tree
    }

    /// Starts a program of the fixture and waits until it has said that it is ready, or all of other words.
    func launch(
        _ program: String, until words: String..., by method: SuspendMethod = .signal
    ) throws -> (tree: ProcessTree, said: String) {
        let output = try Pipe()
        outputs.append(output)
        let tree = try start(request(program, output: output), name: program, by: method)
        let words = words.isEmpty ? ["ready"] : words
        var said = ""
        try wait("\(program) says \(words)") {
            said += output.read()
            return words.allSatisfy(said.contains) && said.hasSuffix("\n")
        }
        return (tree, said)
    }

    /// Polls a condition. The time is far above any sensible one: it ends a test that has failed already.
    func wait(_ what: String, for condition: () throws -> Bool) throws {
        try waitUntil(what, condition)
    }

    func waitUntilStopped(_ tree: ProcessTree) throws {
        var check = StopCheck.pending([])
        do {
            try wait("stopped") {
                reap()
                check = tree.checkStopped()
                return check == .stopped
            }
        } catch {
            let look = tree.containment.look()
            let states = look.members.map { "\($0.pid) \($0.state)" }
            Issue.record("\(check) of \(states), which are \(look.isComplete ? "all" : "not all")")
            throw error
        }
    }

    func waitForEvent(_ tree: ProcessTree, _ change: TreeEvent.Change) throws {
        try wait("\(change)") {
            reap()
            return events.contains(TreeEvent(tree: tree.token, change: change))
        }
    }

    /// Waits until a tree has ended whose main process may be no child.
    func waitForEnd(_ tree: ProcessTree, _ status: WaitStatus) throws {
        try waitForEvent(tree, .emptied)
        let ends = [TreeEvent(tree: tree.token, change: .mainEnded(status))]
        let isTold = tree.isReported || Kernel.tellsExits
        let told = events.filter { event in
            if case .mainEnded = event.change { event.tree == tree.token } else { false }
        }
        #expect(told == ends || !isTold)
    }

    func reap() {
        while true {
            let reaped = table.reap()
            events += reaped.events
            if reaped.isComplete { break }
        }
        for tree in Array(table.trees) {
            events += table.checkMain(of: tree.token)
            tree.confirmNews()
        }
    }

    /// Kills everything and checks that nothing is left of it.
    func end() throws {
        // A child of one that just ended can come to us after it was looked for.
        try wait("everything has ended") {
            killEverything()
            return table.trees.allSatisfy(\.isEmpty) && Self.childCount == 0
        }
        for tree in Array(table.trees) { table.remove(tree.token) }
        #expect(base?.remove() ?? true)
    }

    private func killEverything() {
        for tree in table.trees { tree.kill() }
        for stranger in table.unrelatedProcesses() { _ = SignalDelivery.send(.kill, to: stranger.identity) }
        reap()
    }

    deinit {
        // A scenario that failed has not ended its processes.
        for _ in 0..<1000 where Self.childCount > 0 {
            killEverything()
            usleep(1000)
        }
        base?.remove()
        unsafe rmdir(keepers)
    }

    /// Waits for the process of `escape-clean` that has emptied its environment.
    func waitForEscaped(from tree: ProcessTree) throws -> ProcessStatus {
        var escaped: ProcessStatus?
        try wait("it has left all behind") {
            let parent = tree.containment.keeper?.process.pid ?? getpid()
            let children = try [ProcessStatus].all(of: Children().of(parent, threadCount: 2))
            // The name of /proc/self/exe.
            escaped = children.first { $0.name == "exe" }
            return escaped != nil
        }
        return try #require(escaped)
    }

    static var childCount: Int {
        (try? Children().of(getpid(), threadCount: 2))?.count ?? .max
    }

    static var descriptorCount: Int {
        (try? ProcFile.processIDs(in: "/proc/self/fd"))?.count ?? .max
    }
}

/// Polls a condition. The time is far above any sensible one: it ends a test that has failed already. Without a runner, there
/// is no process left to wait for.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    let deadline = now() + 240
    while try !condition() {
        guard now() < deadline else { return try recordingErrors { throw TimeOut(what: what) } }
        guard getppid() == RunnerPipe.runner else { exit(EXIT_FAILURE) }
        usleep(500)
    }
}

/// Records an error before it is thrown. An error that ends an exit test is not reported otherwise.
func recordingErrors<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    do {
        return try body()
    } catch {
        Issue.record(error)
        throw error
    }
}

private func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
}

/// What the kernel that the tests run on can do.
enum Kernel {
    /// The exit statuses of processes that another process has reaped (Linux 6.15).
    static let tellsExits: Bool = {
        let text = String(decoding: (try? ProcFile.read("/proc/sys/kernel/osrelease", limit: 64)) ?? [], as: UTF8.self)
        let numbers = text.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 15)
    }()
}

/// Does something while this process can open only so many files more. Some of the next numbers may be those of the runner's files.
func withoutFreeDescriptors<Result>(but left: Int = 0, _ body: () throws -> Result) throws -> Result {
    let free = (0..<Int32.max).lazy.filter { fcntl($0, F_GETFD) < 0 }
    let firstBeyond = try #require(free.dropFirst(left).first)
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let former = limit.rlim_cur
    limit.rlim_cur = rlim_t(firstBeyond)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    defer {
        limit.rlim_cur = former
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return try body()
}

struct TimeOut: Error {
    let what: String
}

/// A pipe whose reading end does not block.
final class Pipe {
    let readEnd: Descriptor
    let writeEnd: Descriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Errno(rawValue: Glibc.errno) }
        readEnd = Descriptor(owning: ends[0])
        writeEnd = Descriptor(owning: ends[1])
        _ = fcntl(readEnd.rawValue, F_SETFL, O_NONBLOCK)
    }

    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe Glibc.read(readEnd.rawValue, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}

/// The number after a word in what a fixture said.
func number(after word: String, in text: String) throws -> ProcessID {
    let words = text.split { $0 == " " || $0 == "\n" }
    let index = try #require(words.firstIndex { $0 == word })
    return try #require(ProcessID(words[index + 1]))
}

/// An executable file that is removed with its owner.
final class TemporaryScript {
    let path: String

    init(_ text: String) throws {
        var template = Array("/tmp/lifed-script-XXXXXX".utf8CString)
        let file = Descriptor(owning: unsafe mkstemp(&template))
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bytes = Array(text.utf8)
        guard unsafe write(file.rawValue, bytes, bytes.count) == bytes.count, fchmod(file.rawValue, 0o755) == 0 else {
            throw Errno(rawValue: Glibc.errno)
        }
    }

    var content: String {
        String(decoding: (try? ProcFile.read(path, limit: 1 << 16)) ?? [], as: UTF8.self)
    }

    deinit {
        unsafe unlink(path)
    }
}

/// What ends the fixture's processes with the test runner, however that ends.
///
/// The runner holds the writing end of a pipe for as long as it lives, under a number that its exit tests know. Each
/// process of the fixture opens the pipe through `/proc`, and the kernel kills it when the writing end is gone. The exit
/// test cannot be the one that holds it: some of them die on purpose and leave their processes to the next.
enum RunnerPipe {
    /// Higher than what the runner opens otherwise.
    private static let number: Int32 = 900

    /// The process that runs the tests, for an exit test.
    static let runner = getppid()

    /// Where the fixture finds the pipe.
    static var path: String { "/proc/\(runner)/fd/\(number)" }

    /// In the runner: makes the pipe, once.
    static let isOpen: Bool = {
        guard let pipe = try? Pipe() else { return false }
        return fcntl(pipe.writeEnd.rawValue, F_DUPFD_CLOEXEC, number) == number
    }()
}

/// For suites that start the fixture.
struct RunnerPipeTrait: SuiteTrait {
    func prepare(for test: Test) async throws {
        #expect(RunnerPipe.isOpen)
    }
}

extension Trait where Self == RunnerPipeTrait {
    static var endsWithRunner: Self { RunnerPipeTrait() }
}

extension ProcessTree {
    /// A Boolean value that indicates whether each process that is to run when the tree does was continued.
    var isResumed: Bool {
        !containment.members().contains { $0.state == .stopped && shouldRun($0.identity) }
    }
}
