import LifecycleCore
import Processes

/// The launch of an app of a former daemon whose main process has been seen to run, and of which nothing else is known yet.
final class SeenApp {
    let launch: LaunchRecord
    /// The launch as the former daemon has saved it.
    let saved: SavedRecord
    /// The changes that the former daemon has made to the resources of the processes; nil for none.
    var resources: ResourceRecord?
    private var pidfd: Descriptor?

    /// - Parameter pidfd: The pidfd of the main process; nil if none was stored.
    init(_ launch: LaunchRecord, saved: SavedRecord, pidfd: consuming Descriptor?) {
        self.launch = launch
        self.saved = saved
        self.pidfd = consume pidfd
    }

    /// The stored pidfd of the main process, for a successor.
    var pidfdNumber: Int32? { pidfd?.rawValue }

    /// Restores the tree. If nothing is left of it, it is empty and has an exit status.
    func restore(in table: ProcessTable) -> ProcessTree {
        let tree = table.restoreInAnyCase(launch.tree, pidfd: pidfd.take())
        if let resources { tree.restore(resources) }
        return tree
    }
}
