import CommandLineTable
import ControlAPI
import LifecycleTypes

/// `lifectl explain`
enum Explain {
    static func run(_ arguments: Arguments) throws(Failure) {
        let (id, options) = (arguments.app, arguments.options)
        let session = try DaemonConnection(options, doing: "cannot explain \(id)")
        let explanation = try session.call(.explain, AppParameters(id: id)).explanation
        let limit = Int64(arguments.number(.last) ?? 10)
        let past = try session.call(.history, HistoryParameters(id: id, limit: limit))
        let result = ExplainOutput(explanation: explanation, history: past.events.map { HistoryEntry($0) })
        try options.show(result) { present in present.explanation(explanation, past: result.history) }
    }
}

extension TextPresentation {
    /// Returns the state of an app, its reason, the conditions, the next events, and the last events.
    func explanation(_ explanation: APIExplanation, past: [HistoryEntry]) -> String {
        let app = explanation.details.app
        let state = style.state(app.state, Words.state(app.state))
        var text = "\(style.heading(Text.printable(app.id))) \(state)\(stopped(app))\n"
        text += "  since \(Instants.dateAndAge(app.sinceUSec, now: now)): \(cause(explanation.details))\n"
        if let exit = app.lastExit, exit.restoreFailed {
            let launch =
                app.state == .notRunning ? "its next launch does not restore it" : "this launch has not restored it"
            text += "  it failed soon after it restored its state: \(launch)\n"
        }
        if explanation.details.ended { text += "  it had no manifest, so only its end is known\n" }
        if let next = explanation.next {
            let target = app.target == next ? "" : ", target \(app.target.rawValue)"
            text += "  next state \(next.rawValue)\(target)\n"
        }
        if let why = explanation.details.freezeReason { text += "  frozen: \(Text.printable(why))\n" }
        if let apps = explanation.connectedApps, !apps.isEmpty {
            let names = apps.map(Text.printable).joined(separator: ", ")
            text += "  connected by a pipe or a socket, so one can wait for the other: \(names)\n"
        }
        for process in explanation.details.uncontrolledProcesses { text += "  not controlled: \(words(process))\n" }
        text += section("conditions", explanation.conditions.map(condition), none: standing(app))
        text += section("next events, at the latest", nextEvents(explanation), none: "none until a request")
        text += section("last events", past.map { history($0, withApp: false) }, none: "none")
        return text
    }

    /// `1234 (sleep 9) of user root: it does not run as the user of the app`
    func words(_ process: APIUncontrolledProcess) -> String {
        let user = process.user.map { " of user \(Text.printable($0))" } ?? ""
        return "\(process.pid) (\(Text.printable(process.command)))\(user): \(Text.printable(process.cause))"
    }

    /// Returns why an app is in its state, with the status of its end or the error of its launch.
    private func cause(_ details: APIDetails) -> String {
        let app = details.app
        if let failure = details.launchFailure {
            let remedy = details.launchRemedy.map { "; \($0)" } ?? ""
            return "\(app.reason?.meaning ?? ""): \(Text.printable(failure + remedy))"
        }
        guard app.state == .notRunning, let exit = app.lastExit, exit.reason == app.reason else {
            return app.reason?.meaning ?? ""
        }
        let account = exit.reclaim.map { ": \(Text.printable($0.cause))" } ?? ""
        return Words.end(exit.reason, exitCode: exit.exitCode, signal: exit.signal) + account
    }

    private func section(_ title: String, _ lines: [String], none: String) -> String {
        let lines = lines.isEmpty ? [none] : lines
        return "\(style.heading(title))\n" + lines.map { "  \($0)\n" }.joined()
    }

    /// Returns the line for an app without conditions.
    private func standing(_ app: APIApp) -> String {
        switch app.state {
        case .active: "none: the app stays active until another app comes to the foreground"
        case .suspended: "none: the app stays suspended until a request"
        case .notRunning: "none: no request launches the app"
        case .inactive, .background, .terminating: "none"
        }
    }

    // MARK: Conditions

    func condition(_ condition: APIStateCondition) -> String {
        words(condition) + (condition.untilUSec.map { ", until \(timeAndDistance($0))" } ?? "")
    }

