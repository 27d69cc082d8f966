import Configuration
import LifecycleCore
import OrderedCollections
import Processes
import Systemd

/// Gives each app the share of the machine that its state entitles it to. Only differences are written.
///
/// An app often passes several states in one moment, so a share is applied after replies were sent: that of the foreground at once,
/// because the app has to answer callbacks while other programs want the processor; others after a pause.
final class StateResources {
    private let processes: AppProcesses
    private let core: CoreDriver
    private let log: any JournalSink
    private let control: ResourceControl
    /// The applied settings; nil before the first configuration.
    private var settings: DaemonSettings.Resources?
    /// Those of the configuration. An app keeps its share in a state without one.
    private var profiles: [AppState: ResourceProfile] = [:]
    private var processLimit: Int?
    private var order = OutOfMemoryOrder(lowest: 0)
    private var states: OrderedDictionary<AppIndex, AppState> = [:]
    /// Apps that have entered the foreground, in their order.
    private var raised: [AppIndex] = []
    private var isWaiting = true
    /// Other apps whose share has changed.
    private var stale: BatchQueue
    private var reported: Set<String> = []

    init(core: CoreDriver, processes: AppProcesses, log: any JournalSink) throws(SystemdError) {
        self.core = core
        self.processes = processes
        self.log = log
        stale = BatchQueue(first: try core.events.idle(.sharesDue), next: try core.events.later(.sharesDue))
        let capabilities = ResourceCapabilities(cgroups: processes.table.cgroups)
        control = ResourceControl(capabilities: capabilities)
        let done = capabilities.done.isEmpty ? "nothing" : capabilities.done.joined(separator: ", ")
        let leftOut =
            capabilities.leftOut.isEmpty ? "" : "; not controlled: \(capabilities.leftOut.joined(separator: "; "))"
        log.write(.info, "resources controlled by state: \(done)\(leftOut)")
    }

    private func beginRaising(_ app: AppIndex) {
        stale.remove(app)
        if !raised.contains(app) { raised.append(app) }
    }

    private func beginLowering(_ app: AppIndex) {
        raised.removeAll { $0 == app }
        stale.append(app)
    }

    /// Gives the apps that have entered the foreground their share. Called when the replies are sent.
    func raise() {
        guard !isWaiting else { return }
        for app in raised { apply(app) }
        raised.removeAll(keepingCapacity: true)
    }

    /// Gives a batch of other apps their share.
    func applyStale() {
        while let app = stale.take() { apply(app) }
    }

    /// Reports each value of the configuration that the daemon may not set, once.
    private func reportRefusedValues() {
        for (state, profile) in profiles.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for (key, cause) in control.capabilities.refused(profile) {
                let name = "resources.\(state.rawValue).\(key)"
                guard reported.insert(name).inserted else { continue }
                log.write(.notice, "cannot set \(name): \(cause); leaving the app's own value")
            }
        }
    }

    /// Applies the tables of a configuration, also to running apps.
    func apply(_ settings: DaemonSettings.Resources, processes limit: ProcessLimit) {
        let processLimit = limit.number(of: ProcessLimit.possibleProcesses())
        guard settings != self.settings || processLimit != self.processLimit else { return }
        self.settings = settings
        self.processLimit = processLimit
        profiles = [
            .active: settings.active, .inactive: settings.inactive, .background: settings.background,
            .suspended: settings.suspended,
        ].mapValues { ResourceProfile($0, processLimit: processLimit) }
        reportRefusedValues()
        let lowest = settings.suspended.oomScoreAdjustment ?? -1
        let previous = order
        order = OutOfMemoryOrder(lowest: lowest)
        for app in previous.apps where states[app] == .suspended { _ = order.insert(app) }
        for app in states.keys { stale.append(app) }
    }

    /// Gives an app the share of its new state. A terminating app keeps its share.
    func enter(_ state: AppState, _ app: AppIndex) {
        switch state {
        case .terminating: return
        case .notRunning: forget(app)
        case .suspended:
            states[app] = state
            for other in order.insert(app) { stale.append(other) }
            beginLowering(app)
        case .background:
            states[app] = state
            order.remove(app)
            beginLowering(app)
        case .inactive, .active:
            states[app] = state
            order.remove(app)
            beginRaising(app)
        }
    }

    /// Restores the processes' own values at once, before they are released.
    func giveBack(_ app: AppIndex) {
        forget(app)
        if let tree = processes.tree(of: app) { control.apply(ResourceProfile(), to: tree) }
    }

    private func forget(_ app: AppIndex) {
        states[app] = nil
        raised.removeAll { $0 == app }
        stale.remove(app)
        order.remove(app)
    }

    /// Lets the work begin that waits for the first answer.
    func beginIdleWork() {
        isWaiting = false
        raise()
        stale.begin()
    }

    private func saved(_ record: ResourceRecord, of app: AppIndex) -> SavedRecord {
        SavedResources(record: record, launched: processes.launched(of: app)).saved
    }

    private func apply(_ app: AppIndex) {
        guard let tree = processes.tree(of: app), let profile = profile(of: app) else { return }
        let before = tree.resources
        let id = core.id(of: app)
        let failures = control.apply(profile, to: tree) { planned in
            core.store.save(.resources, saved(planned, of: app), of: id)
        }
        for failure in failures where reported.insert(failure.what).inserted {
            log.write(
                LogEntry(
                    priority: .notice, message: "cannot set all resources of \(id): \(failure); leaving the others",
                    fields: [("LIFED_APP", id.name)]))
        }
        if let record = tree.resources, record != before { core.store.add(.resources, saved(record, of: app), of: id) }
    }

    private func profile(of app: AppIndex) -> ResourceProfile? {
        guard let state = states[app], var profile = profiles[state] else { return nil }
        if state == .suspended, let score = profile.oomScoreAdjustment, score >= 0 {
            profile.oomScoreAdjustment = order[app] ?? score
        }
        return profile
    }
}

extension ResourceProfile {
    fileprivate init(_ state: DaemonSettings.Resources.State, processLimit: Int?) {
        self.init()
        self.processLimit = processLimit
        cpuWeight = state.cpuWeight
        ioWeight = state.ioWeight
        memoryLow = state.memoryLow
        nice = state.nice
        ioPriority = state.ioPriority.map { IOPriority($0) }
        oomScoreAdjustment = state.oomScoreAdjustment
        // The configuration limits it to a second.
        timerSlack = state.timerSlack.map { Int($0 / .nanoseconds(1)) }
    }
}

extension ProcessLimit {
    init(_ limit: DaemonSettings.ProcessLimit) {
        switch limit {
        case .number(let number): self = .number(number)
        case .percent(let percent): self = .percent(percent)
        case .unlimited: self = .unlimited
        }
    }
}

extension IOPriority {
    fileprivate init(_ priority: DaemonSettings.Resources.IOPriority) {
        switch priority {
        case .realTime(let level): self = .realTime(level)
        case .bestEffort(let level): self = .bestEffort(level)
        case .idle: self = .idle
        }
    }
}
