import Glibc

/// The control group of a unit of systemd, which arranges it: looked at, and never changed but by `cgroup.freeze` and the mark of
/// a released unit.
public struct UnitGroup: Hashable, Sendable {
    let group: Cgroup

    /// The name of the group in the hierarchy, without the first slash.
    public var name: String { group.name }

    /// The group of a unit; nil if there is none of this name, or it is that of this process or one above it.
    ///
    /// - Parameter name: The name in the hierarchy as systemd shows it in `ControlGroup`, with or without the first slash.
    public init?(_ name: String) {
        guard let own = Cgroup.ofThisProcess() else { return nil }
        let name =
            name.utf8.first == UInt8(ascii: "/") ? String(decoding: name.utf8.dropFirst(), as: UTF8.self) : name
        guard !name.isEmpty, let found = Cgroup.existing(at: "\(own.mountPoint)/\(name)"),
            !found.contains(groupNamed: own.name)
        else { return nil }
        group = found
    }

    /// Returns the processes of this moment that have not ended, in the order of their starts.
    public func processIDs() -> [ProcessID] { statuses().pids }

    private static let releaseMark = "user.lifed.released"

    /// A Boolean value that indicates whether the user has released the app of the unit. The mark lasts as long as the group,
    /// which systemd makes anew when it starts the unit.
    public var isReleased: Bool { group.hasMark(Self.releaseMark) }

    /// Marks the unit as released.
    ///
    /// - Throws: `EOPNOTSUPP` before Linux 5.7, `ENOENT` for a group that is gone.
    public func markReleased() throws(Errno) { try group.mark(Self.releaseMark) }

    /// Removes the mark of a unit that is managed again.
    public func removeReleaseMark() { group.removeMark(Self.releaseMark) }

    fileprivate func statuses() -> [ProcessStatus] {
        group.processIDs().compactMap { ProcessStatus(of: $0) }.filter { !$0.isZombie }.inOrderOfStart
    }
}

/// Holds an app of the desktop by the control groups of its units, one for each of its instances.
///
/// A process leaves only if systemd moves it. The groups are systemd's: nothing is moved into or out of them, no other
/// attribute is written than `cgroup.freeze`, and they are left as they are when the app is released.
final class UnitContainment: Containment {
    /// The group of one unit, and the file that tells of its end. A later group of the same name is another one.
    private final class Unit {
        let group: UnitGroup
        let events: CgroupEventFile
        private let number: UInt

        init(_ group: UnitGroup) throws(Errno) {
            guard let number = group.group.number else { throw Errno(rawValue: ENOENT) }
            self.group = group
            self.number = number
            events = try CgroupEventFile(of: group.group)
        }

        var exists: Bool { group.group.number == number }
    }

    private var held: [Unit] = []
    private let main: ProcessIdentity
    private let helpers: HelperPrograms
    /// True if the units may stay frozen. systemd does not learn of it, and does not thaw a unit when it is stopped.
    private let usesFreezer: Bool
    private var isFreezeRequested: Bool

    /// - Parameter groups: Those that are gone are left out.
    init(
        _ groups: some Sequence<UnitGroup>, main: ProcessIdentity, usesFreezer: Bool, helpers: HelperPrograms
    ) {
        self.main = main
        self.usesFreezer = usesFreezer
        self.helpers = helpers
        isFreezeRequested = groups.contains { $0.group.isAskedToFreeze }
        held = groups.compactMap { try? Unit($0) }
    }

    /// Adds the group of another unit, and forgets those that have ended. The change descriptors are others afterwards.
    ///
    /// - Returns: False if the group is gone.
    func add(_ group: UnitGroup) -> Bool {
        held.removeAll { !$0.exists }
        guard !held.contains(where: { $0.group == group }), let unit = try? Unit(group) else { return false }
        held.append(unit)
        return true
    }

    override var kind: ContainmentKind { .cgroup }
    override var units: [String] { held.map { $0.group.name } }
    override var endsWhenEmpty: Bool { true }

    // MARK: Members

    /// Finds the members in the order of their starts.
    override func look() -> Look {
        let numbers = held.flatMap { $0.exists ? $0.group.group.processIDs() : [] }
        var look = Look(at: numbers.filter { $0 != getpid() && $0 != 1 })
        look.members = withoutHelpers(look.members.inOrderOfStart)
        return look
    }

