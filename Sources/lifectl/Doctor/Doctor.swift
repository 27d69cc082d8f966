import CommandLineTable
import ControlAPI
import Glibc

/// `lifectl doctor`
enum Doctor {
    static func run(_ arguments: Arguments) throws(Failure) {
        let examination = Examination(Surroundings.collect(arguments.options))
        try arguments.options.show(examination) { present in present.examination(examination) }
        if examination.failed > 0 { exit(ExitCode.checkFailed.rawValue) }
    }
}

extension Finding {
    static func ok(_ subject: String, _ found: String) -> Finding {
        Finding(subject: subject, verdict: .ok, found: found)
    }

    static func degraded(_ subject: String, _ found: String, cost: String, remedy: String) -> Finding {
        Finding(subject: subject, verdict: .degraded, found: found, cost: cost, remedy: remedy)
    }

    static func failed(_ subject: String, _ found: String, cost: String, remedy: String) -> Finding {
        Finding(subject: subject, verdict: .failed, found: found, cost: cost, remedy: remedy)
    }
}

extension TextPresentation {
    func examination(_ examination: Examination) -> String {
        let width = examination.findings.map { $0.subject.count }.max() ?? 0
        let margin = String(repeating: " ", count: width + 12)
        let lines = examination.findings.map { finding in
            let verdict = style.verdict(finding.verdict)
            var text = "\(verdict)  \(Text.trailing(finding.subject, width: width))  \(Text.printable(finding.found))\n"
            if let cost = finding.cost { text += "\(margin)\(Text.printable(cost))\n" }
            if let remedy = finding.remedy { text += "\(margin)Remedy: \(Text.printable(remedy))\n" }
            return text
        }
        let (ok, degraded, failed) = (examination.ok, examination.degraded, examination.failed)
        return lines.joined()
            + "\(examination.findings.count) checks: \(ok) ok, \(degraded) degraded, \(failed) failed\n"
    }
}

// The checks: each judges facts.

extension Examination {
    init(_ facts: Surroundings) {
        let findings =
            [Self.daemon(facts), Self.configuration(facts), Self.launches(facts)].compactMap { $0 }
            + [Self.groups(facts), Self.controllers(facts), Self.pressure(facts), Self.swap(facts)].compactMap { $0 }
            + [Self.journal(facts), Self.reading(facts), Self.session(facts)].compactMap { $0 }
            + Self.kernel(facts.kernelRelease) + Self.units(facts)
        let count = { (verdict: Verdict) in Int64(findings.count { $0.verdict == verdict }) }
        self.init(findings: findings, ok: count(.ok), degraded: count(.degraded), failed: count(.failed))
    }

    private static func status(_ facts: Surroundings) -> APIStatus? {
        if case .answers(let status) = facts.connection { status } else { nil }
    }

    // MARK: The daemon

    private static func daemon(_ facts: Surroundings) -> Finding {
        switch facts.connection {
        case .answers(let status):
            .ok("daemon", "lifed \(status.version) (pid \(status.pid), \(status.instance)) listens at \(status.socket)")
        case .absent(let words):
            .failed(
                "daemon", words, cost: "No app is managed; apps run as they would without lifed.",
                remedy: "'\(facts.systemctl) enable --now lifed' or 'lifed --user' starts it.")
        case .notPermitted(let words):
            .failed(
                "daemon", words, cost: "You can neither see nor control apps.",
                remedy: "Be root or the daemon's own user, or in the group lifed for the system's daemon.")
        case .failed(let words):
            .failed(
                "daemon", words, cost: "You can neither see nor control apps.",
                remedy: "'\(facts.systemctl) restart lifed' restarts it; its log tells the cause.")
        }
    }

    private static func configuration(_ facts: Surroundings) -> Finding? {
        guard let status = status(facts) else { return nil }
        guard let first = status.problems.first else { return .ok("configuration", "no problems") }
        let line = first.line.map { ":\($0)" } ?? ""
        return .degraded(
            "configuration", "\(status.problems.count) problems, the first: \(first.file)\(line): \(first.message)",
            cost: "Keys with mistakes are ignored, and their defaults apply.",
            remedy: "'lifectl status' lists all of them; correct the files, then 'lifectl reload'.")
    }

