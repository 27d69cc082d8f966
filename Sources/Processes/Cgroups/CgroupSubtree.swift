import Glibc

/// The part of the cgroup hierarchy that this process arranges: the group `daemon` for itself, and below `apps` one for each launch.
///
/// With controllers, the kernel and systemd ("Control Group APIs and Delegation") want processes in leaves only: none stays in the group
/// above, of which only `cgroup.subtree_control` is written.
public final class CgroupSubtree {
    let base: Cgroup
    let apps: Cgroup
    /// The group that this process was in before, if it has made the group above itself.
    let origin: Cgroup?
    /// Groups that should be removed and still had a process in them.
    private var leftovers: [Cgroup] = []

    /// More groups than apps can be kept.
    static let groupLimit = 1 << 17
    static let ownGroup = "daemon"
    private static let helperGroup = "helpers"
    /// The number of groups of one app that can be busy with processes of earlier launches.
    private static let attemptLimit = 16

    /// Prepares a group that exists for the apps; this process stays where it is.
    init(base: Cgroup, origin: Cgroup? = nil) throws(Errno) {
        self.base = base
        self.origin = origin
        apps = base.child("apps")
        try Self.createIfMissing(apps)
    }

    private init(lookingAt base: Cgroup) {
        self.base = base
        origin = nil
        apps = base.child("apps")
    }

    /// Returns the subtree of another process, to be looked at: nothing is made or removed, and this process stays
    /// where it is.
    ///
    /// - Parameter path: The ``path`` of the other process's subtree. A path that is no such place, or not any more,
    ///   gives nil.
    public static func existing(at path: String) throws(Errno) -> CgroupSubtree? {
        guard let base = try Cgroup.existing(at: path), base.child("apps").has("cgroup.events") else { return nil }
        return CgroupSubtree(lookingAt: base)
    }

    /// Finds the subtree that was delegated to this process or, as root, makes one where this process is, and moves
    /// this process into its own group there.
    ///
    /// - Parameter name: The name that tells this program's subtree from those of others in the same place.
    /// - Returns: The subtree, with this process in its group `daemon`.
    /// - Throws: The reason why there can be none: no hierarchy, no delegation, or an error of the kernel.
    public static func claim(name: String) throws(FeatureUnavailable) -> CgroupSubtree {
        let here: Cgroup?
        do throws(Errno) { here = try Cgroup.ofThisProcess() } catch {
            throw FeatureUnavailable("the control group of this process cannot be read", error)
        }
        guard let here else { throw FeatureUnavailable("there is no cgroup v2 hierarchy") }
        let (base, origin) = try locate(from: here, name: name)
        do throws(Errno) {
            if origin != nil { try createIfMissing(base) }
            return try move(to: base, from: origin)
        } catch {
            if origin != nil { base.remove() }
            throw FeatureUnavailable("no control groups can be made in \(base.path)", error)
        }
    }

    private static func locate(
        from here: Cgroup, name: String
    ) throws(FeatureUnavailable) -> (base: Cgroup, origin: Cgroup?) {
        if here.isDelegated { return (here, nil) }
        let own = here.lastName == ownGroup ? here.parent : nil
        if let own, own.isDelegated { return (own, nil) }
        guard geteuid() == 0 else {
            // A user's service manager cannot set the mark; the right to write to the group decides. After a
            // re-execution the daemon is in its own group already.
            let isOwnScope = (own ?? here).lastName.hasSuffix(".scope") && (try? here.processIDs()) == [getpid()]
            if isMainProcessOfUnit || isOwnScope { return (own ?? here, nil) }
            throw FeatureUnavailable("\(here.path) has not been delegated to this process")
        }
        // Started by an earlier one of us.
        if let own, own.lastName == name { return (own, own.parent) }
        return (here.child(name), here)
    }

    /// A Boolean value that indicates whether systemd started this process as that of a service (version 248), so that
    /// the group is the service's.
    private static var isMainProcessOfUnit: Bool {
        guard let value = unsafe getenv("SYSTEMD_EXEC_PID") else { return false }
        return unsafe String(cString: value) == String(getpid())
    }

    private static func move(to base: Cgroup, from origin: Cgroup?) throws(Errno) -> CgroupSubtree {
        let daemon = base.child(ownGroup)
        try createIfMissing(daemon)
        let subtree = try CgroupSubtree(base: base, origin: origin)
        // Linux 5.14, which can also let a child be born in a group (5.7).
        guard daemon.has("cgroup.kill") else { throw Errno(rawValue: ENOSYS) }
        try daemon.write("0", to: "cgroup.procs")
        return subtree
    }

