import ControlAPI

// The checks, each a judgement of facts.

extension Examination {
    init(_ facts: Surroundings) {
        findings =
            [Self.daemon(facts), Self.configuration(facts)].compactMap(\.self)
            + [Self.groups(facts), Self.controllers(facts), Self.pressure(facts), Self.swap(facts)].compactMap(\.self)
            + [Self.journal(facts), Self.reading(facts), Self.session(facts)].compactMap(\.self)
            + Self.kernel(facts.kernelRelease) + Self.units(facts)
    }

    private static func status(_ facts: Surroundings) -> Status? {
        if case .answers(let status) = facts.connection { status } else { nil }
    }

    // MARK: The daemon

    private static func daemon(_ facts: Surroundings) -> Finding {
        switch facts.connection {
        case .answers(let status):
            .ok("daemon", "lifed \(status.version) (pid \(status.pid), \(status.instance)) listens at \(status.socket)")
        case .absent(let words):
            .bad("daemon", words, cost: "Nothing is managed; apps run as they would without lifed.")
        case .notPermitted(let words): .bad("daemon", words, cost: "You can neither see nor do anything.")
        case .failed(let words): .bad("daemon", words, cost: "You can neither see nor do anything.")
        }
    }

    private static func configuration(_ facts: Surroundings) -> Finding? {
        guard let status = status(facts) else { return nil }
        guard let first = status.problems.first else { return .ok("configuration", "no problems") }
        let line = first.line.map { ":\($0)" } ?? ""
        return .less(
            "configuration", "\(status.problems.count) problems, the first: \(first.file)\(line): \(first.message)",
            cost: "What has a mistake is ignored, and its default holds.", remedy: "'lifectl status' lists them all.")
    }

    // MARK: Control groups and memory

    private static func groups(_ facts: Surroundings) -> Finding? {
        guard status(facts) != nil else { return nil }
        let cost = "Processes that start a session of their own can escape from their app; freezing is not possible."
        if !facts.hasUnifiedHierarchy {
            return .less(
                "control groups", "there is no unified hierarchy (cgroup v2)", cost: cost,
                remedy: "Boot with systemd.unified_cgroup_hierarchy=1.")
        }
        guard let group = facts.group else {
            return .less(
                "control groups", "the daemon's group cannot be seen from here", cost: "This could not be examined.")
        }
        guard facts.controllers != nil else {
            return .less(
                "control groups", "no group was delegated to the daemon (it is in \(group))", cost: cost,
                remedy: "Run it as the service with Delegate=yes, as installed, or as root.")
        }
        return .ok("control groups", "each app has one of its own beside \(group)")
    }

    private static func controllers(_ facts: Surroundings) -> Finding? {
        guard let available = facts.controllers else { return nil }
        let wanted = ["cpu", "io", "memory"]
        let missing = wanted.filter { !available.contains($0) }
        let unused = wanted.filter { available.contains($0) && facts.enabledControllers?.contains($0) != true }
        if missing.isEmpty && unused.isEmpty { return .ok("controllers", wanted.joined(separator: ", ")) }
        let found =
            missing.isEmpty
            ? "\(unused.joined(separator: ", ")) are there and not passed on to the apps"
            : "\(missing.joined(separator: ", ")) are missing"
        return .less(
            "controllers", found,
            cost: "Nice values and I/O priorities are used in the place of weights; memory is not given back by group.")
    }

    private static func pressure(_ facts: Surroundings) -> Finding {
        facts.hasMemoryPressure
            ? .ok("memory pressure", "/proc/pressure/memory tells")
            : .less(
                "memory pressure", "the kernel does not tell of it",
                cost: "No app is told that memory is short, or ended for it, before the kernel's own killer comes.",
                remedy: "Boot a kernel that has CONFIG_PSI with psi=1.")
    }

