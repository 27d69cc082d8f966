import Glibc
import LifecycleCore
import Processes

/// The app that a process belongs to.
enum ProcessOwner: Equatable {
    case app(AppID)
    case noApp
    /// The process is one of an app that has ended, or its ancestry cannot be read.
    case unknown
}

extension AppProcesses {
    /// Returns the processes that may have left the tree and belong to no app.
    func strangers(youngerThan tree: ProcessTree) -> [ForeignProcess] {
        if hasSeenChildren { restoreSeen() }
        return table.strangers(youngerThan: tree)
    }

    /// Returns the owner of a process at this moment.
    ///
    /// Every process of an app is in a control group of the apps or, while the daemon lives that launched it, a descendant
    /// of the daemon, which is the subreaper. The process can change neither.
    func owner(of pid: ProcessID) -> ProcessOwner {
        guard let ancestry = Ancestry(of: pid) else { return .unknown }
        // A process of an app that was only seen may be anywhere.
        restoreSeen { ancestry.processes.contains($0.tree.main.pid) }
        var isInGroup = false
        if let groups = table.groups {
            guard let location = groups.location(of: pid) else { return .unknown }
            if case .helper(let name) = location { return .app(AppID(name)) }
            isInGroup = location == .app
            if isInGroup { restoreSeen(in: groups.groupName(of: pid)) }
            if isInGroup, let id = app(containing: pid) { return .app(id) }
        }
        if ancestry.reachesThisProcess, let id = app(amongMainProcesses: ancestry.processes) { return .app(id) }
        if !table.isHeldByGroupsAlone, let id = app(containing: pid) { return .app(id) }
        return isInGroup || ancestry.reachesThisProcess || table.mayHaveLost(pid) ? .unknown : .noApp
    }

    private func app(containing pid: ProcessID) -> AppID? {
        table.tree(containing: pid).flatMap { app(of: $0) }.map { core.id(of: $0.index) }
    }

    /// Returns the running app that a tree belongs to; nil after the end of the launch.
    func app(of tree: ProcessTree) -> RunningApp? {
        tree.owningApp.flatMap { running[AppIndex(number: $0)] }
    }

    func app(below pid: ProcessID) -> AppID? {
        running.values.first { app in
            app.isMainRunning && RunningProcess.ancestors(of: app.main.pid)?.contains(pid) ?? false
        }.map { core.id(of: $0.index) }
    }

    private func app(amongMainProcesses pids: [ProcessID]) -> AppID? {
        running.values.first { $0.isMainRunning && pids.contains($0.main.pid) }.map { core.id(of: $0.index) }
    }

    /// Returns the apps that a pipe or a Unix socket connects with an app. Looks at the open files of all apps, up to a limit.
    func appsConnected(to index: AppIndex?) -> [AppID] {
        guard let app = running[index] else { return [] }
        var left = OpenFileScan.limit
        let ends = PipeEnds(of: app.tree.processIDs, limit: &left)
        let sockets = (try? UnixSocket.all()) ?? []
        let peers = Dictionary(sockets.map { ($0.inode, $0.peer) }, uniquingKeysWith: { $1 })
        return running.filter { other, app in
            other != index && ends.areConnected(to: PipeEnds(of: app.tree.processIDs, limit: &left), peers: peers)
        }.map { core.id(of: $0.key) }.sorted()
    }
}
