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
        let leaving = helpers.leaving(look.members, main: main)
        look.members.removeAll { leaving.contains($0.pid) }
        seen = Set(look.members.identities)
        return look
    }

    override var isPopulated: Bool {
        let helpers = Set(helperProcesses().pids)
        return !link.hasEnded && Children().of(link.process.pid, threadCount: 1).contains { !helpers.contains($0) }
    }

    /// Returns the helpers that have left their parents, and their descendants: they are below the keeper, and no members.
    func helperProcesses() -> [ProcessStatus] {
        let found = descendants()?.members ?? []
        let leaving = helpers.leaving(found, main: main)
        return found.filter { leaving.contains($0.pid) }
    }

    /// Nil if the keeper has ended.
    private func descendants() -> Look? {
        let children = Children()
        var descendants = Descendants(children: children)
        for _ in 0..<Self.roundLimit {
            let before = descendants.look.members.count
            descendants.addChildren(of: link.process.pid, threadCount: 1)
            // What has lost its parent during the walk is a child of the keeper now.
            if descendants.look.members.count == before { break }
        }
        // The number was the keeper's during the walk.
        return link.hasEnded ? nil : descendants.look
    }

    private func membersWithoutKeeper() -> Look {
        var descendants = Descendants(children: Children())
        for process in seen { descendants.add(process.pid, process.status) }
        for orphan in orphans?.list() ?? [] where orphan.identity.isYounger(than: main) {
            descendants.add(orphan.pid, orphan)
        }
        return descendants.look
    }

    override func isAlone(_ process: ProcessID) -> Bool {
        let children = Children()
        return !link.hasEnded && children.of(link.process.pid, threadCount: 1).isOnly(process)
            && children.of(process, threadCount: .max).isEmpty
    }

    /// Returns whether a process is below the keeper. Helpers are, too, and act with the rights of the app.
    override func claims(_ process: ProcessStatus) -> Bool {
        link.hasEnded
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