    private static func launches(_ facts: Surroundings) -> Finding? {
        guard let status = status(facts) else { return nil }
        guard let cause = status.launchBlocker else { return .ok("launches", "the state of another app can be saved") }
        return .failed(
            "launches", cause, cost: "No app is launched or adopted; the log of the daemon says more.",
            remedy: "Free some space there, or end apps.")
    }

    // MARK: Control groups and memory

    private static func groups(_ facts: Surroundings) -> Finding? {
        guard let status = status(facts) else { return nil }
        let cost = "Each app has one process more, and cannot be frozen."
        if status.containment == .keeper {
            return .degraded(
                "control groups", "lifed.toml has containment = \"keeper\"", cost: cost,
                remedy: "Remove the key, and restart lifed.")
        }
        if !facts.hasUnifiedHierarchy {
            return .degraded(
                "control groups", "there is no unified hierarchy (cgroup v2)", cost: cost,
                remedy: "Boot with systemd.unified_cgroup_hierarchy=1.")
        }
        guard let group = facts.group else {
            return .degraded(
                "control groups", "/proc does not show the daemon's group",
                cost: "The groups of apps cannot be checked.",
                remedy: "Run the command as root, on the machine of the daemon.")
        }
        guard facts.controllers != nil else {
            return .degraded(
                "control groups", "no group was delegated to the daemon (it is in \(group))", cost: cost,
                remedy: "Run it as the service with Delegate=yes, as installed, or as root.")
        }
        return .ok("control groups", "each app has its own beside \(group)")
    }

    private static func controllers(_ facts: Surroundings) -> Finding? {
        guard let available = facts.controllers else { return nil }
        let wanted = ["cpu", "io", "memory"]
        let missing = wanted.filter { !available.contains($0) }
        let unused = wanted.filter { available.contains($0) && facts.enabledControllers?.contains($0) != true }
        if missing.isEmpty && unused.isEmpty { return .ok("controllers", wanted.joined(separator: ", ")) }
        let found =
            missing.isEmpty
            ? "\(unused.joined(separator: ", ")) are not enabled for the apps"
            : "\(missing.joined(separator: ", ")) are missing"
        return .degraded(
            "controllers", found,
            cost: "Nice values and I/O priorities replace weights; memory is not reclaimed by group.",
            remedy: "Run it as the service with Delegate=yes, as installed.")
    }

    private static func pressure(_ facts: Surroundings) -> Finding {
        facts.hasMemoryPressure
            ? .ok("memory pressure", "/proc/pressure/memory reports it")
            : .degraded(
                "memory pressure", "the kernel does not report it",
                cost:
                    "The daemon neither tells apps of memory pressure nor ends apps before the kernel's OOM killer acts.",
                remedy: "Boot a kernel that has CONFIG_PSI with psi=1.")
    }

    private static func swap(_ facts: Surroundings) -> Finding {
        facts.hasSwap
            ? .ok("swap", "present")
            : .degraded(
                "swap", "none",
                cost: "Suspended apps keep their memory, except for pages that come from files.",
                remedy: "Enable zram, or another swap device.")
    }

    // MARK: The journal and the session

    private static func journal(_ facts: Surroundings) -> Finding {
        if let status = status(facts), !status.journal {
            return .degraded(
                "journal", "the daemon does not write to it",
                cost: "The history is limited to the daemon's memory: the last 1024 events.",
                remedy: facts.hasJournal
                    ? "Start the daemon with --log-target=journal." : "Run systemd-journald, and restart the daemon.")
        }
        return facts.hasJournal
            ? .ok("journal", "systemd-journald runs")
            : .degraded(
                "journal", "systemd-journald does not run", cost: "Entries go to standard error.",
                remedy: "Run systemd-journald, and restart the daemon.")
    }

