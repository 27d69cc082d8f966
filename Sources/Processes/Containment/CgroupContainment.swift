import Glibc

/// Holds an app by the cgroup that its main process was born in, whatever a process does to its session, parents or environment.
///
/// A process leaves only if it may write to the hierarchy, or if systemd moves it at its request, as systemd-run and flatpak ask for. It
/// is then held by descent; see ``lookOutside(_:)``.
final class CgroupContainment: Containment {
    /// The facts about a launch that its cgroup does not tell.
    struct Launch {
        let main: ProcessIdentity
        let orphans: Orphans
        let helpers: HelperPrograms
    }

    let group: Cgroup
    let subtree: CgroupSubtree
    /// The launch whose processes the group holds, once there is one.
    var launch: Launch?
    /// The known members that are not in the group.
    var outside: Set<ProcessIdentity> = []

    private let events: CgroupEventFile
    private let number: UInt?
    private var isFreezeRequested: Bool
    private var leaderIsReaped = false
    /// True if a look has found more than one member.
    private var hadSeveral = false

    /// Helpers may start processes while they are moved.
    private static let roundLimit = 8

    /// Creates a containment.
    ///
    /// - Parameters:
    ///   - group: A group of an app in the subtree, in which nothing else is. It is removed with the containment.
    ///   - isAskedToFreeze: Whether the group was asked to freeze before.
    init(group: Cgroup, subtree: CgroupSubtree, isAskedToFreeze: Bool = false) throws(Errno) {
        self.group = group
        self.subtree = subtree
        isFreezeRequested = isAskedToFreeze
        events = try CgroupEventFile(of: group)
        number = group.number
    }

    override var kind: ContainmentKind { .cgroup }
    override var cgroup: Cgroup? { group }
    override var groupName: String? { group.lastName }
    override var groupNumber: UInt? { number }

    /// Limits the groups below the group.
    override func completeSetUp() {
        // A kernel that cannot limit them has walks that are limited.
        try? group.write("256", to: "cgroup.max.descendants")
    }

    // MARK: - Members

    /// Finds the members in the order of their starts.
    override func look() -> Look {
        var look = Look()
        guard let numbers = look.reading({ () throws(Errno) in try numbers() }) else { return look }
        for number in numbers { look.add(number) }
        if look.reading({ () throws(Errno) in try hasOutside(numbers) }) ?? false { look += membersOutside(numbers) }
        if look.members.count > 1 {
            hadSeveral = true
            look.members = look.members.inOrderOfStart
        }
        return look
    }

    override func isPopulated() throws(Errno) -> Bool { try group.readEvents()?.isPopulated ?? false }

    override func memberIDs() throws(Errno) -> [ProcessID]? {
        let numbers = try numbers()
        return try hasOutside(numbers) ? numbers + membersOutside(numbers).all().pids : numbers
    }

    private func numbers() throws(Errno) -> [ProcessID] {
        try group.processIDs().filter { $0 != getpid() && $0 != 1 }
    }

    override func claims(_ process: ProcessStatus) throws(Errno) -> Bool {
        if try Cgroup.name(of: process.pid).map(group.contains(groupNamed:)) ?? false { return true }
        return try outside.isEmpty ? false : process.isOrComesFrom { outside.contains($0.identity) }
    }

