import LifecycleCore

/// A deadline as the record of its app has it.
struct RunningDeadline: Sendable {
    let end: Instant
    /// What it is about: a callback, a launch, an end.
    let subject: String
    /// True while a use kept the app running.
    let wasUsed: Bool
}

/// The deadlines of the apps, over restarts of the daemon: the table of ``DeadlineKind``.
extension Machine {
    private func runningDeadlines(of id: AppID) -> [DeadlineKind: RunningDeadline] {
        guard let record = core.record(of: id) else { return [:] }
        var running: [DeadlineKind: RunningDeadline] = [:]
        for text in record.all("deadline") {
            let parts = text.split(separator: ":").map(String.init)
            guard parts.count == 2, let kind = DeadlineKind(rawValue: parts[0]), let end = UInt64(parts[1]) else {
                continue
            }
            let subject = kind.subject.map { record[$0] ?? "" }.joined(separator: " ")
            running[kind] = RunningDeadline(
                end: Instant(microseconds: end), subject: subject, wasUsed: record["use"] != nil)
        }
        return running
    }

    /// No deadline ends later than it was to end, as long as it is about the same thing, and whatever becomes of the daemon.
    /// What an app has not received is sent anew, and has the whole time.
    mutating func checkDeadlines(_ changed: [AppID]) {
        guard setup.deaths != .none else { return }
        for id in changed {
            let running = runningDeadlines(of: id)
            for (kind, deadline) in running where !kind.subject.isEmpty && !toldAnew.contains(id) {
                guard let before = deadlines[id]?[kind], before.subject == deadline.subject, before.end < deadline.end
                else { continue }
                report("\(id) has \(deadline.end.duration(since: before.end)) more for \(kind.rawValue)")
            }
            deadlines[id] = running
        }
        toldAnew = []
    }

    /// The next daemon ends and forgets no deadline of an app that goes on, acts upon it when it passes, and waits longer only to read
    /// what the app has said meanwhile, or for it to reconnect.
    mutating func checkRestoredDeadlines(_ before: [AppID: [DeadlineKind: RunningDeadline]]) {
        let read = now + .milliseconds(250)
        for (id, running) in before.sorted(by: { $0.key < $1.key }) {
            guard let app = core.knownApps[id], goesOn(id, app) else { continue }
            let after = runningDeadlines(of: id)
            for (kind, deadline) in running where deadline.end > now || !mayPass(kind) {
                if mayEnd(kind, id, app) { continue }
                guard let end = after[kind]?.end, let due = core.deadline(kind, of: id) else {
                    report("\(id) has no deadline \(kind.rawValue) after the restart")
                    continue
                }
                if deadline.wasUsed, kind == .background || kind == .tasks { continue }
                if mayBeginAnew(kind, id) { continue }
                // An answer about scenes is not awaited beyond the time for their end.
                if end < deadline.end, let scenes = after[.sceneDisconnection]?.end, end >= scenes { continue }
                if end != deadline.end {
                    report("\(id) has \(end.duration(since: deadline.end)) more for \(kind.rawValue) by the restart")
                }
                let waits = kind.waitsForReconnection && app.isReconnecting && app.state != .suspended
                let latest = max(deadline.end, waits ? now + .seconds(35) : read)
                if due > latest {
                    report("\(kind.rawValue) of \(id) is due \(due.duration(since: latest)) too late after the restart")
                }
            }
        }
    }

    /// Returns whether the app is the same process, which has not ended, or has none and waits for its restart.
    private func goesOn(_ id: AppID, _ app: AppMachine) -> Bool {
        guard let tree = trees[id] else { return !app.isRunning && app.restart.failures > 0 }
        return tree.launched == app.launched && tree.mainStatus == nil && !app.isSpawning
    }

    /// Returns whether a deadline that passed without a daemon is acted upon at once.
    private func mayPass(_ kind: DeadlineKind) -> Bool { kind == .restart || kind == .killed }

    /// Returns whether what the deadline is about may have ended with the restart.
    private func mayEnd(_ kind: DeadlineKind, _ id: AppID, _ app: AppMachine) -> Bool {
        guard trees[id] != nil else { return kind != .restart }
        return switch kind {
        case .restart, .killed: false
        // The channel is back; nothing that the app was to be told meanwhile.
        case .exit, .reconnection: !app.isReconnecting
        case .answer, .resignation: resent.contains(id)
        case .background, .tasks, .taskExpiration: app.state != .background
        case .launch, .performTask, .hello, .woken, .sceneDisconnection, .termination, .signal: false
        }
    }

    /// Returns whether the time begins anew with the restart. That of an app which was used does too: the reports are gone.
    private func mayBeginAnew(_ kind: DeadlineKind, _ id: AppID) -> Bool {
        switch kind {
        case .reconnection: true
        case .answer, .resignation, .performTask, .taskExpiration: resent.contains(id)
        case .background, .tasks, .launch, .exit, .hello, .woken, .sceneDisconnection, .termination, .killed, .restart,
            .signal:
            false
        }
    }
}

extension DeadlineKind {
    /// The values of a record that tell what the deadline is about; none for what may begin anew by itself.
    fileprivate var subject: [String] {
        switch self {
        case .answer: ["launched", "told-sequence"]
        case .performTask: ["launched", "task-sequence"]
        case .launch, .hello, .sceneDisconnection: ["launched"]
        case .termination: ["launched", "state"]
        case .restart: ["failures"]
        case .resignation, .background, .reconnection, .exit, .tasks, .taskExpiration, .woken, .killed, .signal: []
        }
    }

    fileprivate var waitsForReconnection: Bool {
        switch self {
        case .answer, .launch, .performTask, .taskExpiration: true
        case .resignation, .background, .reconnection, .exit, .tasks, .hello, .woken, .sceneDisconnection,
            .termination, .killed, .restart, .signal:
            false
        }
    }
}
