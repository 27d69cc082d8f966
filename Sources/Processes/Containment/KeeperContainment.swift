import Glibc

/// Holds a launched app without a control group: its processes are the descendants of its keeper, whatever they have done to their
/// sessions, environments and parents.
///
/// If the keeper is killed, the kernel gives its children to the next subreaper. The processes that were seen are then all that is known
/// of the app, and the daemon ends them.
final class KeeperContainment: Containment {
    private let main: ProcessIdentity
    private let orphans: Orphans?
    private let helpers: HelperPrograms
    /// The members of the latest look.
    private var seen: Set<ProcessIdentity>

    /// The parent of the app.
    let link: Keeper

    /// Processes that fork and end as fast as they can must not keep the caller.
    private static let roundLimit = 8

    /// - Parameters:
    ///   - known: Others that were seen below the keeper.
    ///   - orphans: The orphans of this process, if it is the next subreaper.
    init(
        _ keeper: Keeper, main: ProcessIdentity, known: [ProcessIdentity] = [], orphans: Orphans?,
        helpers: HelperPrograms
    ) {
        link = keeper
        self.main = main
        self.orphans = orphans
        self.helpers = helpers
        seen = Set(known + [main])
    }

    override var kind: ContainmentKind { .keeper }

    override var keeper: Keeper? { link }

    /// Every member beside the main process: with the keeper, the record is all that would tell of them.
    override var escaped: [ProcessIdentity] { seen.subtracting([main]).sorted { $0.pid < $1.pid } }

    override func look() -> Look {
        var look = descendants() ?? membersWithoutKeeper()
        look.removeHelpers(helpers, of: main)
        // A process that could not be seen stays known.
        seen = look.isComplete ? Set(look.members.identities) : seen.union(look.members.identities)
        return look
    }

    override func isPopulated() throws(Errno) -> Bool {
        if try link.hasEnded() { return false }
        let helpers = Set(helperProcesses().pids)
        return try Children().of(link.process.pid, threadCount: 1).contains { !helpers.contains($0) }
    }

    /// Returns the helpers that have left their parents, and their descendants: they are below the keeper, and no members.
    func helperProcesses() -> [ProcessStatus] {
        var look = descendants() ?? Look()
        return look.helpers(helpers, of: main)
    }

    /// Nil if the keeper has ended.
    private func descendants() -> Look? {
        var descendants = Descendants()
        for _ in 0..<Self.roundLimit {
            let before = descendants.look.members.count
            descendants.addChildren(of: link.process.pid, threadCount: 1)
            // What has lost its parent during the walk is a child of the keeper now.
            if descendants.look.members.count == before { break }
        }
        // The number was the keeper's during the walk.
        let hasEnded = descendants.look.reading { () throws(Errno) in try link.hasEnded() } ?? false
        return hasEnded ? nil : descendants.look
    }

    private func membersWithoutKeeper() -> Look {
        var descendants = Descendants()
        for process in seen { descendants.add(process) }
        let orphans = descendants.look.reading { () throws(Errno) in try self.orphans?.list() ?? [] } ?? []
        for orphan in orphans where orphan.identity.isYounger(than: main) { descendants.add(orphan) }
        return descendants.look
    }

    override func isAlone(_ process: ProcessID) -> Bool {
        let children = Children()
        return (try? link.hasEnded()) == false
            && (try? children.of(link.process.pid, threadCount: 1))?.isOnly(process) ?? false
            && (try? children.of(process, threadCount: .max))?.isEmpty ?? false
    }

    /// Returns whether a process is below the keeper. Helpers are, too, and act with the rights of the app.
    override func claims(_ process: ProcessStatus) throws(Errno) -> Bool {
        try link.hasEnded()
            ? process.isOrComesFrom { seen.contains($0.identity) }
            : process.isOrComesFrom { $0.parent == link.process.pid }
    }

    override func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // A helper that has left its parent may still be in the group, and is not to get the signal.
        guard helpers.names.isEmpty || isAlone(main.pid) else { return nil }
        return SignalDelivery.send(signal, toGroupLedBy: main) ? { [main] in $0.processGroup == main.pid } : nil
    }

    override func discard() { link.release() }
}
