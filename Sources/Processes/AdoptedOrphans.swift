import CLinux

/// The children that this process did not start: descendants of its apps whose own parents have ended.
///
/// A child subreaper gets them from the kernel without a notice, so they are read when they are needed.
final class AdoptedOrphans {
    /// Processes that fork and end as fast as they can must not keep the reader.
    private static let readLimit = 8

    private var mainProcesses: Set<ProcessID> = []
    private let helperPrograms: HelperPrograms

    init(helpers: HelperPrograms = HelperPrograms()) {
        helperPrograms = helpers
    }

    /// Registers a child of our own, from before anything is asked here until it has been reaped.
    func insertMainProcess(_ pid: ProcessID) {
        mainProcesses.insert(pid)
    }

    func removeMainProcess(_ pid: ProcessID) {
        mainProcesses.remove(pid)
    }

    func isMainProcess(_ pid: ProcessID) -> Bool {
        mainProcesses.contains(pid)
    }

    /// The adopted processes of this moment that have not ended and are no helpers.
    func list(_ children: Children) -> [ProcessStatus] { all(children).filter { !helperPrograms.include($0) } }

    /// The adopted processes of this moment that are helpers.
    func helpers() -> [ProcessStatus] {
        helperPrograms.names.isEmpty ? [] : all(Children()).filter { helperPrograms.include($0) }
    }

    private func all(_ children: Children) -> [ProcessStatus] {
        let me = getpid()
        guard let ourselves = ProcessStatus(of: me) else { return [] }
        var ended: Set<ProcessID> = []
        var alive: [ProcessStatus] = []
        for _ in 0..<Self.readLimit {
            let listed = children.of(me, threadCount: ourselves.threadCount).filter { !mainProcesses.contains($0) }
            alive = listed.compactMap { ProcessStatus(of: $0) }.filter { !$0.isZombie }
            // A process that ended after the list was read has left its children to this one since.
            let endedNow = Set(listed).subtracting(alive.pids)
            if ended.isSuperset(of: endedNow) { break }
            ended.formUnion(endedNow)
        }
        return alive
    }
}
