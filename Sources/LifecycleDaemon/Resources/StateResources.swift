import Configuration
import LifecycleCore
import Processes
import Systemd

/// Sees to it that each app gets of the machine what its state entitles it to.
///
/// An app often goes through several states in one moment, so what it gets is decided when the loop comes round, after
/// those who asked have been answered. A focus costs one look at the processes of the app that comes and one or two at
/// those of the app that leaves; only what differs is written, and where a state brings nothing new nobody looks.
final class StateResources {
    private let processes: AppProcesses
    private let log: Log
    private var control: ResourceControl?
    private var settings = Configuration.Settings.Resources()
    private var processLimit: Int?
    private var order: OutOfMemoryOrder<AppID>?
    private var states: [AppID: AppState] = [:]
    /// Those who may not have what they should.
    private var stale: Rounds<AppID>?
    private var reported: Set<String> = []

    /// Told when what is kept of the app's resources has changed.
    var onChange: (AppID, ResourceRecord) -> Void = { _, _ in }

    init(loop: EventLoop, log: Log, processes: AppProcesses) throws(SystemdError) {
        self.processes = processes
        self.log = log
        stale = try Rounds(loop: loop) { [weak self] in self?.apply($0) }
    }

    /// Finds out what this machine can do, and says it. Once, before the first launch.
    func begin(with cgroups: CgroupSubtree?) {
        let capabilities = ResourceCapabilities(cgroups: cgroups)
        control = ResourceControl(capabilities: capabilities)
        let done = capabilities.done.isEmpty ? "nothing" : capabilities.done.joined(separator: ", ")
        let leftOut = capabilities.leftOut.isEmpty ? "" : "; left out: \(capabilities.leftOut.joined(separator: "; "))"
        log.write(LogEntry(message: "what an app gets by its state: \(done)\(leftOut)"))
    }

    /// Takes the tables of a configuration; apps that run get what they say.
    func use(_ settings: Configuration.Settings.Resources, processes limit: ProcessLimit) {
        let processLimit = limit.number(of: ProcessLimit.possibleProcesses())
        guard settings != self.settings || processLimit != self.processLimit || order == nil else { return }
        self.settings = settings
        self.processLimit = processLimit
        let lowest = settings.suspended.oomScoreAdjustment ?? -1
        var order = OutOfMemoryOrder<AppID>(lowest: lowest)
        if lowest >= 0, let previous = self.order {
            let suspended = states.filter { $0.value == .suspended }.keys
            for id in suspended.sorted(by: { previous[$0] ?? 0 > previous[$1] ?? 0 }) { _ = order.insert(id) }
        }
        self.order = order
        for id in states.keys.sorted() { note(id) }
    }

    /// The app is in another state.
    func enter(_ state: AppState, _ id: AppID) {
        switch state {
        // On its way out it keeps what it had.
        case .terminating: return
        case .notRunning: forget(id)
        case .suspended:
            states[id] = state
            for other in (order?.insert(id) ?? [:]).keys { note(other) }
            note(id)
        case .background, .inactive, .active:
            states[id] = state
            order?.remove(id)
            note(id)
        }
    }

    /// Gives the processes back what they have of their own, at once: they are let go.
    func giveBack(_ id: AppID) {
        forget(id)
        if let tree = processes.tree(of: id) { control?.apply(ResourceProfile(), to: tree) }
    }

    private func forget(_ id: AppID) {
        states[id] = nil
        stale?.remove(id)
        order?.remove(id)
    }

    /// Nothing is left of a launch.
    func forget(_ token: LaunchToken) { control?.forget(token) }

    /// What is kept of the app's resources, for a successor of this daemon.
    func record(of id: AppID) -> ResourceRecord? {
        processes.tree(of: id).flatMap { control?.record(of: $0.token) }
    }

    /// Goes on with what another daemon has done to an app.
    func adopt(_ record: ResourceRecord, of id: AppID) {
        if let tree = processes.tree(of: id) { control?.restore(record, of: tree.token) }
    }

    // MARK: Applying

    private func note(_ id: AppID) { stale?.add(id) }

    private func apply(_ id: AppID) {
        guard let control, let tree = processes.tree(of: id), let profile = profile(of: id) else { return }
        let before = control.record(of: tree.token)
        for failure in control.apply(profile, to: tree) where reported.insert(failure.what).inserted {
            log.write(
                LogEntry(
                    priority: .notice, message: "\(id) does not get all that its state entitles it to: \(failure)",
                    fields: [("LIFED_APP", id.name)]))
        }
        if let record = control.record(of: tree.token), record != before { onChange(id, record) }
    }

    private func profile(of id: AppID) -> ResourceProfile? {
        guard let state = states[id], var profile = ResourceProfile(settings, for: state) else { return nil }
        profile.processLimit = processLimit
        if state == .suspended, let score = profile.oomScoreAdjustment, score >= 0 {
            profile.oomScoreAdjustment = order?[id] ?? score
        }
        return profile
    }
}
