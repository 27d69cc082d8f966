import Glibc

/// What runs again of the processes that an earlier process has left stopped or frozen, and that this one does not restore.
public struct ResumedLeftovers: Hashable, Sendable {
    /// A process that was stopped and runs again.
    public struct Continued: Hashable, Sendable {
        /// The number and the start time of the process.
        public let process: ProcessIdentity
        /// The kernel's short name of its program.
        public let name: String
    }

    /// Something that stays as it was.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// The action that failed: a verb, and a process or a cgroup.
        public let action: String
        /// The error of the kernel.
        public let error: Errno

        /// One line, without a full stop.
        public var description: String { "cannot \(action): \(error); do that as root" }
    }

    /// The paths of the cgroups that were thawed.
    public var thawed: [String] = []
    /// The processes that were continued, those of a frozen group only if they were stopped besides.
    public var continued: [Continued] = []
    /// The processes and groups that stay as they were.
    public var failures: [Failure] = []

    /// True if anything was stopped or frozen, and is not any more.
    public var hasResumed: Bool { !continued.isEmpty || !thawed.isEmpty }
}

extension ResumedLeftovers {
    /// Thaws groups, and continues every process in them and in the trees, except those that another program had stopped before the
    /// trees were. Doing it again does no harm.
    fileprivate init(_ groups: [Cgroup], in cgroups: CgroupSubtree?, _ trees: [SavedTree]) {
        let others = trees.filter { tree in tree.cgroup.flatMap { cgroups?.group(named: $0) } == nil }
        let escaped = Set(trees.flatMap { $0.escaped })
        let helpers = HelperPrograms()
        let members =
            groups.flatMap { (try? $0.ownProcessIDs()) ?? [] }.compactMap { try? ProcessStatus(of: $0) }
            + escaped.compactMap { try? $0.readStatus() }
            + others.flatMap { tree in
                let units = try? tree.unitContainment(helpers: helpers)
                return (units ?? tree.containmentWithoutGroup(keepers: nil, helpers: helpers)).members()
            }

        // SIGCONT before thawing: it takes back a SIGSTOP that waits for the thaw.
        resume(members, except: Set(trees.flatMap { $0.stoppedByOthers }))
        let units = trees.flatMap { $0.units }.compactMap { (try? UnitGroup($0))?.group }
        for group in groups + units where group.isAskedToFreeze { thaw(group) }
    }

    private mutating func resume(_ members: [ProcessStatus], except excepted: Set<ProcessIdentity>) {
        // All are asked before the first is continued, and may wait for another one in vfork(2).
        let stopped = Set(members.filter { !$0.isZombie && (try? $0.isStopped(among: members)) == true }.identities)
        var done: Set<ProcessIdentity> = []
        for member in DescentOrder(members).bottomUp
        where !excepted.contains(member.identity) && done.insert(member.identity).inserted {
            let error = SignalDelivery.send(.resume, to: member.identity)
            guard stopped.contains(member.identity) else { continue }
            if let error {
                failures.append(Failure(action: "continue \(ProcessInfo(member).subject)", error: error))
            } else {
                continued.append(Continued(process: member.identity, name: member.name))
            }
        }
    }

    private mutating func thaw(_ group: Cgroup) {
        do throws(Errno) {
            try group.write("0", to: "cgroup.freeze")
            thawed.append(group.path)
        } catch {
            // A group that is gone holds no process.
            guard ![ENOENT, ENODEV].contains(error.rawValue) else { return }
            failures.append(Failure(action: "thaw \(group.path)", error: error))
        }
    }
}

extension ProcessTable {
    /// Ends what an earlier process has left and this one does not restore: asks it to end, and kills what is left after the timeout.
    /// Returns when that is done. Releases adopted trees. Call it while the table is empty.
    ///
    /// - Parameters:
    ///   - saved: The trees, as far as they are known. What is in other groups below the apps' directory, or below other keepers, is
    ///     ended, too.
    ///   - timeout: The time that the processes have to end.
    public func endLeftovers(_ saved: [SavedTree], timeout: Duration) {
        for tree in saved + unknownTrees(besides: saved) {
            guard case .alive(let tree) = restore(tree) else { continue }
            guard tree.isAdopted else {
                tree.terminate()
                continue
            }
            release(tree)
            remove(tree.token)
        }
        let killing = ContinuousClock.now + timeout
        while !trees.isEmpty, .now < killing + Self.timeAfterKill {
            _ = reap()
            for tree in trees {
                _ = checkMain(of: tree.token)
                _ = tree.containment.acknowledgeChange()
                if .now >= killing { tree.kill() }
                if tree.isEmpty { remove(tree.token) }
            }
            waitForEnd()
        }
        for tree in trees { remove(tree.token) }
        removeDiscardedGroups()
    }

    private static var timeAfterKill: Duration { .seconds(2) }
    /// In milliseconds. The kernel does not tell of the end of a process that has left its group, and a process can fork faster than
    /// it is found and killed.
    private static let longestWait: Int32 = 100

    /// Waits until a process of a tree has ended.
    private func waitForEnd() {
        let news = trees.compactMap { tree in
            tree.exitStatus == nil || tree.containment.keeper?.isConnected == true
                ? tree.newsDescriptor ?? tree.mainDescriptor : nil
        }
        var descriptors = news.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        for descriptor in trees.flatMap(\.changeDescriptors) {
            descriptors.append(pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0))
        }
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), trees.isEmpty ? 0 : Self.longestWait)
    }

    /// Returns a tree for each group of an app that processes are in, and for each keeper, that belongs to none of these trees.
    private func unknownTrees(besides saved: [SavedTree]) -> [SavedTree] {
        let known = Set(saved.compactMap(\.cgroup))
        let others = (try? groups?.removeGroups { known.contains($0.lastName) }) ?? []
        let trees: [SavedTree] = others.compactMap { group in
            let numbers = (try? group.processIDs()) ?? []
            guard let main = numbers.lazy.compactMap({ (try? ProcessStatus(of: $0))?.identity }).first else {
                return nil
            }
            var tree = SavedTree(token: .random(), main: main)
            tree.cgroup = group.lastName
            tree.desiredState = .stopped
            return tree
        }
        return trees + (keepers?.takeUnknownTrees(besides: Set(saved.map(\.token))) ?? [])
    }
}

extension ProcessTable {
    /// Removes the groups of apps that an earlier process has left and that have ended, and resumes what else it has left, in groups
    /// and below keepers: nothing continues or thaws that later. Call it when all trees of that process are in the table that could
    /// be restored.
    ///
    /// - Parameter unmanaged: The trees that could not be restored.
    /// - Returns: The result for the processes in no tree.
    public func endRestoration(unmanaged: [SavedTree] = []) -> ResumedLeftovers {
        let left = (try? groups?.removeGroups(unless: isInUse)) ?? []
        let kept = keepers?.takeUnknownTrees(besides: Set((trees + removedTrees).map(\.token))) ?? []
        let all = left.flatMap { (try? $0.withDescendants()) ?? [$0] }
        let resumed = ResumedLeftovers(all, in: groups, unmanaged + kept)
        for tree in kept { keepers?.release(tree.token) }
        return resumed
    }
}
