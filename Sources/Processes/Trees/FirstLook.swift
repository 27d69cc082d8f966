import CLinux

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
            saved.strays.isEmpty, saved.exitStatus == nil
        else { return nil }
        return saved.main.livingStatus
    }
}

extension ProcessTable {
    /// More groups than apps can be kept.
    private static let groupLimit = 1 << 17

    /// Lists the control groups for a first look at trees. Set `cgroups` or `formerCgroups` before.
    public func firstLook() -> FirstLook {
        FirstLook(groups: Set(groups?.apps.children(limit: Self.groupLimit).map { $0.lastName } ?? []))
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
