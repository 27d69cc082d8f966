import Glibc

/// Gives the processes of apps what their state entitles them to, and gives them back what they had of their own.
///
/// A process that vanishes is no error, nor is a process that may not be changed: that of another user, or a process
/// that has gained privileges.
public final class ResourceControl {
    /// The resources that can be controlled here.
    public let capabilities: ResourceCapabilities

    /// Nothing is changed until a profile is applied.
    public init(capabilities: ResourceCapabilities) {
        self.capabilities = capabilities
    }

    /// A change that the kernel refused, for the log.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// The attribute of a cgroup, or the property of a process.
        public let what: String
        /// The error of the first refusal.
        public let error: Errno
        /// The number of refusals.
        public let count: Int

        /// One clause: `nice: Operation not permitted (3 times)`.
        public var description: String { count == 1 ? "\(what): \(error)" : "\(what): \(error) (\(count) times)" }
    }

    /// Makes a profile that of a tree. Only what differs from the profile before, or could not be done
    /// then, is written.
    ///
    /// The processes are looked at now; a process that is born later inherits its parent's values.
    ///
    /// - Parameters:
    ///   - profile: The resources of the app's state.
    ///   - tree: The tree that gets them.
    ///   - save: Saves a record for a daemon that comes before the changes of the processes are made or noted.
    /// - Returns: The changes that the kernel refused.
    @discardableResult
    public func apply(
        _ profile: ResourceProfile, to tree: ProcessTree, saving save: (ResourceRecord) -> Void = { _ in }
    ) -> [Failure] {
        var record = tree.resources ?? ResourceRecord()
        let refused =
            tree.cgroup.map { write(profile, to: $0, before: record.areAttributesKnown ? record.profile : nil) } ?? []
        var failures = refused
        let changed = changedSettings(record, profile)
        if !changed.isEmpty { failures += change(changed, to: profile, of: tree, &record, saving: save) }
        record.profile = profile
        record.areAttributesKnown = refused.isEmpty
        tree.resources = record
        return failures
    }

    private func changedSettings(_ record: ResourceRecord, _ profile: ResourceProfile) -> CaseSet<ResourceSetting> {
        var changed = record.incomplete
        for setting in ResourceSetting.allCases
        where capabilities.wanted(setting, by: profile) != capabilities.wanted(setting, by: record.profile) {
            changed.insert(setting)
        }
        return changed
    }

    /// Writes those attributes of a tree's cgroup that differ from the profile before.
    func write(_ profile: ResourceProfile, to group: Cgroup, before: ResourceProfile?) -> [Failure] {
        var failures: [Failure] = []
        for attribute in GroupAttribute.allCases where capabilities.attributes.contains(attribute) {
            let value = attribute.value(in: profile)
            if let before, attribute.value(in: before) == value { continue }
            do throws(Errno) {
                try group.write(value.map { String($0) } ?? "max", to: attribute.name.description)
            } catch {
                // A group that is gone has nothing left in it.
                guard error.rawValue != ENOENT, error.rawValue != ENODEV else { continue }
                failures.append(Failure(what: attribute.name.description, error: error, count: 1))
            }
        }
        return failures
    }

    /// Changes settings of all processes of a tree.
    private func change(
        _ settings: CaseSet<ResourceSetting>, to profile: ResourceProfile, of tree: ProcessTree,
        _ record: inout ResourceRecord, saving save: (ResourceRecord) -> Void
    ) -> [Failure] {
        let subjects = tree.subjects()
        if tree.mayHaveLostHelpers {
            tree.continueHelpers(leaving: subjects.map { $0.process })
            if let resources = tree.resources { record.ownValues = resources.ownValues }
        }
        if let planned = plan(settings, to: profile, of: tree, subjects, record) { save(planned) }
        var update = OwnValues.Update(record.ownValues, of: settings, count: subjects.count * settings.count)
        var failures: [Failure] = []
        for setting in ResourceSetting.allCases where settings.contains(setting) {
            let wanted = capabilities.wanted(setting, by: profile)
            var errors: (first: Errno, count: Int)?
            for subject in subjects where setting.isOfThreads || subject.id == subject.process.pid {
                if let error = change(setting, of: subject, to: wanted, of: tree, &update) {
                    errors = (errors?.first ?? error, (errors?.count ?? 0) + 1)
                }
            }
            if let errors {
                failures.append(Failure(what: setting.name, error: errors.first, count: errors.count))
                record.incomplete.insert(setting)
            } else {
                record.incomplete.remove(setting)
            }
        }
        record.ownValues = update.values
        return failures
    }

    /// Returns the record of a daemon that is about to change settings; nil if there is nothing to change. It has the values from
    /// before and after: without it, if the daemon were killed in between, the next daemon would take one for the process's own.
    private func plan(
        _ settings: CaseSet<ResourceSetting>, to profile: ResourceProfile, of tree: ProcessTree,
        _ subjects: [OwnValues.Subject], _ record: ResourceRecord
    ) -> ResourceRecord? {
        var update = OwnValues.Update(record.ownValues, of: settings, count: 2 * subjects.count * settings.count)
        var changes = false
        for setting in ResourceSetting.allCases where settings.contains(setting) {
            let wanted = capabilities.wanted(setting, by: profile)
            for subject in subjects where setting.isOfThreads || subject.id == subject.process.pid {
                guard let current = try? setting.read(subject.id) else { continue }
                let own = update.own(setting, of: subject, current: current)
                let value = wanted.map { setting.value(wanted: $0, own: own) } ?? own
                update.note(setting, of: subject, own: own, before: current, after: value)
                changes = changes || value != current
            }
        }
        guard changes else { return nil }
        var planned = record
        planned.ownValues = update.values
        for setting in ResourceSetting.allCases where settings.contains(setting) { planned.incomplete.insert(setting) }
        return planned
    }

    /// - Returns: The error of the kernel; nil if the value is right, or the subject gone.
    private func change(
        _ setting: ResourceSetting, of subject: OwnValues.Subject, to wanted: Int?, of tree: ProcessTree,
        _ update: inout OwnValues.Update
    ) -> Errno? {
        var values: (own: Int, before: Int, after: Int)?
        let error = setting.change(subject.id) { () throws(Errno) in
            try tree.isCurrent(subject.process)
        } _: { current in
            let own = update.own(setting, of: subject, current: current)
            let value = wanted.map { setting.value(wanted: $0, own: own) } ?? own
            values = (own, current, value)
            return value
        }
        if let values {
            update.note(setting, of: subject, own: values.own, present: error == nil ? values.after : values.before)
        }
        return error
    }
}

