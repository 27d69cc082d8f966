import Glibc

/// All process trees of the daemon, and which tree a process belongs to.
///
/// It alone waits for children: a second caller of waitpid(2) would take their ends away. It reports what happened as return values,
/// and decides nothing about apps, which it does not know.
public final class ProcessTable {
    private var treesByToken: [LaunchToken: ProcessTree] = [:]
    /// By main processes that are children: no other process gets such a number before it is reaped here.
    private var tokensByMain: [ProcessID: LaunchToken] = [:]
    /// By main processes that are no children.
    private var tokensByForeignMain: [ProcessIdentity: LaunchToken] = [:]
    /// By the kernel's numbers of the apps' cgroups.
    private var tokensByGroup: [UInt: LaunchToken] = [:]
    /// Trees whose main process ended: the end of any orphan may be the end of these.
    private var ending: Set<LaunchToken> = []
    /// Trees that were removed after the ends of their main processes, and whose descriptors are still open.
    private(set) var removedTrees: [ProcessTree] = []
    let orphans: Orphans
    /// Reads the arguments and the environments of processes.
    public let memory = ProcessMemory()
    /// The programs whose processes leave the trees that started them.
    let helpers = HelperPrograms()

    /// The parent of the cgroups of new trees; nil: they get keepers.
    public internal(set) var cgroups: CgroupSubtree?

    /// The program of the keepers.
    let keepers: KeeperProgram?

    /// The parent of the cgroups of restored trees, for a process that has none for new ones. Set it before the first is
    /// restored.
    public var previousCgroups: CgroupSubtree?

    /// The parent of the cgroups of trees, whether new ones get any or not.
    public var groups: CgroupSubtree? { cgroups ?? previousCgroups }

    /// Creates an empty table. There must be one only: it reaps every child of the process.
    ///
    /// - Parameters:
    ///   - cgroups: The parent of the cgroups of new trees; nil: they get keepers.
    ///   - keepers: The program of the keepers; nil if no tree has one.
    public init(cgroups: CgroupSubtree? = nil, keepers: KeeperProgram? = nil) {
        self.cgroups = cgroups
        self.keepers = keepers
        orphans = Orphans(helpers: helpers)
    }

    /// The trees, in no order.
    public var trees: some Collection<ProcessTree> { treesByToken.values }

    /// The number of main processes and keepers that are children.
    public var childCount: Int { orphans.childCount }

    /// The tree of a launch, as long as it has not been removed.
    public subscript(token: LaunchToken) -> ProcessTree? { treesByToken[token] }

    /// Starts a program as the main process of a new tree, which stays here until it is removed. The program is not
    /// executed before the tree's `begin()`.
    ///
    /// - Parameters:
    ///   - request: The program, and everything it is started with.
    ///   - name: The name that its cgroup is named after, if it gets one.
    ///   - suspendMethod: The way to stop it; without a cgroup always by signals.
    /// - Returns: The tree, whose main process waits for `begin()`.
    /// - Throws: ``SpawnError`` if the token is in use, the request contradicts itself, or the kernel refuses the process or its cgroup.
    public func launch(
        _ request: SpawnRequest, name: String = "unnamed", suspendMethod: SuspendMethod = .signal
    ) throws(SpawnError) -> ProcessTree {
        guard treesByToken[request.launchToken] == nil else {
            throw .invalidRequest("its launch token is in use")
        }
        discardRemovedTrees()
        let tree = try start(request, name: name, suspendMethod: suspendMethod)
        insert(tree)
        return tree
    }

    func insert(_ tree: ProcessTree) {
        treesByToken[tree.token] = tree
        tree.helpers = helpers
        // After a re-execution.
        if let keeper = tree.containment.keeper?.process, (try? keeper.readStatus())?.parent == getpid() {
            orphans.insertChild(keeper.pid)
        }
        if let group = tree.containment.groupNumber { tokensByGroup[group] = tree.token }
        if tree.exitStatus != nil {
            ending.insert(tree.token)
        } else if tree.isChild {
            orphans.insertChild(tree.main.pid)
            tokensByMain[tree.main.pid] = tree.token
        } else {
            tokensByForeignMain[tree.main] = tree.token
        }
    }

    /// Closes the descriptors of trees that were removed, and removes their groups, if they are empty. Nothing but the next launch
    /// waits for that.
    public func removeDiscardedGroups() {
        discardRemovedTrees()
        groups?.sweep()
    }

    private func discardRemovedTrees() {
        for tree in removedTrees { discard(tree) }
        removedTrees.removeAll()
    }

    private func discard(_ tree: ProcessTree) {
        tree.containment.discard()
        // Until now, the next daemon could have ended the keeper.
        if tree.containment.keeper != nil { keepers?.removeSocket(for: tree.token) }
    }

