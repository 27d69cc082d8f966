import CommandLineTable
import ControlAPI
import LifecycleTypes

// The output of `lifectl status`: the daemon, or one app with its processes.

extension TextPresentation {
    func status(_ status: APIStatus) -> String {
        let text = properties([
            (
                "daemon",
                "lifed \(Text.printable(status.version)) (pid \(status.pid), \(Text.printable(status.instance)))"
            ),
            ("socket", Text.printable(status.socket)),
            ("running since", Instants.dateAndAge(status.startedUSec, now: now)),
            ("foreground", names(status.foreground)),
            ("interruptions", status.interruptions.isEmpty ? nil : names(status.interruptions)),
            (
                "blocked by",
                status.foregroundBlockers.isEmpty ? nil : names(status.foregroundBlockers.map { $0.rawValue })
            ),
            ("home app", status.homeApp.map(Text.printable)),
            ("apps", "\(status.apps) known, \(status.running) running"),
            ("clients", "\(status.clients)"),
            ("log", status.journal ? "journal" : "standard error"),
            ("launches", status.launchBlocker.map { "none: \(Text.printable($0))" }),
            ("problems", status.problems.isEmpty ? "none" : "\(status.problems.count)"),
        ])
        return text + status.problems.map { "  \(problem($0))\n" }.joined()
    }

    private func names(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.map(Text.printable).joined(separator: ", ")
    }

    func details(_ details: APIDetails) -> String {
        let app = details.app
        let target = app.target == app.state ? "" : ", target \(app.target.rawValue)"
        let text = properties(
            [
                ("app", Text.printable(app.id)),
                ("name", app.name.map(Text.printable)),
                ("state", style.state(app.state) + (app.foreground ? " (foreground)" : "") + target + stopped(app)),
                ("since", Instants.dateAndAge(app.sinceUSec, now: now)),
                ("reason", app.reason.text),
                ("pid", app.pid.map(String.init)),
                ("containment", app.containment.map(words)),
                ("not controlled", list(details.uncontrolledProcesses, words)),
                ("connected", app.connected ? "yes" : nil),
                ("pending callback", details.pendingCallback.map(Text.printable)),
                ("background until", details.backgroundUntilUSec.map { Instants.timeOfDay($0) }),
                ("assertions", list(details.assertions, words)),
                ("command", Text.printable(details.command.joined(separator: " "))),
                ("user", details.user.map(Text.printable)),
                (
                    "manifest",
                    details.manifest.map(Text.printable)
                        ?? (app.adHoc && !details.adopted ? "none, launched by 'run'" : nil)
                ),
                ("ended", details.ended ? "and forgotten: it cannot be launched again by its id" : nil),
                ("adopted", details.adopted ? "yes" : nil),
                ("units", details.units.map { $0.map(Text.printable).joined(separator: ", ") }),
                ("last exit", app.lastExit.map(words)),
                (
                    "restore",
                    app.lastExit?.restoreFailed == true ? "failed: the app is launched without its saved state" : nil
                ),
                ("last launch", details.launchFailure.map { "failed: \(Text.printable($0))" }),
                ("restart", restart(details)),
            ] + reclaim(app.lastExit?.reclaim))
        return text + scenes(of: app) + (details.processes.isEmpty ? "" : "\n" + processes(details.processes))
    }

    private func list<Value>(_ values: [Value], _ words: (Value) -> String) -> String? {
        values.isEmpty ? nil : values.map(words).joined(separator: "; ")
    }

    private func restart(_ details: APIDetails) -> String? {
        let count = "ended \(details.failures) times in a row soon after its launch"
        if details.restartLimitReached {
            return details.app.state == .notRunning
                ? "restart limit reached, \(count); 'lifectl launch \(Text.printable(details.app.id))' tries again"
                : nil
        }
        return details.restartAtUSec.map { "at \(Instants.timeOfDay($0)), \(count)" }
    }

    private func reclaim(_ reclaim: APIReclaim?) -> [(String, String?)] {
        guard let reclaim else { return [] }
        let more = max(0, reclaim.candidates) - Int64(reclaim.order.count)
        let order = reclaim.order.map(Text.printable).joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
        return [
            ("memory shortage", Text.printable(reclaim.cause)), ("candidates", order),
            ("freed", reclaim.freedBytes.map(Text.size)),
        ]
    }

