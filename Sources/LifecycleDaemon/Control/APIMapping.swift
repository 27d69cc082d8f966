import Configuration
import ControlAPI
import LifecycleCore
import Processes

// The terms of the core and of processes in those of the control interface, and back.

extension APIContainment {
    init(_ kind: ContainmentKind) {
        switch kind {
        case .cgroup: self = .cgroup
        case .keeper: self = .keeper
        case .descent: self = .descent
        }
    }
}

extension APIStateConditionKind {
    init(_ step: ProcessStep) {
        switch step {
        case .spawn: self = .start
        case .stop: self = .stop
        case .resume: self = .resume
        case .terminate, .reap: self = .end
        }
    }
}

extension APIStateConditionKind {
    init(_ use: Use) {
        switch use {
        case .visible: self = .visible
        case .pointed: self = .pointed
        case .playing: self = .playing
        case .called: self = .called
        case .awaited: self = .awaited
        case .unread: self = .unread
        case .relaunched: self = .relaunched
        case .unfollowed: self = .unfollowed
        }
    }
}

extension APIReclaim {
    init(_ account: ReclaimRecord) {
        self.init(
            cause: account.cause.words, order: account.order.map(\.name), candidates: Int64(account.candidates),
            freedBytes: account.freed.map { Int64(clamping: $0) })
    }
}

extension APIProblem {
    init(_ problem: Problem) {
        self.init(file: problem.file, line: problem.line.map { Int64($0) }, message: problem.message)
    }
}