    /// Returns whether a tree is held by a group already.
    func isInUse(_ group: Cgroup) -> Bool { token(of: group) != nil }

    private func token(of group: Cgroup) -> LaunchToken? { group.number.flatMap { tokensByGroup[$0] } }

    private func start(
        _ request: SpawnRequest, name: String, suspendMethod: SuspendMethod
    ) throws(SpawnError) -> ProcessTree {
        let token = request.launchToken
        guard let cgroups else { return try startBelowKeeper(request, suspendMethod) }
        let group = try cgroups.makeGroup(for: name)
        do throws(SpawnError) {
            let process = try spawn(request, in: group)
            // It would tell of the birth of the process if it were watched before.
            let containment = try CgroupContainment.make(group, in: cgroups)
            // A file that was just opened tells of a change, and nothing has changed since.
            _ = containment.acknowledgeChange()
            containment.launch = .init(main: process.identity, orphans: orphans, helpers: helpers)
            return ProcessTree(process, token: token, containment: containment, suspendMethod: suspendMethod)
        } catch {
            cgroups.discard(group)
            throw error
        }
    }

    private func startBelowKeeper(
        _ request: SpawnRequest, _ suspendMethod: SuspendMethod
    ) throws(SpawnError) -> ProcessTree {
        guard let keepers else { throw .setUp(step: "find lifed-keeper", error: Errno(rawValue: ENOENT)) }
        let token = request.launchToken
        let listener = try keepers.listen(for: token)
        do throws(SpawnError) {
            let line = try keepers.connect(for: token)
            var request = request
            request.keeper = .init(program: keepers.path, input: listener.rawValue)
            let process = try spawn(request)
            extendLifetime(listener)
            guard let parent = process.keeper else {
                throw .setUp(step: "start a keeper", error: Errno(rawValue: ECHILD))
            }
            let keeper = Keeper(parent, line: line)
            guard keeper.begin(process.identity) else {
                let error = errno
                _ = SignalDelivery.send(.kill, to: parent)
                throw .failed("start a keeper", error)
            }
            let containment = KeeperContainment(
                keeper, main: process.identity, orphans: orphans, helpers: helpers)
            return ProcessTree(process, token: token, containment: containment, suspendMethod: suspendMethod)
        } catch {
            keepers.removeSocket(for: token)
            throw error
        }
    }

    /// Forgets a tree. Its processes, if it has any, become unrelated; a main process is still reaped.
    /// ``removeDiscardedGroups()`` closes what is held for a launched tree whose main process has ended.
    ///
    /// - Parameter token: The launch of the tree; an unknown one is ignored.
    public func remove(_ token: LaunchToken) {
        ending.remove(token)
        guard let tree = treesByToken.removeValue(forKey: token) else { return }
        if !tree.isChild { tokensByForeignMain[tree.main] = nil }
        if let group = tree.containment.groupNumber, tokensByGroup[group] == token { tokensByGroup[group] = nil }
        // A reply may wait for the end of an app. A tree that goes on is let go at once, with the gate of a child that waits at it.
        if tree.exitStatus == nil || tree.isAdopted { discard(tree) } else { removedTrees.append(tree) }
    }

    /// Returns the tree that a living process belongs to: by its main process, or as of the latest look at each tree,
    /// or by its keeper.
    ///
    /// - Parameter pid: The number of a process that has not been reaped.
    public func tree(containing pid: ProcessID) -> ProcessTree? {
        if let token = tokensByMain[pid] { return treesByToken[token] }
        // The kernel's word, and final.
        if let group = try? groups?.group(of: pid) { return token(of: group).flatMap { treesByToken[$0] } }
        guard let status = try? ProcessStatus(of: pid) else { return nil }
        if let token = tokensByForeignMain[status.identity] { return treesByToken[token] }
        return trees.first { !$0.containment.isGroupAlone && (try? $0.containment.claims(status)) == true }
    }

    /// A Boolean value that indicates whether each tree is held by its control group, and no process of a tree is known
    /// to be elsewhere. An app of the previous daemon that had no groups has none.
    public var isContainedByGroupsAlone: Bool { treesByToken.values.allSatisfy { $0.containment.isGroupAlone } }

    /// Returns the orphans that belong to no tree, for the log and for a clean end of the daemon.
    public func unrelatedProcesses() -> [ProcessStatus] {
        ((try? orphans.list()) ?? []).filter { orphan in
            treesByToken.values.allSatisfy { (try? $0.containment.claims(orphan)) == false }
        }
    }

