import Configuration
import LifecycleCore
import Processes

extension ResourceProfile {
    /// What the settings have for a state; nil for a state in which nothing is given.
    init?(_ settings: Configuration.Settings.Resources, for state: AppState) {
        switch state {
        case .active: self.init(settings.active)
        case .inactive: self.init(settings.inactive)
        case .background: self.init(settings.background)
        case .suspended: self.init(settings.suspended)
        case .notRunning, .terminating: return nil
        }
    }

    private init(_ state: Configuration.Settings.Resources.State) {
        self.init()
        cpuWeight = state.cpuWeight
        ioWeight = state.ioWeight
        memoryLow = state.memoryLow
        nice = state.nice
        ioPriority = state.ioPriority.map { IOPriority($0) }
        oomScoreAdjustment = state.oomScoreAdjustment
        // A second at most, which the configuration sees to.
        timerSlack = state.timerSlack.map { Int($0 / .nanoseconds(1)) }
    }
}

extension ProcessLimit {
    init(_ limit: Configuration.Settings.ProcessLimit) {
        self =
            switch limit {
            case .number(let number): .number(number)
            case .percent(let percent): .percent(percent)
            case .unlimited: .unlimited
            }
    }
}

extension IOPriority {
    fileprivate init(_ priority: Configuration.Settings.Resources.IOPriority) {
        self =
            switch priority {
            case .realTime(let level): .realTime(level)
            case .bestEffort(let level): .bestEffort(level)
            case .idle: .idle
            }
    }
}