    /// Leaves out the helpers that have left their parents, and what they have started: they serve other apps, too.
    private func withoutHelpers(_ members: [ProcessStatus]) -> [ProcessStatus] {
        let leaving = helpers.leaving(members, main: main)
        return leaving.isEmpty ? members : members.filter { !leaving.contains($0.pid) }
    }

    override func memberIDs() -> [ProcessID]? {
        helpers.names.isEmpty ? held.flatMap { $0.exists ? $0.group.group.processIDs() : [] } : members().pids
    }

    override func claims(_ process: ProcessStatus) -> Bool {
        guard let name = Cgroup.name(of: process.pid) else { return false }
        return held.contains { $0.group.group.contains(groupNamed: name) && $0.exists }
    }

    override var changeDescriptors: [Int32] { held.map { $0.events.descriptor.rawValue } }

    override func acknowledgeChange() -> Bool { held.count { $0.events.acknowledge() } > 0 }

    override func discard() { held = [] }

    // MARK: Freezing

    override var isAskedToFreeze: Bool { isFreezeRequested }

    override var mayStayFrozen: Bool { usesFreezer }

    override func freeze() -> Bool {
        isFreezeRequested = true
        for unit in held where unit.exists {
            if (try? unit.group.group.write("1", to: "cgroup.freeze")) == nil, unit.exists {
                thaw()
                return false
            }
        }
        return true
    }

    override func thaw() {
        guard isFreezeRequested else { return }
        isFreezeRequested = false
        for unit in held where (try? unit.group.group.write("0", to: "cgroup.freeze")) == nil && unit.exists {
            isFreezeRequested = true
        }
    }

    override var isFrozen: Bool {
        isFreezeRequested
            && held.allSatisfy { unit in
                guard let events = unit.group.group.events else { return !unit.exists }
                return events.isFrozen || !events.isPopulated
            }
    }
}

extension [ProcessStatus] {
    fileprivate var inOrderOfStart: [ProcessStatus] { sorted { ($0.startTime, $0.pid) < ($1.startTime, $1.pid) } }
}

extension ProcessTable {
    /// Makes a tree of the processes in the group of a unit. It is in the table until it is removed.
    ///
    /// The tree reaches only processes of the user of the main process, and ends with the last of them. The processes stay where
    /// they are. A stopped main process is continued.
    ///
    /// - Parameters:
    ///   - process: The main process, in the group.
    ///   - suspendMethod: The way to stop it. With the freezer, systemd does not thaw the unit when it stops it.
    /// - Returns: The tree, or nil when the process or the group has ended.
    public func adopt(
        _ process: consuming PinnedProcess, in group: UnitGroup, suspendMethod: SuspendMethod = .signal
    ) -> ProcessTree? {
        guard let status = ProcessStatus(of: process.pid), !status.isZombie, process.lives,
            let users = RunningProcess.users(of: process.pid)
        else { return nil }
        let containment = UnitContainment(
            [group], main: status.identity, usesFreezer: suspendMethod != .signal, helpers: helpers)
        guard containment.claims(status) else { return nil }
        let owner = TreeOwner(ofProcessWith: users)
        return insertAdopted(process, status, owner: owner, in: containment, by: suspendMethod) { saved in
            saved.units = [group.name]
        }
    }

    /// Adds the group of another unit to a tree of units. Watch its ``ProcessTree/changeDescriptors`` anew.
    ///
    /// - Parameters:
    ///   - group: The group of the unit.
    ///   - tree: A tree that is held by units.
    /// - Returns: False if the tree is of no units, or has the group already, or the group is gone.
    public func add(_ group: UnitGroup, to tree: ProcessTree) -> Bool {
        (tree.containment.base as? UnitContainment)?.add(group) ?? false
    }
}

extension ProcessTree {
    /// The groups of its units; empty for a tree that is not held by units.
    public var units: [String] { containment.units }
}

extension SavedTree {
    /// Returns the containment of a tree of units; nil if it is none.
    func unitContainment(helpers: HelperPrograms) -> UnitContainment? {
        guard !units.isEmpty else { return nil }
        return UnitContainment(
            units.compactMap { UnitGroup($0) }, main: main, usesFreezer: suspendMethod != .signal, helpers: helpers)
    }
}
