import DequeModule
import LifecycleCore
import Processes

/// The last events since the daemon was started, and counts of all of them.
final class History {
    private(set) var events = EventLog()
    private(set) var counts = Counts()

    struct Counts {
        /// Transitions by the state reached.
        fileprivate(set) var arrivals: [AppState: UInt64] = [:]
        fileprivate(set) var ends: [Reason: UInt64] = [:]
        fileprivate(set) var unanswered: UInt64 = 0
        fileprivate(set) var killedAfterTimeout: UInt64 = 0
        fileprivate(set) var failedLaunches: UInt64 = 0
    }

    /// - Parameter member: The user of the app, if that can be a member of the group `lifed`.
    func append(_ step: Transition, pid: ProcessID?, member: UInt32?) {
        events.append(
            .init(
                app: step.app, reason: step.reason, instant: step.instant, stateTime: step.stateTime,
                answerTime: step.answerTime, pid: pid, member: member, kind: .transition, from: step.from, to: step.to))
        counts.arrivals[step.to, default: 0] += 1
        if step.to == .notRunning { counts.ends[step.reason, default: 0] += 1 }
    }

    func append(
        _ decision: Decision, pid: ProcessID?, member: UInt32?, at now: @autoclosure () -> Instant
    ) {
        switch decision {
        case .answerOverdue(let app, let callback):
            counts.unanswered += 1
            events.append(
                .init(
                    app: app, reason: .none, callback: callback, instant: now(), pid: pid, member: member,
                    kind: .callbackOverdue))
        case .terminationOverdue(let app):
            counts.killedAfterTimeout += 1
            events.append(
                .init(app: app, reason: .kill, instant: now(), pid: pid, member: member, kind: .killed))
        case .exited(let app, let exit):
            let (kind, detail) = exit.status.entry
            events.append(
                .init(
                    app: app, reason: exit.reason, instant: exit.instant, detail: detail, pid: pid, member: member,
                    kind: kind,
                    from: exit.state, restoreFailed: exit.restoreFailure != nil))
        case .launchFailed(let app, _):
            counts.failedLaunches += 1
            events.append(
                .init(app: app, reason: .launchFailed, instant: now(), pid: nil, member: member, kind: .launchFailed))
        case .stopRenewed, .stopIncomplete, .stoppedByOther, .signalPending, .answered, .tasksOverdue, .reclaimed,
            .scenesReclaimed, .sceneRefused, .interruptionBegan, .interruptionEnded, .machine, .eventEnded,
            .restartDelayed,
            .restartLimitReached:
            break
        }
    }
}

extension ExitStatus {
    fileprivate var entry: (EventLog.Kind, Int32) {
        switch self {
        case .code(let code): (.code, code)
        case .signal(let number): (.signal, number)
        case .unknown: (.ended, 0)
        }
    }
}

/// The last events of all apps, for clients of a daemon without a journal.
struct EventLog {
    enum Kind { case transition, callbackOverdue, killed, code, signal, ended, launchFailed }

    struct Entry {
        let app: AppID
        let reason: Reason
        var callback: Callback?
        let instant: Instant
        /// The time in the state that the app left; nil if it is unknown.
        var stateTime: Duration?
        /// The time until the answer to the callback of the transition; nil for no answer.
        var answerTime: Duration?
        /// An exit code or a signal.
        var detail: Int32 = 0
        let pid: ProcessID?
        /// The user of the app at that time, if that can be a member of the group `lifed`: the id may be that of another user's app since.
        let member: UInt32?
        let kind: Kind
        var from = AppState.notRunning
        var to = AppState.notRunning
        var restoreFailed = false
    }

    static let limit = 1024

    private var entries = Deque<Entry>()
    private var hasForgotten = false

    mutating func append(_ entry: Entry) {
        if entries.count == Self.limit {
            entries.removeFirst()
            hasForgotten = true
        }
        entries.append(entry)
    }

    /// The instant since which the log is complete; nil if it has forgotten no entry.
    var start: Instant? { hasForgotten ? entries.first?.instant : nil }

    /// Returns the last entries that are wanted, the oldest first.
    func last(_ limit: Int, where isWanted: (Entry) -> Bool) -> ArraySlice<Entry> {
        Array(entries).filter(isWanted).suffix(limit)
    }
}

extension EventLog.Entry {
    func isVisible(to scope: ClientScope) -> Bool {
        switch scope {
        case .everything: true
        case .member(let user): member == user
        case .app(let own): app == own
        case .nothing: false
        }
    }
}
