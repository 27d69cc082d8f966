extension CgroupContainment {
    /// Helpers may start processes while they are moved.
    private static let roundLimit = 8

    /// Moves the helpers that have left their parents, with all that they have started, to a group beside those of the apps.
    func releaseHelpers(_ members: [ProcessStatus]) -> [ProcessStatus] {
        guard let launch, !launch.helpers.names.isEmpty else { return members }
        var members = members
        for _ in 0..<Self.roundLimit {
            let leaving = leavingHelpers(among: members, launch)
            guard !leaving.isEmpty, let destination = try? subtree.makeHelperGroup(for: group) else { break }
            for process in leaving {
                guard (try? Relocation(to: destination).move(process.identity)) != nil else { return self.members() }
                // It was stopped with the app, and nothing else continues it.
                if process.state == .stopped { _ = SignalDelivery.send(.resume, to: process.identity) }
            }
            members = self.members()
        }
        return members
    }

    /// Returns the helpers without a parent in the tree, and their descendants. The members are in the order of their starts,
    /// so parents come first.
    private func leavingHelpers(among members: [ProcessStatus], _ launch: Launch) -> [ProcessStatus] {
        // Mostly there is the main process alone.
        guard members.contains(where: { $0.identity != launch.main }) else { return [] }
        let numbers = Set(members.pids)
        var leaving: Set<ProcessID> = []
        return members.filter { process in
            guard process.identity != launch.main else { return false }
            let isHelper = !numbers.contains(process.parent) && launch.helpers.include(process)
            guard isHelper || leaving.contains(process.parent) else { return false }
            leaving.insert(process.pid)
            return true
        }
    }
}
