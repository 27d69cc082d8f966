import CLinux
import Glibc

/// The programs that serve other apps as well as the app that started them, for example a session bus or a key agent.
public final class HelperPrograms {
    /// The names of the program files. None: no process is a helper.
    public var names: Set<String> = []

    init() {}

    /// Returns whether a process runs one of the programs, and only root can have written it.
    ///
    /// A process can give itself any name, so the file decides.
    func include(_ process: ProcessStatus) throws(Errno) -> Bool {
        guard !names.isEmpty else { return false }
        guard let file = RunningProcess.executable(of: process.pid) else { return try hasGroupOfProgram(process.pid) }
        guard let last = file.split(separator: "/").last, names.contains(String(last)) else { return false }
        return Self.programOfRoot(at: "/proc/\(process.pid)/exe")
    }

    /// Returns whether a process that hides its file has a saved group that only the execution of one of the programs gives.
    ///
    /// `ssh-agent` hides its file from all but root, and has a group of its own for that (set-group-ID). The saved group stays until
    /// another program is executed.
    private func hasGroupOfProgram(_ pid: ProcessID) throws(Errno) -> Bool {
        guard let groups = try RunningProcess.groups(of: pid), groups[2] != groups[0] else { return false }
        return names.contains { name in
            SpawnRequest.defaultSearchPath.split(separator: ":").contains { directory in
                Self.programOfRoot(at: "\(directory)/\(name)") { $0.mode & 0o2000 != 0 && $0.group == groups[2] }
            }
        }
    }

    /// Returns whether only root can have written a file, which is as wanted.
    private static func programOfRoot(at path: String, isWanted: (linux_file) -> Bool = { _ in true }) -> Bool {
        var file = linux_file()
        guard unsafe linux_stat_file(AT_FDCWD, path, &file) == 0, file.user == 0, file.mode & 0o022 == 0, isWanted(file)
        else { return false }
        // Last, because it reads all mounts.
        return Mounts().areOfRoot(for: file)
    }
}

extension HelperPrograms {
    /// Returns the helpers without a parent among the members of a tree, and their descendants.
    ///
    /// - Parameters:
    ///   - members: The members in the order of their starts, so that parents come first.
    ///   - main: The main process, which is no helper.
    func leaving(_ members: [ProcessStatus], main: ProcessIdentity) throws(Errno) -> Set<ProcessID> {
        // Mostly there is the main process alone.
        guard !names.isEmpty, members.contains(where: { $0.identity != main }) else { return [] }
        let numbers = Set(members.pids)
        var leaving: Set<ProcessID> = []
        for process in members where process.identity != main {
            if leaving.contains(process.parent) {
                leaving.insert(process.pid)
            } else if !numbers.contains(process.parent), try include(process) {
                leaving.insert(process.pid)
            }
        }
        return leaving
    }
}

extension Look {
    /// Returns the helpers among the members of a tree that have left their parents, and what they have started.
    mutating func helpers(_ programs: HelperPrograms, of main: ProcessIdentity) -> [ProcessStatus] {
        let numbers = reading { [members] () throws(Errno) in try programs.leaving(members, main: main) } ?? []
        return numbers.isEmpty ? [] : members.filter { numbers.contains($0.pid) }
    }

    /// Leaves these out: they serve other apps, too.
    mutating func removeHelpers(_ programs: HelperPrograms, of main: ProcessIdentity) {
        let numbers = Set(helpers(programs, of: main).pids)
        if !numbers.isEmpty { members.removeAll { numbers.contains($0.pid) } }
    }
}

/// A helper process that has left the app that started it.
public struct Helper: Sendable {
    /// The number, program and state of the helper.
    public let process: ProcessInfo
    /// The name of the app that started it; nil without control groups.
    public let app: String?
    let identity: ProcessIdentity

    init(_ status: ProcessStatus, app: String?) {
        process = ProcessInfo(status)
        self.app = app
        identity = status.identity
    }
}