    private static func createIfMissing(_ group: Cgroup) throws(Errno) {
        do throws(Errno) {
            try group.create()
        } catch {
            guard error.rawValue == EEXIST else { throw error }
        }
    }

    /// The path of the subtree, for the log.
    public var path: String { base.path }

    /// Undoes ``claim(name:)``, for a clean end: a group that we made ourselves is removed when no app is left in it.
    public func leave() {
        sweep()
        guard let origin else { return }
        try? origin.write("0", to: "cgroup.procs")
        base.remove()
    }
}

// MARK: - The apps' groups

extension CgroupSubtree {
    /// Makes a new group for a launch: a group in which `cgroup.kill` was used kills whatever is born in it.
    func makeGroup(for name: String) throws(SpawnError) -> Cgroup {
        sweep()
        do throws(Errno) {
            for attempt in 1...Self.attemptLimit {
                let group = apps.child(Self.groupName(for: name, attempt: attempt))
                if try makeAnew(group) { return group }
            }
            throw Errno(rawValue: EBUSY)
        } catch {
            throw .failed("make a control group", error.rawValue)
        }
    }

    /// Makes a group, instead of an empty one of the same name.
    ///
    /// - Returns: False if there is a group of the name that cannot be removed.
    private func makeAnew(_ group: Cgroup) throws(Errno) -> Bool {
        do throws(Errno) {
            try group.create()
        } catch {
            guard error.rawValue == EEXIST else { throw error }
            guard group.remove() else { return false }
            try group.create()
        }
        return true
    }

    /// Makes a group for the helpers that an app has started, beside those of the apps.
    func makeHelperGroup(for app: Cgroup) throws(Errno) -> Cgroup {
        let all = base.child(Self.helperGroup)
        try Self.createIfMissing(all)
        let group = all.child(Self.groupName(for: Self.name(ofGroup: app.lastName)))
        try Self.createIfMissing(group)
        return group
    }

    /// Returns the processes in the helpers' groups, and the names of the apps that started them.
    func helperProcesses() throws(Errno) -> [(pid: ProcessID, app: String)] {
        var found: [(pid: ProcessID, app: String)] = []
        for group in try base.child(Self.helperGroup).children(limit: Self.groupLimit) {
            found += try group.processIDs().map { ($0, Self.name(ofGroup: group.lastName)) }
        }
        return found
    }

    /// Returns whether a process is in the group of an app, or of an app's helpers.
    func isInAnyGroup(_ pid: ProcessID) throws(Errno) -> Bool {
        guard let name = try Cgroup.name(of: pid) else { return false }
        return apps.contains(groupNamed: name) || base.child(Self.helperGroup).contains(groupNamed: name)
    }

    /// Returns the name that an app's group was made for, as far as the group's name tells it.
    private static func name(ofGroup group: String) -> String {
        let name = group.hasPrefix("app-") ? group.dropFirst("app-".count) : group[...]
        return String(name.prefix { $0 != "@" })
    }

    /// Returns a group that is there, by the name that an earlier process has kept; nil for what could not be a name of
    /// ours.
    func group(named name: String) -> Cgroup? {
        guard Self.isGroupName(name) else { return nil }
        let group = apps.child(name)
        return group.has("cgroup.events") ? group : nil
    }

    /// Returns the app's group that a process is in, or in a group below; nil if it is somewhere else.
    func group(of pid: ProcessID) throws(Errno) -> Cgroup? {
        guard let name = try Cgroup.name(of: pid), apps.contains(groupNamed: name) else { return nil }
        return name.utf8.dropFirst(apps.name.utf8.count).split(separator: UInt8(ascii: "/")).first
            .map { apps.child(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns the name of the app's group that a process is in; nil if it is somewhere else, or cannot be read.
    ///
    /// - Parameter pid: A process number.
    public func groupName(of pid: ProcessID) -> String? { (try? group(of: pid))?.lastName }

    private static func isGroupName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            isKept(byte) || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "@")
        }
        return isPlain && name.hasPrefix("app-") && name.utf8.count <= Int(NAME_MAX)
    }