    private static func swap(_ facts: Surroundings) -> Finding {
        facts.hasSwap
            ? .ok("swap", "there is some")
            : .less(
                "swap", "there is none",
                cost: "Suspended apps keep their memory; only what comes from files can be given back.",
                remedy: "zram is enough.")
    }

    // MARK: The journal and the session

    private static func journal(_ facts: Surroundings) -> Finding {
        if let status = status(facts), !status.journal {
            return .less(
                "journal", "the daemon does not write to it",
                cost: "What happened is known as far as the daemon remembers, 1024 events.",
                remedy: facts.hasJournal ? "Start it with --log-target=journal." : "There is no systemd-journald here.")
        }
        return facts.hasJournal
            ? .ok("journal", "systemd-journald is there")
            : .less("journal", "there is no systemd-journald", cost: "Entries go to standard error.")
    }

    private static func reading(_ facts: Surroundings) -> Finding? {
        guard facts.hasJournal else { return nil }
        guard let complaint = facts.journalComplaint else { return .ok("reading it", "you may") }
        return .less(
            "reading it", complaint,
            cost: "'lifectl log', 'timeline' and 'stats' see what the daemon remembers, at most.")
    }

    private static func session(_ facts: Surroundings) -> Finding {
        facts.hasSystemBus
            ? .ok("session and sleep", "the system bus is there, and logind with it where it is installed")
            : .less(
                "session and sleep", "there is no system bus",
                cost: "Lock, sleep and switching of sessions are not noticed; 'lifectl simulate' can tell of them.")
    }

    // MARK: The kernel

    private static let features: [(major: Int, minor: Int, name: String, cost: String)] = [
        (5, 14, "cgroup.kill", "control groups are not used; apps are held together by process groups"),
        (6, 5, "SO_PEERPIDFD", "a client that ends while it connects is told apart from others by its number only"),
        (6, 15, "exit status by pidfd", "how an app ended that was taken over from a daemon before is not known"),
    ]

    static func kernel(_ release: String) -> [Finding] {
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return [.less("kernel", release, cost: "Its version is not understood.")] }
        let version = (numbers[0], numbers[1])
        guard version >= (5, 3) else {
            return [.bad("kernel", release, cost: "lifed needs Linux 5.3 (pidfds).", remedy: "Boot a later one.")]
        }
        let missing = features.filter { version < ($0.major, $0.minor) }
        if missing.isEmpty { return [.ok("kernel", "\(release) has everything")] }
        return missing.map { feature in
            .less(
                "kernel", "\(release) has no \(feature.name) (\(feature.major).\(feature.minor))",
                cost: "So \(feature.cost).")
        }
    }

    // MARK: Units

    private static func units(_ facts: Surroundings) -> [Finding] {
        guard let units = facts.units else {
            return [
                .less(
                    "units", "there is no systemd to ask",
                    cost: "Nobody starts lifed again when it dies, or wakes what sleeps if it cannot come back.",
                    remedy: "'lifed --rescue' lets every app run again.")
            ]
        }
        return units.map { unit in
            let isRescue = unit.name == "lifed-rescue.service"
            if unit.load != "loaded" {
                return .less(
                    unit.name, "is not installed",
                    cost: isRescue
                        ? "If the daemon cannot come back, what sleeps stays asleep."
                        : "systemd neither starts lifed nor starts it again.", remedy: "'make install' installs it.")
            }
            if unit.active == "failed" {
                return .bad(
                    unit.name, "has failed",
                    cost: isRescue ? "What sleeps may still be asleep." : "lifed is not running.",
                    remedy: "'systemctl status \(unit.name)' says why.")
            }
            let file = unit.file.isEmpty ? "" : ", \(unit.file)"
            if isRescue || unit.active == "active" { return .ok(unit.name, "\(unit.active)\(file)") }
            return .less(
                unit.name, "\(unit.active)\(file)", cost: "lifed was not started by it.",
                remedy: "'systemctl enable --now lifed.socket lifed.service'")
        }
    }
}
