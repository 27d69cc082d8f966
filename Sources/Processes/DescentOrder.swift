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
