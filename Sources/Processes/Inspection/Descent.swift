import Glibc

/// The parents and children among the processes of the machine.
///
/// The kernel's list of them costs only as much as there are (`CONFIG_PROC_CHILDREN`, Linux 4.2); without it every
/// process of the machine has to be looked at, which is done once for each value of this type.
struct Children {
    private enum Source {
        case listOfEachThread
        case parentOfEveryProcess([ProcessID: [ProcessID]])
    }

    private let source: Source

    private static let areListedByKernel = ProcFile.read("/proc/self/task/\(getpid())/children", limit: 1) != nil

    init() {
        source = Self.areListedByKernel ? .listOfEachThread : Self.parents(among: ProcessStatus.all())
    }

    /// The children as of these processes' own words.
    init(among processes: [ProcessStatus]) {
        source = Self.parents(among: processes)
    }

    private static func parents(among processes: [ProcessStatus]) -> Source {
        .parentOfEveryProcess(Dictionary(grouping: processes) { $0.parent }.mapValues { $0.pids })
    }

    /// Returns the children of a process, zombies included.
    ///
    /// A kernel's list can miss children while others of the same parent are being reaped; it is exact
    /// when the parent is stopped, and for the calling process.
    func of(_ pid: ProcessID, threadCount: Int) -> [ProcessID] {
        switch source {
        case .parentOfEveryProcess(let children):
            children[pid] ?? []
        case .listOfEachThread where threadCount == 1:
            listedChildren(of: pid, thread: pid)
        case .listOfEachThread:
            ProcFile.processIDs(in: "/proc/\(pid)/task").flatMap { listedChildren(of: pid, thread: $0) }
        }
    }

    private func listedChildren(of pid: ProcessID, thread: ProcessID) -> [ProcessID] {
        // Far above what a process can have with the kernel's largest pid_max (4,194,304) in practice.
        let path = ProcPath(pid, thread: thread, "children")
        // Mostly there are none, or few.
        if let few = ProcFile.readWhole(path, { Self.numbers(in: $0) }) { return few }
        let list = ProcFile.read(path, limit: 4 << 20, longestRecord: 16) ?? []
        return Self.numbers(in: list.span)
    }

    /// Returns the processes in the text of a `children`.
    static func numbers(in text: Span<UInt8>) -> [ProcessID] {
        var numbers: [ProcessID] = []
        var position = 0
        while position < text.count, let number: ProcessID = text.number(at: &position) {
            numbers.append(number)
            position += 1
        }
        return numbers
    }
}

/// A walk down from processes to everything below them.
struct Descendants {
    private let children: Children
    private var visited: Set<ProcessID>
    private(set) var look = Look()

    init(children: Children) {
        self.children = children
        // These are never part of an app, although a file of the kernel may say so.
        visited = [0, 1, getpid()]
    }

    /// Adds a process and everything below it. The children of one that has ended are not its own any more.
    mutating func add(_ pid: ProcessID, _ status: ProcessStatus?) {
        guard !visited.contains(pid) else { return }
        look.add(pid, status)
        guard let status else { return }
        visited.insert(pid)
        if !status.isZombie { addChildren(of: pid, threadCount: status.threadCount) }
    }

    /// Adds everything below a process.
    mutating func addChildren(of parent: ProcessID, threadCount: Int) {
        var pending = [(parent, threadCount)]
        while let (parent, threadCount) = pending.popLast() {
            for child in children.of(parent, threadCount: threadCount) where !visited.contains(child) {
                // A child with another parent by now has ended and its number was reused, or it was reparented: then it
                // is found there.
                let status = ProcessStatus(of: child).flatMap { $0.parent == parent ? $0 : nil }
                look.add(child, status)
                guard let status else { continue }
                visited.insert(child)
                if !status.isZombie { pending.append((child, status.threadCount)) }
            }
        }
    }
}

/// The processes of one look, ordered by descent.
///
/// A parent that runs while its child is stopped learns of the stop from waitpid(2). Trees are therefore stopped from
/// the top down and continued from the bottom up.
struct DescentOrder {
    /// The processes in levels: the parent of a process is in an earlier level, or not among them.
    let levels: [[ProcessStatus]]
    private let parents: Set<ProcessID>

    init(_ processes: [ProcessStatus]) {
        guard processes.count > 1 else {
            levels = processes.isEmpty ? [] : [processes]
            parents = []
            return
        }
        var indices: [ProcessID: Int] = [:]
        for (index, process) in processes.enumerated() { indices[process.pid] = index }
        var levels: [[ProcessStatus]] = []
        for (process, depth) in zip(processes, Self.depths(of: processes, indices)) {
            while levels.count <= depth { levels.append([]) }
            levels[depth].append(process)
        }
        self.levels = levels
        parents = Set(processes.map { $0.parent }).intersection(indices.keys)
    }

    /// The processes, children before their parents.
    var bottomUp: [ProcessStatus] { levels.reversed().flatMap { $0 } }

    /// The processes of which a child is among the processes, in their levels.
    var levelsOfParents: [[ProcessIdentity]] {
        levels.dropLast().map { $0.filter { parents.contains($0.pid) }.identities }
    }

    private static func depths(of processes: [ProcessStatus], _ indices: [ProcessID: Int]) -> [Int] {
        var depths = [Int](repeating: -1, count: processes.count)
        for start in processes.indices {
            var path: [Int] = []
            var next: Int? = start
            while let index = next, depths[index] < 0 {
                // Numbers that were reused during the look could make a circle.
                depths[index] = 0
                path.append(index)
                next = indices[processes[index].parent]
            }
            var depth = next.map { depths[$0] } ?? -1
            for index in path.reversed() {
                depth += 1
                depths[index] = depth
            }
        }
        return depths
    }
}

/// A process with its parent, its parent's parent and so on.
public struct Ancestry: Sendable {
    /// The process first, as far as they can be seen; init and this process are left out.
    public let processes: [ProcessID]
    /// A Boolean value that indicates whether this process is one of the ancestors.
    public let reachesThisProcess: Bool

    /// Deeper than programs nest processes.
    private static let limit = 4096
    /// The number of parents that may end during one walk.
    private static let attemptLimit = 16

    /// Nil when the process or those above it cannot be read.
    public init?(of pid: ProcessID) {
        for _ in 0..<Self.attemptLimit {
            if let walked = Self.walk(from: pid) {
                self = walked
                return
            }
        }
        return nil
    }

    private init(_ processes: [ProcessID], reachesThisProcess: Bool) {
        self.processes = processes
        self.reachesThisProcess = reachesThisProcess
    }

    /// Returns nil if a parent ends meanwhile: its children have another one then.
    private static func walk(from pid: ProcessID) -> Ancestry? {
        var processes: [ProcessID] = []
        var next = pid
        while next > 1, next != getpid() {
            guard processes.count < limit, let status = ProcessStatus(of: next) else { return nil }
            processes.append(next)
            next = status.parent
        }
        return Ancestry(processes, reachesThisProcess: next == getpid())
    }
}

extension ProcessStatus {
    /// Returns whether something is so of the process itself or of one above it, as far up as this process or process
    /// 1.
    func isOrComesFrom(_ isWanted: (ProcessStatus) -> Bool) -> Bool {
        var next: ProcessStatus? = self
        while let status = next, status.pid > 1, status.pid != getpid() {
            if isWanted(status) { return true }
            next = ProcessStatus(of: status.parent)
        }
        return false
    }
}