    /// Returns those of them that may have left a tree: of its user, and younger.
    public func unrelatedProcesses(youngerThan tree: ProcessTree) -> [ForeignProcess] {
        guard let user = (try? RunningProcess.users(of: tree.main.pid))?.first else { return [] }
        return unrelatedProcesses().filter {
            $0.startTime >= tree.main.startTime && (try? RunningProcess.users(of: $0.pid))?.first == user
        }.map { ForeignProcess(info: ProcessInfo($0), user: user) }
    }
}

// MARK: - Reaping

extension ProcessTable {
    /// The result of one round of reaping.
    public struct Reaped: Hashable, Sendable {
        /// In the order in which they were taken from the kernel.
        public let events: [TreeEvent]
        /// False if the limit was reached: call again, the kernel does not tell that there is more.
        public let isComplete: Bool
    }

    /// Reads the changes of all children and reaps those that ended. Call it after every SIGCHLD.
    ///
    /// - Parameter limit: The number of changes to read at most, so that children that stop and continue without end
    ///   cannot keep the caller from its other work.
    /// - Returns: The events of trees, in order, and whether all changes were read.
    public func reap(limit: Int = 1024) -> Reaped { reap(limit: limit, Reaper.next) }

    /// Reads the changes of one child, at a cost that does not grow with the number of children.
    ///
    /// One SIGCHLD stands for any number of children, so call the other one as well, when there is time.
    ///
    /// - Parameter pid: The number of a child.
    /// - Returns: The events of its tree, in order.
    public func reap(child pid: ProcessID) -> Reaped {
        // Stopped, continued and ended: more can hardly have come together, and the other call reads the rest.
        var hasEnded = false
        return reap(limit: 3) {
            guard !hasEnded, let event = Reaper.next(of: pid) else { return nil }
            if case .ended = event.change { hasEnded = true }
            return event
        }
    }

    private func reap(limit: Int, _ next: () -> ChildEvent?) -> Reaped {
        var events: [TreeEvent] = []
        var somethingEnded = false
        var taken = 0
        // Each at once: the number of a child that was reaped may be another's after the next call.
        while taken < limit, let event = next() {
            taken += 1
            if case .ended = event.change {
                somethingEnded = true
                orphans.removeChild(event.pid)
            }
            if let treeEvent = attribute(event) { events.append(treeEvent) }
        }
        if somethingEnded {
            events += emptiedTrees()
            groups?.sweep()
        }
        return Reaped(events: events, isComplete: taken < limit)
    }

    private func attribute(_ event: ChildEvent) -> TreeEvent? {
        let tree: ProcessTree?
        if let token = tokensByMain[event.pid] {
            tree = treesByToken[token]
            if case .ended = event.change { tokensByMain[event.pid] = nil }
        } else if case .ended = event.change {
            // The number may be another's already.
            tree = trees.first { $0.stoppedMembers?.contains { $0.pid == event.pid } ?? false }
        } else {
            tree = self.tree(containing: event.pid)
        }
        return tree.flatMap { attribute(event, to: $0) }
    }

    private func attribute(_ event: ChildEvent, to tree: ProcessTree) -> TreeEvent? {
        let isMain = event.pid == tree.main.pid && tree.exitStatus == nil
        let isStopWanted = tree.desiredState == .stopped
        let change: TreeEvent.Change
        switch event.change {
        case .ended(let status) where isMain:
            return mainEnded(tree, status)
        case .ended(.exited) where isStopWanted:
            // A stopped process cannot exit: it was continued, and may have left another.
            change = .memberContinued(event.pid, asked: false)
        case .ended: return nil
        case .stopped(let signal):
            // It may be old news, of the time before this process was told.
            change =
                isMain ? .mainStopped(signal, asked: isStopWanted || !tree.isMainStopped) : .memberStopped(event.pid)
        case .continued:
            let isAsked = tree.allowsContinuing(event.pid)
            change = isMain ? .mainContinued(asked: isAsked) : .memberContinued(event.pid, asked: isAsked)
        }
        return TreeEvent(tree: tree.token, change: change)
    }

    /// Returns the end of each tree that waited for its last process. `acknowledgeChange(of:)` reports the trees whose last
    /// process is no child of this process.
    private func emptiedTrees() -> [TreeEvent] {
        let emptied = ending.filter { treesByToken[$0]?.isEmpty ?? true }
        ending.subtract(emptied)
        return emptied.map { TreeEvent(tree: $0, change: .emptied) }
    }
}

// MARK: - Main processes that are no children

