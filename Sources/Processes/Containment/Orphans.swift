import Glibc

/// The children of this process that are neither main processes nor keepers: descendants of its apps whose own parents have ended.
///
/// A child subreaper gets them from the kernel without a notice, so they are read when they are needed.
final class Orphans {
    /// Processes that fork and end as fast as they can must not keep the reader.
    private static let readLimit = 8

    private var started: Set<ProcessID> = []
    private let helperPrograms: HelperPrograms

    init(helpers: HelperPrograms) {
        helperPrograms = helpers
    }

    /// The number of children that are no orphans.
    var childCount: Int { started.count }

    /// Registers a child of our own, from before anything is asked here until it has been reaped.
    func insertChild(_ pid: ProcessID) { started.insert(pid) }

    func removeChild(_ pid: ProcessID) { started.remove(pid) }

    /// Returns the orphans of this moment that have not ended and are no helpers.
    func list() throws(Errno) -> [ProcessStatus] { try all(areHelpers: false) }

    /// Returns the orphans of this moment that are helpers.
    func helpers() throws(Errno) -> [ProcessStatus] { helperPrograms.names.isEmpty ? [] : try all(areHelpers: true) }

    private func all(areHelpers: Bool) throws(Errno) -> [ProcessStatus] {
        let me = getpid()
        guard let ourselves = try ProcessStatus(of: me) else { return [] }
        let children = Children()
        var ended: Set<ProcessID> = []
        var alive: [ProcessStatus] = []
        for _ in 0..<Self.readLimit {
            let listed = try children.of(me, threadCount: ourselves.threadCount).filter { !started.contains($0) }
            alive = try .all(of: listed).filter { !$0.isZombie }
            // A process that ended after the list was read has left its children to this one since.
            let endedNow = Set(listed).subtracting(alive.pids)
            if ended.isSuperset(of: endedNow) { break }
            ended.formUnion(endedNow)
        }
        var found: [ProcessStatus] = []
        for process in alive where try helperPrograms.include(process) == areHelpers { found.append(process) }
        return found
    }
}
