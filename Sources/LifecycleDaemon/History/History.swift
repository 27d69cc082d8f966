import LifecycleCore
import Processes

/// The last events since the daemon was started, and counts of all of them. Every transition goes through it, so it makes
/// no text.
struct History {
    private(set) var events = EventRing()
    private(set) var counts = Counts()
    /// The instants at which ids became those of another user's app.
    private var newOwners: [AppID: Instant] = [:]

    struct Counts {
        /// Transitions by the state reached, in the order of ``AppState/allCases``.
        fileprivate(set) var arrivals = [UInt64](repeating: 0, count: AppState.allCases.count)
        fileprivate(set) var ends: [Reason: UInt64] = [:]
        fileprivate(set) var unanswered: UInt64 = 0
        fileprivate(set) var killedAfterTimeout: UInt64 = 0
        fileprivate(set) var failedLaunches: UInt64 = 0
    }

    /// Notes that an id may have been that of another user's app before.
    mutating func noteNewOwner(of id: AppID, at now: Instant) {
        if let start = events.start { newOwners = newOwners.filter { $0.value >= start } }
        newOwners[id] = now
    }

    /// Returns whether an event of an id at an instant is of the app that has the id now.
    func isOfOwner(_ id: AppID, _ instant: Instant) -> Bool { newOwners[id].map { instant >= $0 } ?? true }

    mutating func append(_ step: Transition, pid: ProcessID?) {
        events.append(
            EventRing.Entry(
                app: step.app, reason: step.reason, instant: step.instant, stateTime: step.stateTime.wholeMicroseconds,
                answerTime: step.answerTime.map { UInt32(clamping: $0.wholeMicroseconds) } ?? .max,
                pid: pid ?? 0, kind: .transition, from: step.from, to: step.to))
        counts.arrivals[step.to.index] += 1
        if step.to == .notRunning { counts.ends[step.reason, default: 0] += 1 }
    }

    mutating func append(_ decision: Decision, pid: ProcessID?, at now: @autoclosure () -> Instant) {
        switch decision {
        case .answerOverdue(let app, let callback):
            counts.unanswered += 1
            events.append(
                .init(
                    app: app, reason: .none, callback: callback, instant: now(), pid: pid ?? 0, kind: .callbackOverdue))
        case .terminationOverdue(let app):
            counts.killedAfterTimeout += 1
            events.append(.init(app: app, reason: .kill, instant: now(), pid: pid ?? 0, kind: .killed))
        case .exited(let app, let exit):
            let (kind, detail) = exit.status.entry
            events.append(
                .init(
                    app: app, reason: exit.reason, instant: exit.instant, detail: detail, pid: pid ?? 0, kind: kind,
                    from: exit.state))
        case .launchFailed(let app, _):
            counts.failedLaunches += 1
            events.append(.init(app: app, reason: .launchFailed, instant: now(), pid: 0, kind: .launchFailed))
        case .stopRenewed, .stopIncomplete, .stoppedByOther, .answered, .tasksOverdue, .reclaimed, .scenesReclaimed,
            .sceneRefused, .interruptionBegan, .interruptionEnded, .machine, .eventEnded, .restartDelayed,
            .restartLimitReached:
            break
        }
    }
}

extension AppState {
    fileprivate var index: Int {
        switch self {
        case .notRunning: 0
        case .inactive: 1
        case .active: 2
        case .background: 3
        case .suspended: 4
        case .terminating: 5
        }
    }
}

extension LifecycleCore.ExitStatus {
    fileprivate var entry: (EventRing.Kind, Int32) {
        switch self {
        case .code(let code): (.code, code)
        case .signal(let number): (.signal, number)
        case .unknown: (.ended, 0)
        }
    }
}
