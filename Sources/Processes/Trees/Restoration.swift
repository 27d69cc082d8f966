import Glibc

/// The part of a process tree that must be kept for a later process to restore it with `ProcessTable.restore`.
///
/// The numbers mean something until the next boot only: the record must be discarded then.
public struct SavedTree: Hashable, Sendable {
    /// The mark of the launch.
    public var token: LaunchToken
    /// The number and the start time of the main process.
    public var main: ProcessIdentity
    /// The name of its cgroup below the apps' directory of `CgroupSubtree`; nil for none.
    public var cgroup: String?
    /// The parent of a launched tree without a cgroup.
    public var keeper: ProcessIdentity?
    /// The way in which it is stopped.
    public var suspendMethod = SuspendMethod.signal
    /// The state that was wanted last.
    public var desiredState = ProcessTree.DesiredState.running
    /// Processes that another program had stopped before the tree was, so that resuming leaves them alone.
    public var stoppedByOthers: [ProcessIdentity] = []
    /// The signals that the processes get when the tree is resumed.
    public var signalsForLater: [Signal] = []
    /// The end of the main process, if it is known already.
    public var exitStatus: WaitStatus?
    /// A Boolean value that indicates whether the main process ran before it was put into a tree, see
    /// `ProcessTable.adopt`.
    public var isAdopted = false
    /// The cgroup in the hierarchy that the main process was in before; nil where it has stayed there.
    public var origin: String?
    /// The groups of the units of systemd that hold an adopted tree; empty for a tree that they do not hold.
    public var units: [String] = []
    /// The user that controls an adopted tree; nil for a tree that was launched.
    public var owner: TreeOwner?
    /// The processes that nothing but being known makes members: of a tree with a keeper, for the case that it is killed.
    public var escaped: [ProcessIdentity] = []
    /// The signal that has asked the tree to end; nil for none.
    public var endSignal: Signal?
    /// The processes that have got it, if the others get it when these have ended.
    public var askedFirst: [ProcessIdentity] = []

    /// The record of a running tree. Nothing in it is trusted until the tree is restored.
    ///
    /// - Parameters:
    ///   - token: The mark of the launch.
    ///   - main: The main process.
    public init(token: LaunchToken, main: ProcessIdentity) {
        self.token = token
        self.main = main
    }
}

extension ProcessTree {
    /// A tree of thousands of stopped processes must not fill the record: those that are left out are resumed with the
    /// others.
    private static let heldLimit = 256

    /// The record of the tree as it is now.
    public var saved: SavedTree {
        var saved = SavedTree(token: token, main: main)
        saved.cgroup = containment.groupName
        saved.keeper = containment.keeper?.process
        saved.suspendMethod = suspendMethod
        saved.desiredState = desiredState
        saved.stoppedByOthers = Array(stoppedByOthers.sorted { $0.pid < $1.pid }.prefix(Self.heldLimit))
        saved.signalsForLater = signalsForLater
        saved.exitStatus = exitStatus
        saved.isAdopted = isAdopted
        saved.origin = origin
        saved.owner = owner
        saved.units = units
        saved.escaped = Array(escaped.prefix(Self.heldLimit))
        switch endRequest {
        case .none: break
        case .first(let first, let signal): (saved.askedFirst, saved.endSignal) = (first, signal)
        case .all(let signal): saved.endSignal = signal
        }
        return saved
    }
}

extension SavedTree {
    var endRequest: EndRequest {
        guard let endSignal else { return .none }
        return askedFirst.isEmpty ? .all(endSignal) : .first(askedFirst, endSignal)
    }
}

/// The remains of a tree that an earlier process had launched.
public enum Restoration {
    /// Something of it is left, and it is in the table. When its main process has ended, `exitStatus` of the tree says
    /// how, and no event will.
    case alive(ProcessTree)
    /// Nothing is left. The end of the main process is `unknown` if the kernel does not tell it.
    case ended(WaitStatus)
}

