import CLinux

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
    /// - Returns: The changes that the kernel refused.
    @discardableResult
    public func apply(_ profile: ResourceProfile, to tree: ProcessTree) -> [Failure] {
        var record = tree.resources ?? ResourceRecord()
        var failures =
            tree.cgroup.map { write(profile, to: $0, before: record.areAttributesKnown ? record.profile : nil) } ?? []
        let changed = ResourceSetting.allCases.filter {
            capabilities.wanted($0, by: profile) != capabilities.wanted($0, by: record.profile)
                || record.incomplete.contains($0)
        }
        if !changed.isEmpty {
            let members = tree.containment.members()
            for setting in changed {
                let wanted = capabilities.wanted(setting, by: profile)
                let found = update(
                    &record.ownValues[setting], setting, to: wanted, members, of: tree)
                if found.isEmpty { record.incomplete.remove(setting) } else { record.incomplete.insert(setting) }
                failures += found
            }
        }
        record.profile = profile
        record.areAttributesKnown = true
        tree.resources = record
        return failures
    }

    /// Returns the changes that were made to a tree, for a later daemon; nil if there are none.
    public func record(of tree: ProcessTree) -> ResourceRecord? { tree.resources }

    /// Writes those attributes of a tree's cgroup that differ from the profile before.
    func write(_ profile: ResourceProfile, to group: Cgroup, before: ResourceProfile?) -> [Failure] {
        GroupAttribute.allCases.compactMap { attribute in
            let value = attribute.value(in: profile)
            guard before.map(attribute.value) != .some(value), capabilities.attributes.contains(attribute) else {
                return nil
            }
            do throws(Errno) {
                try group.write(value.map { String($0) } ?? "max", to: attribute.rawValue)
                return nil
            } catch {
                // A group that is gone has nothing left in it.
                return error.rawValue == ENOENT || error.rawValue == ENODEV
                    ? nil : Failure(what: attribute.rawValue, error: error, count: 1)
            }
        }
    }

    private func update(
        _ values: inout OwnValues, _ setting: ResourceSetting, to wanted: Int?, _ members: [ProcessStatus],
        of tree: ProcessTree
    ) -> [Failure] {
        let bearers = members.flatMap { setting.bearers(of: $0) }.compactMap { bearer in
            setting.read(bearer.id).map { (bearer: bearer, current: $0) }
        }
        var errors: [Errno] = []
        values.update(bearers) { own in
            wanted.map { setting.value(wanted: $0, own: own) } ?? own
        } set: { bearer, value in
            guard let error = setting.write(value, to: bearer.id, if: { tree.isCurrent(bearer.process) }) else {
                return true
            }
            errors.append(error)
            return false
        }
        return errors.first.map { [Failure(what: setting.name, error: $0, count: errors.count)] } ?? []
    }
}

extension ResourceSetting {
    /// Returns the threads of a process, or the process, that have a value each.
    fileprivate func bearers(of process: ProcessStatus) -> [OwnValues.Bearer] {
        let threads =
            isOfThreads && process.threadCount > 1
            ? ProcFile.processIDs(in: "/proc/\(process.pid)/task") : [process.pid]
        return threads.map { OwnValues.Bearer(process: process.identity, id: $0) }
    }

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
    /// The cgroup that holds it; nil where its process group does.
    var cgroup: Cgroup? { containment.cgroup }
}

extension ProcessTree {
    /// Restores the record of the changes that an earlier daemon has made to the processes. The attributes of the cgroup are written
    /// with the next profile, because the controllers may have been taken away meanwhile.
    ///
    /// - Parameter record: The ``resources`` in the earlier daemon.
    public func restore(_ record: ResourceRecord) {
        var record = record
        record.areAttributesKnown = false
        resources = record
    }
}
