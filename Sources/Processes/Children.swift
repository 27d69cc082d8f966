import CLinux

/// Who the children of a process are.
///
/// The kernel's list of them costs only as much as there are (`CONFIG_PROC_CHILDREN`, Linux 4.2); without it every
/// process of the machine has to be looked at, which is done once for each value of this type.
struct Children {
    private enum Source {
        case listOfEachThread
        case parentOfEveryProcess([ProcessID: [ProcessID]])
    }

    private let source: Source

    static let areListedByKernel = ProcFile.read("/proc/self/task/\(getpid())/children", limit: 1) != nil

    init() {
        self.init(listedByKernel: Self.areListedByKernel)
    }

    init(listedByKernel: Bool) {
        source = listedByKernel ? .listOfEachThread : Self.parents(among: ProcessStatus.all())
    }

    /// The children as of these processes' own words.
    init(among processes: [ProcessStatus]) {
        source = Self.parents(among: processes)
    }

    private static func parents(among processes: [ProcessStatus]) -> Source {
        .parentOfEveryProcess(Dictionary(grouping: processes) { $0.parent }.mapValues { $0.pids })
    }

    /// The children of a process, zombies included.
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
        guard let list = ProcFile.read("/proc/\(pid)/task/\(thread)/children", limit: 4 << 20) else { return [] }
        return list.split(separator: UInt8(ascii: " ")).compactMap { ProcessID(ascii: $0) }
    }
}
