import Glibc

extension ProcessTable {
    /// Makes a tree of a process that another program has launched, with all its descendants.
    ///
    /// It is in the table until it is removed, and reaches only processes of its owner, the user of the process. A stopped process is
    /// continued.
    ///
    /// - Parameters:
    ///   - process: The process, whose descriptor the tree takes.
    ///   - name: The name that its cgroup is named after, if it gets one.
    ///   - suspendMethod: The way to stop it; without a cgroup always by signals.
    /// - Returns: The tree; nil if the process has ended.
    public func adopt(
        _ process: consuming PinnedProcess, name: String, suspendMethod: SuspendMethod = .signal
    ) -> ProcessTree? {
        guard let status = try? ProcessStatus(of: process.pid), !status.isZombie, process.lives else { return nil }
        let main = status.identity
        // Of a process that has ended meanwhile nothing can be reached.
        guard let users = try? RunningProcess.users(of: process.pid) else { return nil }
        let owner = TreeOwner(ofProcessWith: users)
        let descent = DescentContainment(main: main, known: [])
        let origin = try? Cgroup.name(of: main.pid)
        let group = enclose(descent.limited(to: owner, origin: nil), origin: origin, name: name)
        // Without cgroups, or in another unit of systemd's, the processes stay where they are, held by descent. A process that was seen
        // stays a member whatever becomes of its parents.
        if group == nil { _ = descent.members() }
        return insertAdopted(process, status, owner: owner, in: group ?? descent, by: suspendMethod) { saved in
            saved.cgroup = group?.groupName
            saved.origin = group == nil ? nil : origin
        }
    }

    /// Makes a tree of a process in its containment, and continues it if it is stopped.
    func insertAdopted(
        _ process: consuming PinnedProcess, _ status: ProcessStatus, owner: TreeOwner, in containment: Containment,
        by suspendMethod: SuspendMethod, _ complete: (inout SavedTree) -> Void
    ) -> ProcessTree {
        var saved = SavedTree(token: .random(), main: status.identity)
        saved.suspendMethod = suspendMethod
        saved.isAdopted = true
        saved.owner = owner
        complete(&saved)
        let tree = ProcessTree(
            restoring: saved, isChild: false, pidfd: process.takeDescriptor(), exitStatus: nil,
            containment: containment, isNew: true)
        insert(tree)
        if status.state == .stopped { tree.resume() }
        return tree
    }

    /// Lets the processes of an adopted tree run on, in the cgroup that they came from. Remove the tree then.
    ///
    /// - Parameter tree: An adopted tree of this table.
    public func release(_ tree: ProcessTree) {
        tree.resume()
        if let group = tree.cgroup, let origin = tree.origin {
            Relocation(to: Cgroup(mountPoint: group.mountPoint, name: origin)).empty(group)
        }
    }

    /// Moves all processes into a new cgroup; nil if there are none, or if they may not be moved.
    private func enclose(_ descent: Containment, origin: String?, name: String) -> CgroupContainment? {
        guard let cgroups, let origin, let group = try? cgroups.makeGroup(for: name) else { return nil }
        do throws(Errno) {
            let containment = try CgroupContainment(group: group, subtree: cgroups)
            try Relocation(to: group).move(descent, fromUnitOf: try Cgroup.name(of: getpid()))
            containment.completeSetUp()
            return containment
        } catch {
            Relocation(to: Cgroup(mountPoint: group.mountPoint, name: origin)).empty(group)
            cgroups.discard(group)
            return nil
        }
    }
}

extension ProcessTree {
    /// Its processes, as of the latest look, that nothing but being known makes its own.
    public var escaped: [ProcessIdentity] { containment.escaped }

    /// Looks at the processes of an adopted tree.
    ///
    /// - Returns: Whether there are any that are not below the main process, and that are not kept by its cgroup.
    public func lookForStrays() -> Bool {
        guard isAdopted, cgroup == nil else { return false }
        _ = containment.base.members()
        return !escaped.isEmpty
    }
}

/// Moving processes that run into another cgroup.
struct Relocation {
    let group: Cgroup

    /// Far more than it takes if every process that was moved bears children inside.
    private static let roundLimit = 64

    init(to group: Cgroup) { self.group = group }

    /// Moves all members, until a look finds no process outside: a process that was not moved yet may fork.
    ///
    /// - Parameter unit: The group of a process in the one unit that processes may be taken from; those of others are
    ///   systemd's to arrange.
    /// - Throws: EBUSY when there is always another one, EPERM when one is in another unit, and what the kernel says.
    func move(_ members: Containment, fromUnitOf unit: String?) throws(Errno) {
        for _ in 0..<Self.roundLimit {
            let inside = Set(try group.processIDs())
            let outside = try members.look().all().filter { !inside.contains($0.pid) }
            if outside.isEmpty { return }
            for process in outside {
                // One whose first thread has ended would leave that behind, and not be listed where the others are.
                guard !process.state.isGone else { throw Errno(rawValue: EPERM) }
                guard let group = try Cgroup.name(of: process.pid) else { throw Errno(rawValue: EPERM) }
                guard Cgroup.unit(in: group).map({ $0 == unit.flatMap(Cgroup.unit) }) ?? true else {
                    throw Errno(rawValue: EPERM)
                }
                try move(process.identity)
            }
        }
        throw Errno(rawValue: EBUSY)
    }

    /// Moves all processes out of another group, as far as that is possible.
    func empty(_ other: Cgroup) {
        for _ in 0..<Self.roundLimit {
            guard let members = try? other.processIDs(), !members.isEmpty else { return }
            for pid in members { if let status = try? ProcessStatus(of: pid) { try? move(status.identity) } }
        }
    }

    /// Moves a process. A process that has ended needs no move.
    func move(_ process: ProcessIdentity) throws(Errno) {
        // While the descriptor is open and the process lives, no other process can have the number.
        guard let descriptor = ProcessDescriptor.open(process.pid), try process.exists() else { return }
        do throws(Errno) {
            try group.write(String(process.pid), to: "cgroup.procs")
        } catch {
            guard error.rawValue == ESRCH || ProcessDescriptor.hasEnded(descriptor.rawValue) else { throw error }
        }
    }
}

extension Cgroup {
    /// Returns the group of the systemd unit that processes in a group belong to, the innermost; nil if it is in none.
    static func unit(in name: String) -> String? {
        let parts = name.split(separator: "/")
        guard let last = parts.lastIndex(where: { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }) else {
            return nil
        }
        return parts[...last].joined(separator: "/")
    }
}