    private func processes(_ processes: [APIProcess]) -> String {
        var table = Table([.trailing("PID"), .trailing("PARENT"), "STATE", .trailing("CPU"), "COMMAND"], style: style)
        for process in processes {
            table.add(
                .text(String(process.pid)), .text(String(process.parentPid)), .text(Self.spelledOut(process.state)),
                .text(Instants.processorTime(process.cpuTimeUSec)), .text(process.command))
        }
        return table.text
    }

    /// Returns the name of a state of proc_pid_stat(5).
    static func spelledOut(_ letter: String) -> String {
        switch letter {
        case "R": "running"
        case "S": "sleeping"
        case "D": "waiting for I/O"
        case "Z": "zombie"
        case "T": "stopped"
        case "t": "traced"
        case "X", "x": "dead"
        case "I": "idle"
        case "P": "parked"
        default: letter
        }
    }

    // MARK: Values

    private func words(_ assertion: APIAssertion) -> String {
        let since = "since \(Instants.timeOfDay(assertion.sinceUSec))"
        let until = assertion.untilUSec.map { ", until \(Instants.timeOfDay($0))" } ?? ""
        return "\(assertion.kind.rawValue) \(Text.printable(assertion.name)), \(since)\(until)"
    }

    private func words(_ containment: APIContainment) -> String {
        switch containment {
        case .cgroup: "control group"
        case .keeper: "keeper and its descendants"
        case .descent: "main process and its descendants"
        }
    }

    private func words(_ exit: APIExit) -> String {
        let code = exit.exitCode.map { ", exit code \($0)" }
        let cause = exit.signal.map { ", signal \($0)" } ?? code ?? ""
        let age = Instants.dateAndAge(exit.timeUSec, now: now)
        return "\(exit.reason.rawValue)\(cause), from \(exit.state.rawValue), \(age)"
    }
}

/// Words of the interface as clauses of a sentence.
enum Words {
    /// Returns the end of an app as a clause about the app.
    static func end(_ reason: Reason, exitCode: Int64?, signal: Int64?) -> String {
        if reason == .signalled {
            let name = signal.map { " (\(SignalName.name($0)))" } ?? ""
            return "it was ended by a signal from outside while suspended\(name)"
        }
        guard reason == .crash else { return reason.meaning }
        if let exitCode { return "it exited with status \(exitCode)" }
        return signal.map { "it was ended by \(SignalName.name($0)), which lifed did not send" } ?? reason.meaning
    }

    /// Returns the state of an app as a predicate.
    static func state(_ state: AppState) -> String {
        switch state {
        case .notRunning: "is not running"
        case .inactive: "is in the foreground, and gets no input (inactive)"
        case .active: "is in the foreground and in use (active)"
        case .background: "runs in the background (background)"
        case .suspended: "is suspended: every process of it is stopped"
        case .terminating: "is ending (terminating)"
        }
    }
}

/// The names of signals that end processes, as in the journal. The numbers are those of x86, ARM and RISC-V (signal(7)).
enum SignalName {
    private static let numbers: [String: Int64] = [
        "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8,
        "SIGKILL": 9, "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15,
        "SIGXCPU": 24, "SIGXFSZ": 25, "SIGSYS": 31,
    ]

    /// Returns the number of a signal that a user names: `HUP`, `SIGHUP` or `1`.
    static func parse(_ word: String) -> Int64? {
        if let number = Int64(word) { return (1...64).contains(number) ? number : nil }
        let name = word.uppercased()
        return all(name) ?? all("SIG" + name)
    }

    private static func all(_ name: String) -> Int64? { numbers[name] ?? stopSignals[name] }

    /// The signals that stop or continue processes, which end none.
    private static let stopSignals: [String: Int64] = [
        "SIGCONT": 18, "SIGSTOP": 19, "SIGTSTP": 20, "SIGTTIN": 21, "SIGTTOU": 22, "SIGWINCH": 28, "SIGURG": 23,
        "SIGCHLD": 17,
    ]

    /// Returns the number of a name, or of `signal 40` for a signal without a name.
    static func number(_ name: String) -> Int64? {
        numbers[name] ?? name.split(separator: " ").last.flatMap { Int64($0) }
    }

    static func name(_ number: Int64) -> String { numbers.first { $0.value == number }?.key ?? "signal \(number)" }
}
