import LifecycleCore
import Processes
import Systemd

/// Writes the transitions and decisions of the core to the journal.
struct LifecycleLog {
    let log: any JournalSink

    private typealias Fields = [(name: String, value: String)]

    func write(_ step: Transition, pid: ProcessID?) { log.write(.transition(step, pid: pid)) }

    func write(_ step: SceneTransition, pid: ProcessID?) {
        var fields: Fields =
            [("LIFED_SCENE", step.scene.name)] + change(step.from.rawValue, step.to.rawValue, step.reason)
        if let time = step.answerTime { fields.append(("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))) }
        let change = "\(step.from.rawValue) → \(step.to.rawValue) (\(step.reason.rawValue))"
        let message = "\(step.app.name)/\(step.scene.name): \(change)"
        log.write(entry(.sceneTransition, .info, message, step.app, pid, fields))
    }

    func write(_ decision: Decision, pid: ProcessID?) {
        let entry = entry(for: decision, pid: pid)
        switch decision {
        // An app may ask for scenes, and a program of its user may signal it, without limit.
        case .sceneRefused(let app, _), .stopRenewed(let app), .stopIncomplete(let app, _), .stoppedByOther(let app):
            log.write(entry, causedBy: .app(app))
        default: log.write(entry)
        }
    }

    func write(mistake: String, count: Int, by app: AppID) {
        let end =
            count >= AppConnection.mistakeLimit ? "; closing the channel" : "; ignoring the line (mistake \(count))"
        log.write(
            entry(
                .channelMistake, .warning, "cannot handle a line of \(app): \(mistake)\(end)", app, nil,
                [("LIFED_REASON", mistake)]))
    }

    /// Writes the memory that was reclaimed from a suspended app.
    func write(_ outcome: MemoryReclaim.Outcome, by method: MemoryReclaim.Method, of app: AppID) {
        let amount = UInt64(outcome.reclaimed)
        let end = outcome.error.map { ", then failed: \($0)" } ?? ""
        let message =
            "lifed has reclaimed \(Self.size(amount)) of \(Self.size(UInt64(outcome.before))) from \(app) while suspended"
            + " (\(method.rawValue))\(end)"
        let fields: Fields = [("LIFED_FREED_BYTES", String(amount)), ("LIFED_METHOD", method.rawValue)]
        log.write(entry(.memoryGivenBack, .info, message, app, nil, fields))
    }

    // MARK: Entries

    private func entry(
        _ id: MessageID?, _ priority: Journal.Priority, _ message: String, _ app: AppID, _ pid: ProcessID?,
        _ fields: Fields = []
    ) -> LogEntry {
        var all: Fields = []
        all.reserveCapacity(8)
        all.append(("LIFED_APP", app.name))
        if let pid { all.append(("LIFED_PID", String(pid))) }
        all += fields
        return LogEntry(id: id, priority: priority, message: message, fields: all)
    }

    private func change(_ from: String, _ to: String, _ reason: some RawRepresentable<String>) -> Fields {
        [("LIFED_FROM", from), ("LIFED_TO", to), ("LIFED_REASON", reason.rawValue)]
    }

    private func entry(for decision: Decision, pid: ProcessID?) -> LogEntry {
        switch decision {
        case .stopRenewed(let app):
            let message = "another program has continued \(app) while suspended; lifed stops it again"
            return entry(.suspensionRenewed, .notice, message, app, pid)
        case .stopIncomplete(let app, let which):
            return entry(
                .suspensionIncomplete, .warning, "cannot suspend \(app): \(which)", app, pid,
                [("LIFED_PIDS", which)])
        case .stoppedByOther(let app):
            return entry(
                nil, .notice, "another program has stopped \(app); lifed continues it for the next request", app, pid)
        case .answered(let app, let callback, let time):
            return entry(
                .callbackAnswered, .debug,
                "\(app) answered \(callback.rawValue) after \(time.wholeMicroseconds) µs", app, pid,
                [("LIFED_CALLBACK", callback.rawValue), ("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))])
        case .tasksOverdue(let app, let tasks):
            let names = tasks.map(\.name).joined(separator: ", ")
            return entry(
                .tasksOverdue, .warning,
                "cannot suspend \(app): it did not end its background tasks in time (\(names)); killing it", app, pid,
                [("LIFED_TASKS", names)])
        case .answerOverdue(let app, let callback):
            return entry(
                .callbackOverdue, .warning,
                "cannot await \(callback.rawValue) of \(app): no answer in time; continuing without it", app, pid,
                [("LIFED_CALLBACK", callback.rawValue)])
        case .eventEnded(let app, let event, let outcome):
            return entry(
                .eventEnded, .info, "\(app): \(event.callback.rawValue) \(outcome.rawValue)", app, pid,
                [("LIFED_CALLBACK", event.callback.rawValue), ("LIFED_OUTCOME", outcome.rawValue)])
        case .terminationOverdue(let app):
            return entry(
                .killedAfterTimeout, .warning,
                "cannot terminate \(app): it still runs after its termination timeout; killing it", app, pid)
        case .launchFailed(let app, let why):
            return entry(
                .launchFailed, .error, "cannot launch \(app): \(why.words); \(why.remedy)", app, nil,
                [("LIFED_REASON", why.words)])
        case .exited(let app, let exit): return entry(for: exit, of: app, pid: pid)
        case .machine(let event):
            return entry(.machineEvent, "the machine or the session reports \(event.rawValue)", reason: event.rawValue)
        case .interruptionBegan(let name):
            return entry(.interruptionBegan, "interruption \(name) began", reason: name)
        case .interruptionEnded(let name):
            return entry(.interruptionEnded, "interruption \(name) ended", reason: name)
        case .scenesReclaimed(let app, let scenes):
            let names = scenes.map(\.name).joined(separator: ", ")
            return entry(
                .scenesReclaimed, .notice,
                "lifed disconnects scenes of \(app) because memory is short: \(names)", app, pid,
                [("LIFED_SCENES", names)])
        case .sceneRefused(let app, let refusal):
            let reason = refusal.words
            return entry(
                .sceneRefused, .warning, "cannot change scenes for \(app): \(reason); refusing the request", app, pid,
                [("LIFED_REASON", reason)])
        case .reclaimed(let app, let account): return reclaimEntry(app, account, pid: pid)
        case .restartDelayed(let app, let delay):
            return entry(
                .restartDelayed, .warning,
                "cannot keep \(app) running: it ends soon after each launch; launching it again in \(delay)", app, pid,
                [("LIFED_DELAY_USEC", String(delay.wholeMicroseconds))])
        case .restartLimitReached(let app, let failures):
            return entry(
                .restartLimitReached, .error,
                "cannot keep \(app) running: it has reached the restart limit of \(failures) ends; launch it with 'lifectl launch'",
                app, pid,
                [("LIFED_FAILURES", String(failures))])
        }
    }

    private func entry(_ id: MessageID, _ message: String, reason: String) -> LogEntry {
        LogEntry(id: id, message: message, fields: [("LIFED_REASON", reason)])
    }

    private func entry(for exit: ExitRecord, of app: AppID, pid: ProcessID?) -> LogEntry {
        var fields: Fields = [("LIFED_FROM", exit.state.rawValue), ("LIFED_REASON", exit.reason.rawValue)]
        let words: String
        switch exit.status {
        case .code(let code):
            fields.append(("LIFED_EXIT_CODE", String(code)))
            words = "ended with status \(code)"
        case .signal(let number):
            let signal = Signal(rawValue: number)
            fields.append(("LIFED_SIGNAL", signal.description))
            words = "was ended by \(signal)"
        case .unknown: words = "ended"
        }
        let priority: Journal.Priority = exit.reason == .crash ? .warning : .info
        return entry(.exited, priority, "\(app) \(words) (\(exit.reason.rawValue))", app, pid, fields)
    }

    private func reclaimEntry(_ app: AppID, _ account: ReclaimRecord, pid: ProcessID?) -> LogEntry {
        let order = account.order.map(\.name).joined(separator: " ")
        var fields: Fields = [
            ("LIFED_REASON", Reason.reclaimed.rawValue), ("LIFED_PRESSURE", account.cause.words),
            ("LIFED_ORDER", order),
        ]
        if let freed = account.freed { fields.append(("LIFED_FREED_BYTES", String(freed))) }
        let amount = account.freed.map { ", which freed \(Self.size($0))" } ?? ""
        let message =
            "lifed has ended \(app) for its memory\(amount): \(account.cause.words); "
            + "first of \(account.candidates) that could be ended: \(order)"
        return entry(.reclaimed, .notice, message, app, pid, fields)
    }

    /// Returns the size in the largest unit that leaves a whole number above zero.
    private static func size(_ bytes: UInt64) -> String {
        switch bytes {
        case ..<(1 << 10): "\(bytes) bytes"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        default: "\(bytes >> 20) MiB"
        }
    }
}

extension ReclaimRecord.Cause {
    var words: String {
        switch self {
        case .pressure(let words): words
        case .simulation: "a client simulated a shortage of memory"
        case .suspendedLimit(let limit):
            "more than \(limit) app\(limit == 1 ? "" : "s") were suspended (memory.suspendedLimit)"
        }
    }
}