extension ResourceSetting {
    fileprivate var name: String {
        switch self {
        case .nice: "nice"
        case .ioPriority: "ioprio"
        case .oomScoreAdjustment: "oom_score_adj"
        case .timerSlack: "timerslack_ns"
        }
    }
}

extension ProcessTree {
    /// As many threads of a tree get values of their own, beside the first of each process: each takes 20 to 30 µs at a change.
    private static let threadLimit = 2048

    /// Returns the threads of its processes, which have a value of each setting: the first of each process, and others up to the limit.
    fileprivate func subjects() -> [OwnValues.Subject] {
        var left = Self.threadLimit
        // Mostly the main process is alone, and the number of its threads is known in less time than its status.
        if isReported, exitStatus == nil, containment.isAlone(main.pid),
            let count = ProcFile.threadCount(of: main.pid)
        {
            return subjects(of: main, threadCount: count, &left)
        }
        return containment.members().flatMap { subjects(of: $0.identity, threadCount: $0.threadCount, &left) }
    }

    /// Restores the own values of processes that have left the tree.
    func restoreOwnValues(of processes: [ProcessStatus]) {
        guard var record = resources, !record.ownValues.isEmpty else { return }
        var update = OwnValues.Update(record.ownValues, of: CaseSet(), count: 0)
        var left = Self.threadLimit
        for process in processes {
            for subject in subjects(of: process.identity, threadCount: process.threadCount, &left) {
                for setting in ResourceSetting.allCases where setting.isOfThreads || subject.id == process.pid {
                    _ = setting.change(subject.id) { () throws(Errno) in
                        try isCurrent(subject.process)
                    } _: { current in
                        update.own(setting, of: subject, current: current)
                    }
                }
            }
        }
        record.ownValues.remove(of: Set(processes.identities))
        resources = record
    }

    private func subjects(of process: ProcessIdentity, threadCount: Int, _ left: inout Int) -> [OwnValues.Subject] {
        let first = OwnValues.Subject(process: process, id: process.pid)
        guard threadCount > 1, left > 0 else { return [first] }
        let threads = try? ProcFile.processIDs(in: "/proc/\(process.pid)/task")
        let others = (threads ?? []).filter { $0 != process.pid }.prefix(left)
        left -= others.count
        return [first] + others.map { OwnValues.Subject(process: process, id: $0) }
    }
}

extension ProcFile {
    /// Returns the number of threads of a process: its directory `task` has two links, and one for each; nil if it is gone.
    fileprivate static func threadCount(of process: ProcessID) -> Int? {
        var attributes = stat()
        let result = unsafe ProcPath(process, "task").withPath { unsafe stat($0, &attributes) }
        return result == 0 ? Int(attributes.st_nlink) - 2 : nil
    }
}

extension ProcessTree {
    /// The cgroup that holds it; nil where its process group does.
    var cgroup: Cgroup? { containment.cgroup }
}

extension ProcessTree {
    /// Restores the record of the changes that the previous daemon has made to the processes. The attributes of the cgroup are written
    /// with the next profile, because the controllers may have been taken away meanwhile.
    ///
    /// - Parameter record: The ``resources`` in the previous daemon.
    public func restore(_ record: ResourceRecord) {
        var record = record
        record.areAttributesKnown = false
        resources = record
    }
}