extension ProcessTree {
    /// A Boolean value that indicates whether there is a process beside the main one.
    fileprivate var mayHaveHelpers: Bool {
        if desiredState == .stopped, stoppedMembers != nil { return !isMainStoppedAlone }
        return !containment.isAlone(main.pid)
    }

    /// A Boolean value that indicates whether the tree has stopped or changed a process beside the main one.
    var mayHaveLostHelpers: Bool {
        areSeveralStopped || resources?.ownValues.processes.contains { $0 != main } ?? false
    }

    /// Releases the helpers that have left their parents.
    func releaseHelpers() {
        _ = releaseHelpers(containment.look())
    }

    /// Releases the helpers that have left their parents, and those that a look has left out already.
    ///
    /// - Parameter look: One that was just taken. If it is not complete, the parent of a helper may not have been seen.
    /// - Returns: A look at those that are left.
    func releaseHelpers(_ look: Look) -> Look {
        guard look.isComplete else { return look }
        let left = containment.releaseHelpers(look)
        let areSame = left.members.count == look.members.count
        continueHelpers(leaving: left.members.identities, known: areSame ? [] : look.members.identities)
        return left
    }

    /// Continues the helpers that have left the tree since it stopped or changed them, and restores their own values: no later
    /// operation reaches them. The kernel does not tell when a process loses its parent, so each look at the tree does this.
    ///
    /// - Parameters:
    ///   - members: Those of a look that was just taken.
    ///   - known: Others that were members until now.
    func continueHelpers(leaving members: [ProcessIdentity], known: [ProcessIdentity] = []) {
        guard !known.isEmpty || mayHaveLostHelpers, let helpers, !helpers.names.isEmpty else { return }
        var gone = Set(known).union(stoppedMembers ?? [])
        if let resources { gone.formUnion(resources.ownValues.processes) }
        gone.remove(main)
        gone.subtract(members)
        // Mostly there is none.
        guard !gone.isEmpty else { return }
        let present = Set(members.map { $0.pid })
        var leaving: [ProcessStatus] = []
        var numbers: Set<ProcessID> = []
        for process in gone.compactMap({ try? $0.readLivingStatus() }).inOrderOfStart {
            let isHelper = !present.contains(process.parent) && (try? helpers.include(process)) == true
            guard isHelper || numbers.contains(process.parent) else { continue }
            leaving.append(process)
            numbers.insert(process.pid)
        }
        guard !leaving.isEmpty else { return }
        restoreOwnValues(of: leaving)
        signal(.resume, only: leaving.filter { $0.state == .stopped }.identities.filter(shouldRun))
        stoppedMembers?.removeAll { leaving.identities.contains($0) }
    }
}

extension ProcessTable {
    /// Sets the names of the helpers' program files. Processes of trees that are helpers from now on are released.
    public func setHelpers(_ names: Set<String>) {
        guard names != helpers.names else { return }
        helpers.names = names
        for tree in trees where tree.mayHaveHelpers { tree.releaseHelpers() }
    }

    /// Returns the helpers of this moment, and those that the previous daemon has released.
    public func allHelpers() -> [Helper] {
        if !helpers.names.isEmpty {
            for tree in trees where tree.mayHaveHelpers { tree.releaseHelpers() }
        }
        let inGroups = (try? groups?.helperProcesses()) ?? []
        let known = Set(inGroups.map { $0.pid })
        let kept = (Array(trees) + removedTrees).compactMap { $0.containment as? KeeperContainment }.flatMap {
            $0.helperProcesses()
        }
        let orphaned = (kept + ((try? orphans.helpers()) ?? [])).filter {
            !known.contains($0.pid) && (try? groups?.group(of: $0.pid)) == nil
        }
        return inGroups.compactMap { pid, app in
            (try? ProcessStatus(of: pid)).map { Helper($0, app: app) }
        } + orphaned.map { Helper($0, app: nil) }
    }

    /// Asks the helpers to end. For an end of the daemon that ends the apps, too.
    public func terminateHelpers() {
        for helper in allHelpers() { _ = SignalDelivery.send(.terminate, to: helper.identity) }
    }
}