    override func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // It passes over processes whose first thread has ended (seen on 6.18).
        signal == .kill && (try? group.write("1", to: "cgroup.kill")) != nil
            ? { [outside] in !$0.state.isGone && !outside.contains($0.identity) } : nil
    }

    override func leaderWasReaped() {
        leaderIsReaped = true
        if hadSeveral { _ = try? lookOutside([]) }
    }

    override var changeDescriptors: [Int32] { [events.descriptor.rawValue] }

    override func acknowledgeChange() -> Bool { events.acknowledge() }

    override func discard() { subtree.discard(group) }

    // MARK: - Members outside of the group

    override var isGroupAlone: Bool { outside.isEmpty }

    override var escaped: [ProcessIdentity] { outside.isEmpty ? [] : outside.sorted { $0.pid < $1.pid } }

    /// Returns whether a look at the group does not find every member.
    ///
    /// - Parameter numbers: The processes in the group.
    private func hasOutside(_ numbers: [ProcessID]) throws(Errno) -> Bool {
        if !outside.isEmpty { return true }
        guard let main = launch?.main, !leaderIsReaped, !numbers.contains(main.pid) else { return false }
        return try !main.hasEnded()
    }

    /// Returns the known members outside of the group, and the processes below them.
    private func membersOutside(_ numbers: [ProcessID]) -> Look {
        var descendants = Descendants()
        let main = leaderIsReaped ? nil : launch?.main
        for process in outside.union(main.map { [$0] } ?? []) { descendants.add(process) }
        let inside = Set(numbers)
        var look = descendants.look
        look.keep { process throws(Errno) in
            try inside.contains(process.pid) ? false : !subtree.isInAnyGroup(process.pid)
        }
        // A process that could not be seen stays known.
        outside = look.isComplete ? Set(look.members.identities) : outside.union(look.members.identities)
        return look
    }

    override func lookOutside(_ members: [ProcessStatus]) throws(Errno) -> Bool {
        let children = Children()
        var candidates: [(parent: ProcessID, child: ProcessID)] = []
        for parent in members {
            for child in try children.of(parent.pid, threadCount: parent.threadCount) {
                candidates.append((parent.pid, child))
            }
        }
        guard !candidates.isEmpty || hadSeveral else { return false }
        let known = Set(members.pids)
        var found = Look()
        for candidate in candidates where !known.contains(candidate.child) {
            found.add(candidate.child) { $0.parent == candidate.parent }
        }
        // The main process leads a session, which a process can leave, and none can enter. Reading the daemon's own children costs
        // more the more apps there are.
        if let launch, hadSeveral {
            found.members += try launch.orphans.list().filter {
                $0.session == launch.main.pid && !known.contains($0.pid)
            }
        }
        // A process that was born inside since is in the group, and one in another app's group is that app's.
        found.keep { process throws(Errno) in try !subtree.isInAnyGroup(process.pid) }
        outside.formUnion(found.members.identities)
        return try !found.all().isEmpty
    }

    // MARK: - Helpers

    /// Moves the helpers that have left their parents, with all that they have started, to a group beside those of the apps.
    override func releaseHelpers(_ look: Look) -> Look {
        guard let launch, !launch.helpers.names.isEmpty else { return look }
        var look = look
        for _ in 0..<Self.roundLimit where look.isComplete {
            let leaving = look.helpers(launch.helpers, of: launch.main)
            guard !leaving.isEmpty, let destination = try? subtree.makeHelperGroup(for: group) else { break }
            for process in leaving {
                guard (try? Relocation(to: destination).move(process.identity)) != nil else { return self.look() }
            }
            look = self.look()
        }
        return look
    }

    // MARK: - Freezing

    override var isAskedToFreeze: Bool { isFreezeRequested }

    override func freeze() -> Bool {
        // A call that fails leaves the group as it was, and the previous daemon may have frozen it.
        isFreezeRequested = (try? group.write("1", to: "cgroup.freeze")) != nil || group.isAskedToFreeze
        return isFreezeRequested
    }

    override func thaw() {
        guard isFreezeRequested else { return }
        // A group that stays frozen neither runs nor is stopped by signals, so a call that fails is made once more.
        for _ in 0..<2 where isFreezeRequested {
            isFreezeRequested = (try? group.write("0", to: "cgroup.freeze")) == nil
        }
    }

    override func freezes(_ process: ProcessStatus) -> Bool { !outside.contains(process.identity) }

    /// The kernel says so of empty groups too.
    override func isFrozen() throws(Errno) -> Bool {
        try isFreezeRequested ? group.readEvents()?.isFrozen ?? false : false
    }
}
