import LifecycleCore
import Processes
import Systemd

// The transitions and decisions of the core, and what apps do, as entries of the journal.

extension JournalSink {
    private typealias Fields = [(name: String, value: String)]

    /// - Parameter member: The user of the app, whose entries have a limit; nil for none.
    func write(_ step: Transition, pid: ProcessID?, member: UInt32?) {
        var fields: Fields = [
            ("LIFED_FROM", step.from.rawValue), ("LIFED_TO", step.to.rawValue), ("LIFED_REASON", step.reason.rawValue),
            ("LIFED_STATE_USEC", String(step.stateTime.wholeMicroseconds)),
        ]
        if let time = step.answerTime { fields.append(("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))) }
        let message = "\(step.app.name): \(step.from.rawValue) → \(step.to.rawValue) (\(step.reason.rawValue))"
        write(
            entry(.transition, .info, message, fields).of(step.app, pid), causedBy: member.map { .apps(of: $0) })
    }

    func write(_ step: SceneTransition, pid: ProcessID?, member: UInt32?) {
        var fields: Fields = [
            ("LIFED_SCENE", step.scene.name), ("LIFED_FROM", step.from.rawValue), ("LIFED_TO", step.to.rawValue),
            ("LIFED_REASON", step.reason.rawValue),
        ]
        if let time = step.answerTime { fields.append(("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))) }
        let change = "\(step.from.rawValue) → \(step.to.rawValue) (\(step.reason.rawValue))"
        let message = "\(step.app.name)/\(step.scene.name): \(change)"
        write(
            entry(.sceneTransition, .info, message, fields).of(step.app, pid), causedBy: member.map { .apps(of: $0) })
    }

    func write(_ decision: Decision, pid: ProcessID?, member: UInt32?) {
        // The process of an earlier launch is not that of a launch that has failed.
        let pid = if case .launchFailed = decision { nil as ProcessID? } else { pid }
        let cause: EntryCause? = member.map { .apps(of: $0) } ?? decision.appToLimit.map { .app($0) }
        write(entry(for: decision).of(decision.app, pid), causedBy: cause)
    }

    func write(mistake: String, count: Int, by app: AppID, member: UInt32?) {
        let end =
            count >= AppConnection.mistakeLimit ? "; closing the channel" : "; ignoring the line (mistake \(count))"
        let text = "cannot handle a line of \(app): \(mistake)\(end)"
        let entry = entry(.channelMistake, .warning, text, [("LIFED_REASON", mistake)]).of(app, nil)
        write(entry, causedBy: member.map { .apps(of: $0) } ?? .app(app))
    }

    /// Writes the memory that was reclaimed from a suspended app.
    func write(_ outcome: MemoryReclaim.Outcome, by method: MemoryReclaim.Method, of app: AppID) {
        let amount = UInt64(outcome.reclaimed)
        let end = outcome.error.map { ", then failed: \($0)" } ?? ""
        let message =
            "lifed has reclaimed \(Self.size(amount)) of \(Self.size(UInt64(outcome.before))) from \(app) while suspended"
            + " (\(method.rawValue))\(end)"
        let fields: Fields = [("LIFED_FREED_BYTES", String(amount)), ("LIFED_METHOD", method.rawValue)]
        write(entry(.memoryGivenBack, .info, message, fields).of(app, nil), causedBy: .app(app))
    }

    // MARK: Entries

    private func entry(
        _ id: MessageID?, _ priority: Journal.Priority, _ message: String, _ fields: Fields = []
    ) -> LogEntry {
        LogEntry(id: id, priority: priority, message: message, fields: fields)
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    private func entry(for decision: Decision) -> LogEntry {
        switch decision {
        case .stopRenewed(let app):
            entry(
                .suspensionRenewed, .notice,
                "another program has continued \(app) while suspended; lifed stops it again")
        case .stopIncomplete(let app, let failure):
            entry(
                .suspensionIncomplete, .warning, "cannot suspend \(app): \(failure.words)",
                [("LIFED_PIDS", failure.words)])
        case .stoppedByOther(let app):
            entry(nil, .notice, "another program has stopped \(app); lifed continues it for the next request")
        case .signalPending(let app):
            entry(
                nil, .notice,
                "another program has sent \(app) a signal while suspended; lifed continues it to act upon it")
        case .answered(let app, let callback, let time):
            entry(
                .callbackAnswered, .debug, "\(app) answered \(callback.rawValue) after \(time.wholeMicroseconds) µs",
                [("LIFED_CALLBACK", callback.rawValue), ("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))])
        case .tasksOverdue(let app, let tasks):
            entry(
                .tasksOverdue, .warning,
                "cannot suspend \(app): it did not end its background tasks in time (\(Self.list(tasks.map(\.name)))); killing it",
                [("LIFED_TASKS", Self.list(tasks.map(\.name)))])
        case .answerOverdue(let app, let callback):
            entry(
                .callbackOverdue, .warning,
                "cannot await \(callback.rawValue) of \(app): no answer in time; continuing without it",
                [("LIFED_CALLBACK", callback.rawValue)])
        case .eventEnded(let app, let event, let outcome):
            entry(
                .eventEnded, .info, "\(app): \(event.callback.rawValue) \(outcome.rawValue)",
                [("LIFED_CALLBACK", event.callback.rawValue), ("LIFED_OUTCOME", outcome.rawValue)])
        case .terminationOverdue(let app):
            entry(
                .killedAfterTimeout, .warning,
                "cannot terminate \(app): it still runs after its termination timeout; killing it")
        case .launchFailed(let app, let failure):
            launchFailure(
                of: app, String(failure.words.prefix(EndedApps.Record.failureLength)), failure.ofLaunch.remedy)
        case .exited(let app, let exit): entry(for: exit, of: app)
        case .machine(let event):
            entry(
                .machineEvent, .info, "the machine or the session reports \(event.rawValue)",
                [("LIFED_REASON", event.rawValue)])
        case .interruptionBegan(let name):
            entry(.interruptionBegan, .info, "interruption \(name) began", [("LIFED_REASON", name)])
        case .interruptionEnded(let name):
            entry(.interruptionEnded, .info, "interruption \(name) ended", [("LIFED_REASON", name)])
        case .scenesReclaimed(let app, let scenes):
            entry(
                .scenesReclaimed, .notice,
                "lifed disconnects scenes of \(app) because memory is short: \(Self.list(scenes.map(\.name)))",
                [("LIFED_SCENES", Self.list(scenes.map(\.name)))])
        case .sceneRefused(let app, let refusal):
            entry(
                .sceneRefused, .warning, "cannot change scenes for \(app): \(refusal.words); refusing the request",
                [("LIFED_REASON", refusal.words)])
        case .reclaimed(let app, let account): reclaimEntry(app, account)
        case .restartDelayed(let app, let delay):
            entry(
                .restartDelayed, .warning,
                "cannot keep \(app) running: it ends soon after each launch; launching it again in \(delay)",
                [("LIFED_DELAY_USEC", String(delay.wholeMicroseconds))])
        case .restartLimitReached(let app, let failures):
            entry(
                .restartLimitReached, .error,
                "cannot keep \(app) running: it has reached the restart limit of \(failures) ends; launch it with 'lifectl launch'",
                [("LIFED_FAILURES", String(failures))])
        }
    }

    private func launchFailure(of app: AppID, _ words: String, _ remedy: String) -> LogEntry {
        entry(.launchFailed, .error, "cannot launch \(app): \(words); \(remedy)", [("LIFED_REASON", words)])
    }

    private func entry(for exit: ExitRecord, of app: AppID) -> LogEntry {
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
        var message = "\(app) \(words) (\(exit.reason.rawValue))"
        if exit.restoreFailure != nil {
            fields.append(("LIFED_RESTORE_FAILED", "1"))
            message += "; its next launch does not restore its state"
        }
        return entry(.exited, priority, message, fields)
    }

    private func reclaimEntry(_ app: AppID, _ account: ReclaimRecord) -> LogEntry {
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
        return entry(.reclaimed, .notice, message, fields)
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

extension Decision {
    /// The app that has a limit of these entries: it may ask for scenes, and a program of its user may signal it, without end.
    fileprivate var appToLimit: AppID? {
        switch self {
        case .sceneRefused(let app, _), .stopRenewed(let app), .stopIncomplete(let app, _), .stoppedByOther(let app),
            .signalPending(let app):
            app
        case .answered, .tasksOverdue, .answerOverdue, .eventEnded, .terminationOverdue, .launchFailed, .exited,
            .machine, .interruptionBegan, .interruptionEnded, .scenesReclaimed, .reclaimed, .restartDelayed,
            .restartLimitReached:
            nil
        }
    }
}

extension LogEntry {
    /// Returns the entry with the fields of an app and a process of it.
    fileprivate func of(_ app: AppID?, _ pid: ProcessID?) -> LogEntry {
        var entry = self
        let process = pid.map { [("LIFED_PID", String($0))] } ?? []
        entry.fields = (app.map { [("LIFED_APP", $0.name)] } ?? []) + process + fields
        return entry
    }
}

extension ReclaimRecord.Cause {
    var words: String {
        switch self {
        case .pressure(let shortage): shortage.words
        case .simulation: "a client simulated a shortage of memory"
        case .suspendedLimit(let limit):
            "more than \(limit) app\(limit == 1 ? "" : "s") were suspended (memory.suspendedLimit)"
        }
    }
}

extension MemoryShortage {
    /// The kernel's averages over ten seconds and the available memory, as part of a sentence.
    nonisolated var words: String {
        let left = available.map { ", \($0 >> 20) MiB available" } ?? ""
        return "tasks waited for memory \(Self.percentage(someWaited)) % of the last 10 s"
            + " (all of them \(Self.percentage(allWaited)) %)" + left
    }

    nonisolated private static func percentage(_ hundredths: UInt64) -> Double { Double(hundredths) / 100 }
}
