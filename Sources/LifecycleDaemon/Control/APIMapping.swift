import Configuration
import ControlAPI
import LifecycleCore
import Processes

// The terms of the core and of processes in those of the control interface, and back.

extension State {
    init(_ state: AppState) {
        switch state {
        case .notRunning: self = .notRunning
        case .inactive: self = .inactive
        case .active: self = .active
        case .background: self = .background
        case .suspended: self = .suspended
        case .terminating: self = .terminating
        }
    }
}

extension ControlAPI.SceneState {
    init(_ state: LifecycleCore.SceneState) {
        switch state {
        case .unattached: self = .unattached
        case .foregroundInactive: self = .foregroundInactive
        case .foregroundActive: self = .foregroundActive
        case .background: self = .background
        case .suspended: self = .suspended
        }
    }
}

extension ControlAPI.Containment {
    init(_ kind: ContainmentKind) {
        switch kind {
        case .processGroup: self = .processGroup
        case .cgroup: self = .cgroup
        }
    }
}

extension ObstacleKind {
    init(_ step: ProcessStep) {
        switch step {
        case .spawn: self = .start
        case .stop: self = .stop
        case .resume: self = .resume
        case .terminate, .reap: self = .end
        }
    }
}

extension ErrandOutcome {
    init(_ outcome: EventOutcome) {
        switch outcome {
        case .handled: self = .handled
        case .declined: self = .declined
        case .unanswered: self = .unanswered
        case .notListening: self = .notListening
        case .lost: self = .lost
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}

extension Reclaim {
    init(_ account: ReclaimRecord) {
        self.init(
            cause: account.cause.words, order: account.order.map(\.name), candidates: Int64(account.candidates),
            freed: account.freed.map { Int64(clamping: $0) })
    }
}

extension ControlAPI.Problem {
    init(_ problem: Configuration.Problem) {
        self.init(file: problem.file, line: problem.line.map { Int64($0) }, message: problem.message)
    }
}

extension LifecycleCore.MachineEvent {
    init(_ event: ControlAPI.MachineEvent) {
        switch event {
        case .lock: self = .lock
        case .unlock: self = .unlock
        case .sleep: self = .sleep
        case .wake: self = .wake
        case .switchAway: self = .switchAway
        case .switchBack: self = .switchBack
        case .timeChange: self = .timeChange
        }
    }
}

extension LifecycleCore.Use {
    init(_ use: ControlAPI.Use) {
        switch use {
        case .visible: self = .visible
        case .playing: self = .playing
        }
    }
}