extension ProcessTable {
    /// Restores a tree that an earlier process launched in this boot.
    ///
    /// Set `cgroups` or `previousCgroups` before. Call `reap()` and `checkMain(of:)` afterwards, because an earlier change is told once
    /// only.
    ///
    /// - Parameters:
    ///   - saved: The tree as `ProcessTree.saved` kept it.
    ///   - pidfd: A descriptor of the main process that was kept open; nil for none. A descriptor of another process is ignored.
    /// - Returns: The tree, or the end of its main process if nothing is left.
    public func restore(_ saved: SavedTree, pidfd: consuming Descriptor? = nil) -> Restoration {
        if let tree = self[saved.token] { return .alive(tree) }
        let group = saved.cgroup.flatMap { groups?.group(named: $0) }.flatMap { isInUse($0) ? nil : $0 }
        let containment: Containment =
            cgroupContainment(of: group, holding: saved) ?? (try? saved.unitContainment(helpers: helpers))
            ?? saved.containmentWithoutGroup(keepers: keepers, helpers: helpers)
        // A wrong record cannot name a stranger: processes are recognized by their number and start, and the main process, unless a
        // pidfd vouches for it, by its cgroup too.
        var main = FoundMain(
            saved, pidfd: pidfd, group: group, of: groups, isReported: containment.keeper?.isConnected == true)
        let exitStatus = main.exitStatus
        if containment.endsWhenEmpty, containment.isSeenEmpty() {
            return .ended(exitStatus ?? .unknown)
        }
        if exitStatus != nil { containment.leaderWasReaped() }
        if let exitStatus, containment.isSeenEmpty() {
            containment.discard()
            return .ended(exitStatus)
        }
        var saved = saved
        // Part of the record may be damaged.
        if saved.isAdopted, saved.owner == nil { saved.owner = owner(of: saved.main, heldBy: containment) }
        let tree = ProcessTree(
            restoring: saved, isChild: main.isChild, pidfd: main.takeDescriptor(), exitStatus: exitStatus,
            containment: containment)
        insert(tree)
        return .alive(tree)
    }

    /// Returns the owner of a tree that was kept without one: that of the main process, or of the oldest one left.
    private func owner(of main: ProcessIdentity, heldBy containment: Containment) -> TreeOwner {
        let members = containment.members()
        let process = members.first { $0.identity == main } ?? members.first
        return TreeOwner(ofProcessWith: process.flatMap { try? RunningProcess.users(of: $0.pid) } ?? [])
    }

    private func cgroupContainment(of group: Cgroup?, holding saved: SavedTree) -> CgroupContainment? {
        guard let group, let groups else { return nil }
        let found = try? CgroupContainment(group: group, subtree: groups, isAskedToFreeze: group.isAskedToFreeze)
        // Earlier changes are seen by the next look; without this, each group would tell of them once more.
        _ = found?.acknowledgeChange()
        found?.launch = .init(main: saved.main, orphans: orphans, helpers: helpers)
        found?.outside = Set(saved.escaped)
        // Nothing else thaws the group of a tree that is held by signals alone from now on.
        if found == nil, group.isAskedToFreeze { try? group.write("0", to: "cgroup.freeze") }
        return found
    }
}

extension Containment {
    fileprivate func isSeenEmpty() -> Bool { (try? look().all())?.isEmpty ?? false }
}

/// The state of the main process of a saved tree. If it cannot be read, the process counts as running, and is looked at again.
private struct FoundMain: ~Copyable {
    /// Nil while it runs, and for a child until it is reaped.
    private(set) var exitStatus: WaitStatus?
    private(set) var isChild = false
    /// A pidfd of it. There may be none while it runs, when there is no room for one.
    private var descriptor: Descriptor?

