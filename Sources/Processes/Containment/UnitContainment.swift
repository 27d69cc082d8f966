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
    /// - Throws: The error of a read that fails.
    public init?(_ name: String) throws(Errno) {
        guard let own = try Cgroup.ofThisProcess() else { return nil }
        let name =
            name.utf8.first == UInt8(ascii: "/") ? String(decoding: name.utf8.dropFirst(), as: UTF8.self) : name
        guard !name.isEmpty, let found = try Cgroup.existing(at: "\(own.mountPoint)/\(name)"),
            !found.contains(groupNamed: own.name)
        else { return nil }
        group = found
    }

    /// Returns the processes of this moment that have not ended, in the order of their starts; none if they cannot be read.
    public func processIDs() -> [ProcessID] {
        ((try? Look(at: group.processIDs()).all()) ?? []).inOrderOfStart.pids
    }

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

        func processIDs() throws(Errno) -> [ProcessID] {
            exists ? try group.group.processIDs().filter { $0 != getpid() && $0 != 1 } : []
        }
    }

    private var held: [Unit] = []
    private let main: ProcessIdentity
    private let helpers: HelperPrograms
    /// True if the units may stay frozen. systemd does not learn of it, and does not thaw a unit when it is stopped.
    private let usesFreezer: Bool
    private var isFreezeRequested: Bool

    /// - Parameter groups: Those that are gone are left out.
    init(
        _ groups: [UnitGroup], main: ProcessIdentity, usesFreezer: Bool, helpers: HelperPrograms
    ) throws(Errno) {
        self.main = main
        self.usesFreezer = usesFreezer
        self.helpers = helpers
        isFreezeRequested = groups.contains { $0.group.isAskedToFreeze }
        for group in groups {
            do throws(Errno) { held.append(try Unit(group)) } catch { try ProcFile.throwUnlessGone(error.rawValue) }
        }
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
        var look = Look()
        for unit in held {
            for number in look.reading({ () throws(Errno) in try unit.processIDs() }) ?? [] { look.add(number) }
        }
        look.members = look.members.inOrderOfStart
        look.removeHelpers(helpers, of: main)
        return look
    }

    override func memberIDs() throws(Errno) -> [ProcessID]? {
        guard helpers.names.isEmpty else { return try look().all().pids }
        var numbers: [ProcessID] = []
        for unit in held { numbers += try unit.processIDs() }
        return numbers
    }

    override func claims(_ process: ProcessStatus) throws(Errno) -> Bool {
        guard let name = try Cgroup.name(of: process.pid) else { return false }
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

    override func isFrozen() throws(Errno) -> Bool {
        for unit in held where unit.exists {
            if let events = try unit.group.group.readEvents(), events.isPopulated, !events.isFrozen { return false }
        }
        return isFreezeRequested
    }
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
        guard let status = try? ProcessStatus(of: process.pid), !status.isZombie, process.lives,
            let users = try? RunningProcess.users(of: process.pid),
            let containment = try? UnitContainment(
                [group], main: status.identity, usesFreezer: suspendMethod != .signal, helpers: helpers),
            (try? containment.claims(status)) == true
        else { return nil }
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
    func unitContainment(helpers: HelperPrograms) throws(Errno) -> UnitContainment? {
        guard !units.isEmpty else { return nil }
        var groups: [UnitGroup] = []
        for unit in units { if let group = try UnitGroup(unit) { groups.append(group) } }
        return try UnitContainment(groups, main: main, usesFreezer: suspendMethod != .signal, helpers: helpers)
    }
}
