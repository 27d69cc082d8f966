import Configuration
import LifecycleCore
import Processes

/// The saved state of an app's processes.
struct LaunchRecord {
    var tree: SavedTree
    var exitPolicy: Manifest.ExitPolicy
    /// The instant at which the core asked for the launch; identifies the launch among those of the app.
    var launched: Instant?
    /// A Boolean value that indicates whether SIGTERM has been sent. A second one makes many programs exit at once.
    var isAskedToEnd = false
    /// A Boolean value that indicates whether the core knows that the main process has ended.
    var hasReportedExit = false
}

extension LaunchRecord: SavedTable {
    /// Reads a record; nil if it does not name a process.
    ///
    /// - Parameter desiredState: The state of the processes that the core wanted.
    init?(_ record: SavedRecord, desiredState: ProcessTree.DesiredState) {
        var reader = RecordReader(record)
        guard let token: LaunchToken = reader.item("token", nil), let main: ProcessIdentity = reader.item("main", nil)
        else { return nil }
        tree = SavedTree(token: token, main: main)
        tree.desiredState = desiredState
        exitPolicy = .main
        codeRest(with: &reader)
    }

    mutating func code(with coder: inout some SavedCoder) {
        coder.item("token", &tree.token)
        coder.item("main", &tree.main)
        codeRest(with: &coder)
    }

    private mutating func codeRest(with coder: inout some SavedCoder) {
        coder.text("cgroup", &tree.cgroup)
        coder.word("suspend-method", &tree.suspendMethod)
        coder.word("exit-policy", &exitPolicy)
        coder.instant("launched", &launched)
        coder.flag("asked-to-end", &isAskedToEnd)
        coder.flag("exit-reported", &hasReportedExit)
        coder.list("held-before", &tree.heldBefore)
        coder.item("main-ended", &tree.exitStatus)
        coder.flag("taken-in", &tree.isAdopted)
        coder.text("origin", &tree.origin)
        var owner = tree.owner?.user
        coder.user("owner", &owner)
        tree.owner = owner.map { TreeOwner(user: $0) }
        coder.list("stray", &tree.strays)
        coder.list("unit", &tree.units)
        var signals = tree.heldSignals.map { String($0.rawValue) }
        coder.list("held-signal", &signals)
        tree.heldSignals = signals.compactMap { Int32($0) }.map { Processes.Signal(rawValue: $0) }
    }
}