    private static func reading(_ facts: Surroundings) -> Finding? {
        guard facts.hasJournal else { return nil }
        guard let complaint = facts.journalComplaint else { return .ok("journal access", "permitted") }
        return .degraded(
            "journal access", complaint.reason,
            cost: "'lifectl log', 'timeline' and 'stats' show the events in the daemon's memory at most.",
            remedy: remedy(for: complaint))
    }

    private static func remedy(for complaint: JournalSource.Unreadable) -> String {
        if complaint.status == .notPermitted { return "Be root or in the group systemd-journal." }
        if complaint.status == .unavailable { return "Install journalctl, which is a part of systemd." }
        return "'journalctl --verify' checks the files of the journal."
    }

    private static func session(_ facts: Surroundings) -> Finding {
        facts.hasSystemBus
            ? .ok("session and sleep", "the system bus runs")
            : .degraded(
                "session and sleep", "the system bus does not run",
                cost: "The daemon does not notice lock, sleep and the switch of sessions.",
                remedy: "Run dbus and systemd-logind, or report the events with 'lifectl simulate'.")
    }

    // MARK: The kernel

    private static let features: [(major: Int, minor: Int, name: String, cost: String)] = [
        (5, 14, "cgroup.kill", "the daemon uses process groups instead of control groups"),
        (6, 5, "SO_PEERPIDFD", "a client that ends while it connects is identified by its number only"),
        (6, 15, "exit status by pidfd", "the exit status of an app that a previous daemon launched is not known"),
    ]

    static func kernel(_ release: String) -> [Finding] {
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else {
            return [
                .degraded(
                    "kernel", release, cost: "The features of this version are not known.",
                    remedy: "Boot a kernel whose release begins with its version.")
            ]
        }
        let version = (numbers[0], numbers[1])
        guard version >= (5, 3) else {
            return [
                .failed("kernel", release, cost: "lifed needs Linux 5.3 (pidfds).", remedy: "Boot Linux 5.3 or later.")
            ]
        }
        let missing = features.filter { version < ($0.major, $0.minor) }
        if missing.isEmpty { return [.ok("kernel", "\(release) has every feature that lifed uses")] }
        return missing.map { feature in
            .degraded(
                "kernel", "\(release) has no \(feature.name) (\(feature.major).\(feature.minor))",
                cost: "So \(feature.cost).", remedy: "Boot Linux \(feature.major).\(feature.minor) or later.")
        }
    }

    // MARK: Units

    private static func units(_ facts: Surroundings) -> [Finding] {
        guard let units = facts.units else {
            return [
                .degraded(
                    "units", "systemd does not run",
                    cost: "No service restarts lifed after a crash, or continues suspended apps if it cannot restart.",
                    remedy: "Restart lifed by another supervisor; "
                        + "'/usr/lib/lifed/rescue DIRECTORY' continues suspended apps.")
            ]
        }
        return units.map { unit in
            let isRescue = unit.name == "lifed-rescue.service"
            if unit.load != "loaded" {
                return .degraded(
                    unit.name, "is not installed",
                    cost: isRescue
                        ? "If the daemon cannot restart, suspended apps stay suspended."
                        : "systemd neither starts nor restarts lifed.", remedy: "'make install' installs it.")
            }
            if unit.active == "failed" {
                return .failed(
                    unit.name, "has failed",
                    cost: isRescue ? "Suspended apps may still be suspended." : "lifed is not running.",
                    remedy: "'\(facts.systemctl) status \(unit.name)' shows the cause.")
            }
            let file = unit.file.isEmpty ? "" : ", \(unit.file)"
            if isRescue || unit.active == "active" { return .ok(unit.name, "\(unit.active)\(file)") }
            return .degraded(
                unit.name, "\(unit.active)\(file)", cost: "lifed was not started by it.",
                remedy: "'\(facts.systemctl) enable --now lifed.socket lifed.service' starts it.")
        }
    }
}