    /// - Parameter isReported: Whether a keeper tells the end of the process.
    init(
        _ saved: SavedTree, pidfd: consuming Descriptor?, group: Cgroup?, of groups: CgroupSubtree?, isReported: Bool
    ) {
        let main = saved.main
        exitStatus = saved.exitStatus
        guard exitStatus == nil else { return }
        var isKept = false
        let found: ProcessStatus?
        do throws(Errno) {
            isKept = try pidfd?.target() == .process(main.pid)
            descriptor = isKept ? pidfd.take() : ProcessDescriptor.open(main.pid)
            // The process that has the number while the descriptor is open is the one that the descriptor stands for.
            let status = try main.readStatus()
            let isMain = try isKept || status?.isZombie == true ? true : Self.isInPlace(main.pid, group, of: groups)
            found = isMain ? status : nil
        } catch {
            if !isKept { descriptor = nil }
            return
        }
        guard let status = found else {
            let reaped = isKept ? descriptor.take() : pidfd.take()
            exitStatus = isReported ? nil : reaped?.exitStatus ?? .unknown
            descriptor = nil
            return
        }
        isChild = status.parent == getpid()
        if status.isZombie && !isChild && !isReported {
            exitStatus = .ofProcess(main, descriptor: descriptor?.rawValue)
        }
    }

    /// Returns whether a process is in the group, or in none, because systemd has moved it.
    private static func isInPlace(
        _ pid: ProcessID, _ group: Cgroup?, of groups: CgroupSubtree?
    ) throws(Errno) -> Bool {
        guard let group else { return true }
        if let name = try Cgroup.name(of: pid), group.contains(groupNamed: name) { return true }
        guard let groups else { return false }
        return try !groups.isInAnyGroup(pid)
    }

    mutating func takeDescriptor() -> Descriptor? { descriptor.take() }
}

extension Descriptor {
    fileprivate func target() throws(Errno) -> ProcessDescriptor.Target { try ProcessDescriptor.target(of: rawValue) }
    fileprivate var exitStatus: WaitStatus? { ProcessDescriptor.exitStatus(rawValue) }
}

/// A look at the main processes of the trees of an earlier process: one read for each, and one list of the control groups.
///
/// The restoration of a tree that it finds may wait. Until then nothing is known of the tree but that its main process runs.
public struct FirstLook {
    private let groups: Set<String>

    init(groups: Set<String>) { self.groups = groups }

    /// Returns the main process of a launch, if it runs and the control group of the launch is there. Nil for a tree that is held in
    /// any other way, and for one of which more than that must be known.
    public func mainProcess(of saved: SavedTree) -> ProcessStatus? {
        guard let group = saved.cgroup, groups.contains(group), !saved.isAdopted, saved.units.isEmpty,
            saved.escaped.isEmpty, saved.exitStatus == nil
        else { return nil }
        return try? saved.main.readLivingStatus()
    }
}

extension ProcessTable {
    /// Lists the control groups for a first look at trees. Set `cgroups` or `previousCgroups` before.
    public func firstLook() -> FirstLook {
        let found = try? groups?.apps.children(limit: CgroupSubtree.groupLimit)
        return FirstLook(groups: Set((found ?? []).map { $0.lastName }))
    }

    /// Restores a tree, as ``restore(_:pidfd:)`` does.
    ///
    /// - Parameters:
    ///   - saved: The tree as `ProcessTree.saved` kept it.
    ///   - pidfd: A descriptor of the main process that was kept open; nil for none.
    /// - Returns: The tree. If nothing of it is left, it is empty, and `exitStatus` is the end of its main process.
    public func restoreInAnyCase(_ saved: SavedTree, pidfd: consuming Descriptor?) -> ProcessTree {
        switch restore(saved, pidfd: pidfd) {
        case .alive(let tree): return tree
        case .ended(let status):
            let tree = ProcessTree(
                restoring: saved, isChild: false, pidfd: nil, exitStatus: status, containment: Containment())
            insert(tree)
            return tree
        }
    }
}