extension ProcessTable {
    /// Looks whether the main process of an adopted tree has ended, and whether anything is left of the tree.
    ///
    /// Call it when the tree's `mainDescriptor` is readable, when a process of its `processesAskedFirst` has ended, and at intervals for a tree without one, without a change descriptor after
    /// that end, or that could not be looked at. `reap(limit:)` reports the end of a main process that is a child.
    ///
    /// - Parameter token: The launch of the tree.
    /// - Returns: The end of the main process and of the tree, if they have ended; each is told once.
    public func checkMain(of token: LaunchToken) -> [TreeEvent] {
        guard let tree = treesByToken[token] else { return [] }
        var events = readNews(of: tree)
        if let status = tree.endOfForeignMain() { events.append(mainEnded(tree, status)) }
        tree.askOthersIfDue()
        if ending.contains(token) || tree.containment.endsWhenEmpty, tree.isEmpty {
            ending.remove(token)
            events.append(TreeEvent(tree: token, change: .emptied))
        }
        return events
    }

    private func mainEnded(_ tree: ProcessTree, _ status: WaitStatus) -> TreeEvent {
        tokensByForeignMain[tree.main] = nil
        tree.mainWasReaped(status)
        ending.insert(tree.token)
        tree.askOthersIfDue()
        return TreeEvent(tree: tree.token, change: .mainEnded(status))
    }

    /// Reads what the keeper of a tree tells. Call `ProcessTree.confirmNews()` when the events are on record.
    private func readNews(of tree: ProcessTree) -> [TreeEvent] {
        guard let keeper = tree.containment.keeper else { return [] }
        var events: [TreeEvent] = []
        while let news = keeper.next() {
            if let event = attribute(news, to: tree) { events.append(event) }
        }
        // A keeper ends by itself when no process is left, and all was read.
        if !keeper.isConnected, (try? keeper.hasEnded()) == true, tree.desiredState != .ended, !tree.isEmpty {
            events.append(TreeEvent(tree: tree.token, change: .keeperEnded))
        }
        return events
    }
}

// MARK: - Changes of cgroups

extension ProcessTable {
    /// Handles a change that a change descriptor of the tree told of.
    ///
    /// - Parameter token: The launch of the tree.
    /// - Returns: Its events, or nil if the descriptors are of no more use and must not be watched any longer.
    public func acknowledgeChange(of token: LaunchToken) -> [TreeEvent]? {
        guard let tree = treesByToken[token] else { return nil }
        let isOfUse = tree.containment.acknowledgeChange()
        if tree.containment.endsWhenEmpty {
            // The group of a unit may go with the last process.
            let events = checkMain(of: token)
            if !events.isEmpty { return events }
        }
        guard isOfUse else { return nil }
        if ending.contains(token), tree.isEmpty {
            ending.remove(token)
            return [TreeEvent(tree: token, change: .emptied)]
        }
        return tree.wasThawed ? [TreeEvent(tree: token, change: .thawed)] : []
    }
}

extension CgroupContainment {
    /// Creates a containment, with the error of a launch.
    fileprivate static func make(_ group: Cgroup, in subtree: CgroupSubtree) throws(SpawnError) -> CgroupContainment {
        do throws(Errno) {
            return try CgroupContainment(group: group, subtree: subtree)
        } catch {
            throw .failed("watch a control group", error.rawValue)
        }
    }
}

/// Starts a program in a cgroup.
private func spawn(_ request: SpawnRequest, in group: Cgroup) throws(SpawnError) -> SpawnedProcess {
    let directory = try openForLaunch(group.directory, O_RDONLY | O_DIRECTORY, "open a control group")
    var request = request
    request.cgroup = directory.rawValue
    let process = try spawn(request)
    extendLifetime(directory)
    return process
}

/// Something that happened to a process tree.
public struct TreeEvent: Hashable, Sendable {
    /// A change of a process tree.
    public enum Change: Hashable, Sendable {
        /// The main process ended and has been reaped. Others of the tree may go on.
        case mainEnded(WaitStatus)
        /// `asked` is false when it was not this program that wanted the tree stopped.
        case mainStopped(Signal, asked: Bool)
        /// `asked` is false if the tree should be stopped: another program sent SIGCONT.
        case mainContinued(asked: Bool)
        /// A process of the tree that was adopted has stopped; `StopCheck` says what it means for the tree.
        case memberStopped(ProcessID)
        /// The same as `mainContinued`, for an adopted process. The children of a living process of the tree are
        /// reported to their parent only.
        case memberContinued(ProcessID, asked: Bool)
        /// Another program thawed a tree that should be stopped.
        case thawed
        /// The keeper was killed. The processes that were seen can still be ended; others may have become unrelated ones. It is told
        /// until the tree is asked to end.
        case keeperEnded
        /// The main process and all others have ended.
        case emptied
    }

    /// The launch it happened to.
    public let tree: LaunchToken
    /// The change of the tree or of one of its processes.
    public let change: Change
}
