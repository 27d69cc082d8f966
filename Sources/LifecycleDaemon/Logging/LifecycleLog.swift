import LifecycleCore
import Processes
import Systemd

/// Puts what the core did and decided into words and fields.
struct LifecycleLog {
    let log: Log

    func write(_ step: Transition, pid: ProcessID?) {
        var fields = appFields(step.app, pid)
        fields += [
            ("LIFED_FROM", step.from.rawValue), ("LIFED_TO", step.to.rawValue), ("LIFED_REASON", step.reason.rawValue),
        ]
        fields.append(("LIFED_STATE_USEC", String(step.stateTime.wholeMicroseconds)))
        if let time = step.answerTime { fields.append(("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds))) }
        log.write(
            LogEntry(
                id: .transition,
                message: "\(step.app): \(step.from.rawValue) → \(step.to.rawValue) (\(step.reason))",
                fields: fields))
    }

    func write(_ decision: Decision, pid: ProcessID?) {
        let entry = entry(for: decision, pid: pid)
        // An app can ask for scenes as often as it likes.
        if case .sceneRefused(let app, _) = decision { return log.write(entry, causedBy: .app(app)) }
        log.write(entry)
    }

    /// An app said something over its channel that the protocol does not have.
    func write(mistake: String, count: Int, by app: AppID) {
        let isLast = count >= AppConnection.mistakeLimit
        log.write(
            LogEntry(
                id: .channelMistake, priority: .warning,
                message: "\(app) made mistake \(count) on its channel: \(mistake)"
                    + (isLast ? " The channel is closed." : ""),
                fields: appFields(app, nil) + [("LIFED_REASON", mistake)]))
    }

    private func entry(for decision: Decision, pid: ProcessID?) -> LogEntry {
        switch decision {
        case .stopRenewed(let app):
            LogEntry(
                id: .suspensionRenewed, priority: .notice,
                message: "\(app) was continued by somebody else while suspended; it is being stopped again",
                fields: appFields(app, pid))
        case .stopIncomplete(let app, let which):
            LogEntry(
                id: .suspensionIncomplete, priority: .warning,
                message: "\(app) is not wholly stopped: \(which)",
                fields: appFields(app, pid) + [("LIFED_PIDS", which)])
        case .stoppedByOther(let app):
            LogEntry(
                priority: .notice, message: "\(app) was stopped by somebody else; it is continued when it is wanted",
                fields: appFields(app, pid))
        case .answered(let app, let callback, let time):
            LogEntry(
                id: .callbackAnswered, priority: .debug,
                message: "\(app) answered \(callback.rawValue) after \(time.wholeMicroseconds) µs",
                fields: appFields(app, pid) + [
                    ("LIFED_CALLBACK", callback.rawValue), ("LIFED_CALLBACK_USEC", String(time.wholeMicroseconds)),
                ])
        case .tasksOverdue(let app, let tasks):
            LogEntry(
                id: .tasksOverdue, priority: .warning,
                message: "\(app) did not end its background tasks in time: \(tasks.names)",
                fields: appFields(app, pid) + [("LIFED_TASKS", tasks.names)])
        case .answerOverdue(let app, let callback):
            LogEntry(
                id: .callbackOverdue, priority: .warning, message: "\(app) did not answer \(callback.rawValue) in time",
                fields: appFields(app, pid) + [("LIFED_CALLBACK", callback.rawValue)])
        case .machine(let event):
            LogEntry(
                id: .machineEvent, message: "the machine or the session: \(event.rawValue)",
                fields: [("LIFED_REASON", event.rawValue)])
        case .eventEnded(let app, let event, let outcome):
            LogEntry(
                id: .eventEnded, message: "\(app): \(event.callback.rawValue) \(outcome.rawValue)",
                fields: appFields(app, pid) + [
                    ("LIFED_CALLBACK", event.callback.rawValue), ("LIFED_OUTCOME", outcome.rawValue),
                ])
        case .graceOver(let app):
            LogEntry(
                id: .killedAfterGrace, priority: .warning,
                message: "\(app) did not end in its time; it is being killed", fields: appFields(app, pid))
        case .launchFailed(let app, let why):
            LogEntry(
                id: .launchFailed, priority: .error, message: "\(app) could not be started: \(why.words)",
                fields: appFields(app, nil) + [("LIFED_REASON", why.words)])
        case .exited(let app, let exit): exitEntry(app, exit, pid: pid)
        case .interruptionBegan(let name):
            LogEntry(id: .interruptionBegan, message: "interruption \(name) began", fields: [("LIFED_REASON", name)])
        case .interruptionEnded(let name):
            LogEntry(id: .interruptionEnded, message: "interruption \(name) ended", fields: [("LIFED_REASON", name)])
        case .scenesReclaimed, .sceneRefused: sceneEntry(decision, pid: pid)
        case .reclaimed(let app, let account): reclaimEntry(app, account, pid: pid)
        case .restartDelayed(let app, let delay):
            LogEntry(
                id: .restartDelayed, priority: .warning,
                message: "\(app) keeps ending; it is started again in \(delay)",
                fields: appFields(app, pid) + [("LIFED_DELAY_USEC", String(delay.wholeMicroseconds))])
        case .givenUp(let app, let failures):
            LogEntry(
                id: .restartGivenUp, priority: .error,
                message: "\(app) has ended \(failures) times in a row soon after its start; it is given up",
                fields: appFields(app, pid) + [("LIFED_FAILURES", String(failures))])
        }
    }

    private func exitEntry(_ app: AppID, _ exit: Exit, pid: ProcessID?) -> LogEntry {
        var fields = appFields(app, pid)
        fields += [("LIFED_FROM", exit.state.rawValue), ("LIFED_REASON", exit.reason.rawValue)]
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
        return LogEntry(
            id: .exited, priority: exit.reason == .crash ? .warning : .info,
            message: "\(app) \(words) (\(exit.reason))", fields: fields)
    }

    func appFields(_ app: AppID, _ pid: ProcessID?) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [("LIFED_APP", app.name)]
        if let pid { fields.append(("LIFED_PID", String(pid))) }
        return fields
    }
}

extension [Hold] {
    fileprivate nonisolated var names: String { map(\.name).joined(separator: ", ") }
}