    private func words(_ condition: APIStateCondition) -> String {
        let names = condition.names.map(Text.printable).joined(separator: ", ")
        let first = condition.names.first.map(Text.printable) ?? ""
        switch condition.kind {
        case .start: return "its program is being launched"
        case .stop: return "its processes are being stopped"
        case .resume: return "its processes are being continued"
        case .end: return "it was asked to end, and processes of it are left"
        case .callback:
            let scene = condition.names.dropFirst().first.map { " (scene \(Text.printable($0)))" } ?? ""
            let since = condition.sinceUSec.map { ", asked \(Instants.age(now &- $0)) ago" } ?? ""
            return "it has to answer \(first)\(scene)\(since)"
        case .activationSlot:
            return names.isEmpty ? "no foreground slot is free" : "\(names) has not left the foreground slot yet"
        case .backgroundTime: return "it has background time to finish its work"
        case .task: return "its background task \(names)\(since(condition))"
        case .mode: return "its background mode \(names)\(since(condition)), until the mode ends"
        case .work:
            return names.isEmpty ? "it was woken, and has time for the work" : "it does background work: \(names)"
        case .launch: return "it has to answer the launch callbacks"
        case .connection: return "it lost its connection to the previous daemon, and has time to connect again"
        case .signal: return "it got a signal from outside while it was suspended, and has time to end"
        case .scenes: return "its scenes change their states first"
        case .interruption: return names.isEmpty ? "an interruption" : "the interruption \(names)"
        case .foregroundBlocked: return blocker(first)
        case .suspendPolicy: return "its manifest says suspend = \"never\""
        case .resumeRequest:
            return "it was resumed by request, and runs until it is suspended or has been in the foreground"
        case .visible: return "a window of it is visible, until that ends"
        case .pointed: return "the pointer is over a window of it, until that ends"
        case .playing: return "it plays sound, until that ends"
        case .called:
            return "\(condition.names.isEmpty ? "a program waits" : "\(names) waits") for its reply on the message bus"
        case .awaited:
            return "\(names.isEmpty ? "a process" : names) waits for a file lock that it holds"
        case .unread:
            return "its connection to the display server was nearly full, and it needs time to read the events"
        case .relaunched: return "the desktop has just launched it, and it has time to show a window"
        case .unfollowed:
            return "the desktop launched it, and no client reports which windows are visible; run 'lifed-desktop'"
        case .restart: return "it ended by itself, and is restarted later"
        case .restartLimit:
            return "it reached the restart limit; 'lifectl launch' launches it again"
        case .stoppedByOther: return "another program has stopped its processes; the next request for it continues them"
        }
    }

    private func since(_ condition: APIStateCondition) -> String {
        condition.sinceUSec.map { ", since \(Instants.timeOfDay($0))" } ?? ""
    }

    private func blocker(_ word: String) -> String {
        ForegroundBlocker(word: word)?.meaning ?? "the foreground is blocked: \(word)"
    }

    // MARK: Prospects

    private func nextEvents(_ explanation: APIExplanation) -> [String] {
        explanation.prospects.sorted { $0.timeUSec < $1.timeUSec }
            .map { "\(timeAndDistance($0.timeUSec))  \(words($0))" }
    }

    private func words(_ prospect: APIProspect) -> String {
        let callback = Text.printable(prospect.callback ?? "")
        switch prospect.kind {
        case .transition:
            let from = prospect.from.map { style.state($0) } ?? "?"
            let to = prospect.to.map { style.state($0) } ?? "?"
            return "\(from) → \(to): \(prospect.reason?.meaning ?? "")"
        case .callback: return "it is told \(callback)"
        case .callbackTimeout: return "its time to answer \(callback) is over"
        case .taskExpiration: return "it is told that the time of its background tasks is over"
        case .terminate: return "it is asked to end (SIGTERM)"
        case .kill: return "what is left of it is killed (SIGKILL)"
        }
    }

    /// Returns the time of day, or the date of a distant time, and the distance.
    func timeAndDistance(_ time: Int64) -> String {
        let distance = time &- now
        let far = distance > 12 * 3_600_000_000
        let text = far ? Instants.date(time) : Instants.timeOfDay(time)
        return distance < 0 ? "\(text) (now)" : "\(text) (in \(Instants.age(distance)))"
    }
}
