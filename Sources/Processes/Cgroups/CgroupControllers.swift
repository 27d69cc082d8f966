import CLinux

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
        let text = ProcFile.read(file(attribute), limit: 4096) ?? []
        return String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(String.init)
    }
}
