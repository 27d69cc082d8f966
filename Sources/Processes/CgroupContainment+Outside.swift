/// Processes of the app that are in another control group: systemd moves a process that asks for a scope of its own, as
/// systemd-run and flatpak do.
extension CgroupContainment {
    /// What the group alone does not tell of a launch.
    struct Launch {
        let main: ProcessIdentity
        let token: LaunchToken
        let orphans: AdoptedOrphans
        let helpers: HelperPrograms
    }

    /// Returns whether a look at the group does not find every member.
    ///
    /// - Parameter numbers: The processes in the group.
    func hasOutside(_ numbers: [ProcessID]) -> Bool {
        if !outside.isEmpty { return true }
        guard let launch, !leaderIsReaped, !numbers.contains(launch.main.pid) else { return false }
        return Self.current(launch.main) != nil
    }

    /// Returns the known members outside of the group, and what is below them.
    func membersOutside(_ numbers: [ProcessID]) -> [ProcessStatus] {
        var descendants = Descendants(children: Children())
        let main = leaderIsReaped ? nil : launch?.main
        for process in outside.union(main.map { [$0] } ?? []).compactMap(Self.current) { descendants.add(process) }
        let inside = Set(numbers)
        let found = descendants.found.filter { !inside.contains($0.pid) && !subtree.isInAnyGroup($0.pid) }
        outside = Set(found.identities)
        return found
    }

    /// Looks for members that have left the group.
    ///
    /// - Returns: Whether there is a member that was not known.
    func findMembersOutside(_ members: [ProcessStatus]) -> Bool {
        let known = Set(members.pids)
        let children = Children()
        var found = members.flatMap { parent in
            children.of(parent.pid, threadCount: parent.threadCount).filter { !known.contains($0) }
                .compactMap { ProcessStatus(of: $0) }.filter { $0.parent == parent.pid }
        }
        // Reading the daemon's own children costs more the more apps there are.
        if let launch, hadSeveral {
            found += launch.orphans.list(children).filter { orphan in
                !known.contains(orphan.pid) && !launch.helpers.include(orphan)
                    && LaunchMark.token(of: orphan.pid) == launch.token
            }
        }
        // What was born inside since is in the group, and what is in another app's is that app's.
        let new = found.filter { !$0.isZombie && !subtree.isInAnyGroup($0.pid) }
        outside.formUnion(new.identities)
        return !new.isEmpty
    }

    static func current(_ process: ProcessIdentity) -> ProcessStatus? {
        ProcessStatus(of: process.pid).flatMap { $0.identity == process && !$0.isZombie ? $0 : nil }
    }
}
