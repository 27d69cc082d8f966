/// The part of a process tree that must be kept for a later process to restore it with `ProcessTable.restore`.
///
/// The numbers mean something until the next boot only: the record must be discarded then.
public struct SavedTree: Hashable, Sendable {
    /// The mark of the launch.
    public var token: LaunchToken
    /// The main process.
    public var main: ProcessIdentity
    /// The name of its cgroup below the apps' directory of `CgroupSubtree`; nil: it is held by its process group.
    public var cgroup: String?
    /// The way in which it is stopped.
    public var suspendMethod = SuspendMethod.signal
    /// The state that was wanted last.
    public var desiredState = ProcessTree.DesiredState.running
    /// Processes that another program had stopped before the tree was, so that resuming leaves them alone.
    public var heldBefore: [ProcessIdentity] = []
    /// The signals that the processes get when the tree is resumed.
    public var heldSignals: [Signal] = []
    /// The end of the main process, if it is known already.
    public var exitStatus: ExitStatus?
    /// A Boolean value that indicates whether the main process ran before it was put into a tree, see
    /// `ProcessTable.adopt`.
    public var isAdopted = false
    /// The cgroup in the hierarchy that the main process was in before; nil where it has stayed there.
    public var origin: String?
    /// The groups of the units of systemd that hold an adopted tree; empty for a tree that they do not hold.
    public var units: [String] = []
    /// The user that controls an adopted tree; nil in the records of an earlier version.
    public var owner: TreeOwner?
    /// Processes of an adopted tree without a cgroup that are not below the main one any more.
    public var strays: [ProcessIdentity] = []

    /// The record of a tree that runs, of which nothing else is known yet. Nothing is believed of it until the tree is restored.
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
        saved.suspendMethod = suspendMethod
        saved.desiredState = desiredState
        saved.heldBefore = Array(heldBefore.sorted { $0.pid < $1.pid }.prefix(Self.heldLimit))
        saved.heldSignals = heldSignals
        saved.exitStatus = exitStatus
        saved.isAdopted = isAdopted
        saved.origin = origin
        saved.owner = owner
        saved.units = units
        saved.strays = Array(strays.prefix(Self.heldLimit))
        return saved
    }
}
