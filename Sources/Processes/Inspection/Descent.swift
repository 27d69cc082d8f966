import Glibc

/// The parents and children among the processes of the machine.
///
/// The kernel's list of them costs only as much as there are (`CONFIG_PROC_CHILDREN`, Linux 4.2); without it every
/// process of the machine has to be looked at, which is done once for each value of this type.
struct Children {
    private enum Source {
        case listOfEachThread
        case parentOfEveryProcess([ProcessID: [ProcessID]])
        case unread(Errno)
    }

    private let source: Source

    private static let areListedByKernel = unsafe access("/proc/thread-self/children", F_OK) == 0

    init() {
        do throws(Errno) {
            source =
                Self.areListedByKernel
                ? .listOfEachThread : Self.parents(among: try .all(of: ProcFile.processIDs(in: "/proc")))
        } catch {
            source = .unread(error)
        }
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
    func of(_ pid: ProcessID, threadCount: Int) throws(Errno) -> [ProcessID] {
        switch source {
        case .unread(let error): throw error
        case .parentOfEveryProcess(let children): return children[pid] ?? []
        case .listOfEachThread: break
        }
        var found: [ProcessID] = []
        for thread in threadCount == 1 ? [pid] : try ProcFile.processIDs(in: "/proc/\(pid)/task") {
            found += try listedChildren(of: pid, thread: thread)
        }
        return found
    }

    private func listedChildren(of pid: ProcessID, thread: ProcessID) throws(Errno) -> [ProcessID] {
        // Far above what a process can have with the kernel's largest pid_max (4,194,304) in practice.
        let path = ProcPath(pid, thread: thread, "children")
        // Mostly there are none, or few.
        if let few = try ProcFile.readWhole(path, { Self.numbers(in: $0) }) { return few }
        let list = try ProcFile.read(path, limit: 4 << 20, longestRecord: 16) ?? []
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

/// A walk down from processes to everything below them. Where a read fails, the look is not complete.
struct Descendants {
    private let children: Children
    private var visited: Set<ProcessID>
    var look = Look()

    init(children: Children = Children()) {
        self.children = children
        // These are never part of an app, although a file of the kernel may say so.
        visited = [0, 1, getpid()]
    }

    /// Adds a process and everything below it. The children of one that has ended are not its own any more.
    mutating func add(_ process: ProcessStatus) {
        guard !visited.contains(process.pid) else { return }
        look.add(process.pid, process)
        addChildren(of: process)
    }

    /// Reads a process that was known, and adds it and everything below it.
    mutating func add(_ process: ProcessIdentity) {
        guard !visited.contains(process.pid), let status = look.add(process.pid, if: { $0.identity == process }) else {
            return
        }
        addChildren(of: status)
    }

    private mutating func addChildren(of process: ProcessStatus) {
        visited.insert(process.pid)
        if !process.isZombie { addChildren(of: process.pid, threadCount: process.threadCount) }
    }

    /// Adds everything below a process.
    mutating func addChildren(of parent: ProcessID, threadCount: Int) {
        var pending = [(parent, threadCount)]
        while let (parent, threadCount) = pending.popLast() {
            let list = look.reading { [children] () throws(Errno) in try children.of(parent, threadCount: threadCount) }
            for child in list ?? [] where !visited.contains(child) {
                // A child with another parent by now has ended and its number was reused, or it was reparented: then it
                // is found there.
                guard let status = look.add(child, if: { $0.parent == parent }) else { continue }
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
            guard processes.count < limit, let status = try? ProcessStatus(of: next) else { return nil }
            processes.append(next)
            next = status.parent
        }
        return Ancestry(processes, reachesThisProcess: next == getpid())
    }
}

extension ProcessStatus {
    /// Returns whether something is so of the process itself or of one above it, as far up as this process or process
    /// 1.
    func isOrComesFrom(_ isWanted: (ProcessStatus) -> Bool) throws(Errno) -> Bool {
        var next: ProcessStatus? = self
        while let status = next, status.pid > 1, status.pid != getpid() {
            if isWanted(status) { return true }
            next = try ProcessStatus(of: status.parent)
        }
        return false
    }
}