    /// Returns the place of a process among the groups; nil if that cannot be read.
    ///
    /// - Parameter pid: A process number.
    public func location(of pid: ProcessID) -> Location? {
        guard let text = try? ProcFile.read(ProcPath(pid, "cgroup"), limit: 1 << 16) else { return nil }
        guard let name = Cgroup.place(inList: String(decoding: text, as: UTF8.self)) else { return .elsewhere }
        if apps.contains(groupNamed: name) { return .app }
        let helpers = base.child(Self.helperGroup)
        guard helpers.contains(groupNamed: name) else { return .elsewhere }
        let part = name.utf8.dropFirst(helpers.name.utf8.count).split(separator: UInt8(ascii: "/")).first
        return .helper(of: part.map { Self.name(ofGroup: String(decoding: $0, as: UTF8.self)) } ?? "")
    }

    /// The place of a process among the groups.
    public enum Location: Hashable, Sendable {
        /// In the group of an app.
        case app
        /// In the group of the helpers that an app of this name has started.
        case helper(of: String)
        case elsewhere
    }

    /// Returns a name that cannot be taken for an attribute's, those of future controllers included, nor leave the
    /// directory.
    static func groupName(for name: String, attempt: Int = 1) -> String {
        let escaped = name.utf8.reduce(into: "app-") { result, byte in
            if isKept(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return attempt == 1 ? escaped : "\(escaped)@\(attempt)"
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || ".-_".utf8.contains(byte)
    }

    /// Removes a group, as soon as nothing is in it, with the next ``sweep()``: the kernel takes long to remove one.
    func discard(_ group: Cgroup) {
        leftovers.append(group)
    }

    /// Removes what earlier processes have left behind here, as far as nothing is in it.
    ///
    /// - Parameter isInUse: Whether a group holds an app, so that there is nothing to try.
    /// - Returns: The other groups of apps that processes are in.
    func removeGroups(unless isInUse: (Cgroup) -> Bool) throws(Errno) -> [Cgroup] {
        for group in try base.child(Self.helperGroup).children(limit: Self.groupLimit) { group.remove() }
        return try apps.children(limit: Self.groupLimit).filter { !isInUse($0) && !$0.remove() }
    }

    /// Removes the groups that were discarded, if they are empty. Call it when a process has ended.
    func sweep() {
        leftovers.removeAll { $0.remove() }
    }
}

// Controllers of the cgroups of apps: cpu, io, memory and pids. No process may be in a group that has
// enabled a controller for the groups below it, such as the group above the daemon's and the apps'.
extension CgroupSubtree {
    /// A controller that apps can have attributes of.
    public enum Controller: String, CaseIterable, Hashable, Sendable {
        case cpu, io, memory, pids
    }

    /// Gives the apps' cgroups the attributes of controllers, as far as they have been delegated.
    ///
    /// - Parameter isClearedAfterCrash: Whether `ExecStopPost=` takes them away before systemd starts this service again.
    /// - Returns: The controllers that are enabled.
    /// - Throws: The reason, if enabling them could keep the service from starting again, or is not allowed.
    @discardableResult
    public func enableControllers(
        _ wanted: Set<Controller> = Set(Controller.allCases), isClearedAfterCrash: Bool
    ) throws(FeatureUnavailable) -> Set<Controller> {
        // systemd starts the main process of a service in the group above. After a crash that leaves apps behind, each start would fail
        // (219/CGROUP, systemd's issue 24064; EBUSY since 256), also with `DelegateSubgroup=`. In a group that this process has made
        // itself, systemd starts nothing.
        guard origin != nil || isClearedAfterCrash else {
            throw FeatureUnavailable(
                "the unit has no ExecStopPost= that removes them after a crash")
        }
        let present = base.controllers(in: "cgroup.controllers")
        var enabled: Set<Controller> = []
        var refusal: Errno?
        for controller in Controller.allCases where wanted.contains(controller) && present.contains(controller.rawValue)
        {
            do throws(Errno) {
                // One by one, because a controller that cannot be enabled would keep the others from it.
                for group in [base, apps] { try group.write("+\(controller.rawValue)", to: "cgroup.subtree_control") }
                enabled.insert(controller)
            } catch {
                refusal = error
            }
        }
        if enabled.isEmpty, let refusal {
            throw FeatureUnavailable("\(base.path)/cgroup.subtree_control", refusal)
        }
        return enabled
    }
}

extension Cgroup {
    /// Returns the controllers that an attribute lists; none where it cannot be read.
    fileprivate func controllers(in attribute: String) -> [String] {
        let text = (try? ProcFile.read(file(attribute), limit: 4096)) ?? []
        return String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(String.init)
    }
}
