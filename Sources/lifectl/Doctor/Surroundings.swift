import ControlAPI
import Glibc

/// The facts about the machine and the daemon, which ``Examination`` judges.
struct Surroundings {
    enum Connection: Equatable {
        case answers(APIStatus)
        case absent(String)
        case notPermitted(String)
        case failed(String)
    }

    struct Unit: Equatable {
        var name: String
        /// `loaded`, `not-found`, …
        var load: String
        /// `active`, `inactive`, `failed`, …
        var active: String
        /// `enabled`, `disabled`, `static`, …; may be empty.
        var file: String
    }

    var connection: Connection
    /// A Boolean value that indicates whether the daemon is the user's own.
    var isUser: Bool
    /// `6.12.0-amd64`
    var kernelRelease: String
    /// The path of the daemon's control group below the root; nil if it cannot be read.
    var group: String?
    /// The controllers of the parent of the apps' groups, and those of them that are enabled for the apps.
    var controllers: [String]?
    var enabledControllers: [String]?
    var hasUnifiedHierarchy: Bool
    var hasMemoryPressure: Bool
    var hasSwap: Bool
    var hasJournal: Bool
    /// The error that the daemon's entries in the journal cannot be read; nil if they can.
    var journalComplaint: JournalSource.Unreadable?
    var hasSystemBus: Bool
    /// The units of lifed; nil without systemd.
    var units: [Unit]?

    /// The command for the units of the daemon.
    var systemctl: String { isUser ? "systemctl --user" : "systemctl" }
}

extension Surroundings {
    /// Collects the facts.
    static func collect(_ options: CallOptions) -> Surroundings {
        let connection = connect(options)
        var status: APIStatus?
        if case .answers(let answer) = connection { status = answer }
        let group = status.flatMap { OutputFile.read("/proc/\($0.pid)/cgroup") }.flatMap(unifiedGroup)
        let root = OutputFile.read("/proc/mounts").flatMap(unifiedRoot)
        let place = root.flatMap { root in group.map { root + appsGroup(of: $0) } }
        let isUser = status.map { $0.instance == "user" } ?? (options.choice == .user)
        return Surroundings(
            connection: connection, isUser: isUser, kernelRelease: kernelRelease, group: group,
            controllers: place.flatMap { words("\($0)/cgroup.controllers") },
            enabledControllers: place.flatMap { words("\($0)/cgroup.subtree_control") },
            hasUnifiedHierarchy: root != nil,
            hasMemoryPressure: OutputFile.read("/proc/pressure/memory")?.isEmpty == false,
            hasSwap: (OutputFile.read("/proc/swaps")?.split(separator: "\n").count ?? 0) > 1,
            hasJournal: exists("/run/systemd/journal/socket"),
            journalComplaint: journalComplaint(of: JournalSource.users(options.choice, of: status)),
            hasSystemBus: exists("/run/dbus/system_bus_socket"),
            units: exists("/run/systemd/system") ? units(isUser: isUser) : nil)
    }

    private static func connect(_ options: CallOptions) -> Connection {
        do throws(Failure) {
            return .answers(try options.call(.getStatus, doing: "cannot ask the daemon").status)
        } catch {
            if error.status == .unavailable { return .absent(error.reason) }
            return error.status == .notPermitted ? .notPermitted(error.reason) : .failed(error.reason)
        }
    }

    private static var kernelRelease: String {
        OutputFile.read("/proc/sys/kernel/osrelease")?.split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func words(_ path: String) -> [String]? {
        OutputFile.read(path)?.split(whereSeparator: { $0.isWhitespace }).map(String.init)
    }

    /// Returns the group of the unified hierarchy in /proc/PID/cgroup (cgroups(7)).
    static func unifiedGroup(_ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) }
    }

    /// Returns the parent of the apps' groups: `apps` beside the daemon's group, or in it while it has no group of its own.
    private static func appsGroup(of group: String) -> String {
        let parent = group.hasSuffix("/daemon") ? String(group.dropLast("/daemon".count)) : group
        return "\(parent)/apps"
    }

    /// Returns the mount point of the unified hierarchy (proc_pid_mounts(5)); beside the old hierarchies it is not the usual
    /// one.
    static func unifiedRoot(_ mounts: String) -> String? {
        let lines = mounts.split(separator: "\n").map { $0.split(separator: " ") }
        return lines.first { $0.count > 2 && $0[2] == "cgroup2" }.map { String($0[1]) }
    }

    private static func journalComplaint(of users: [uid_t]) -> JournalSource.Unreadable? {
        JournalSource(users: users, query: HistoryQuery(lines: 1)).read { _ in }
    }

    private static func units(isUser: Bool) -> [Unit]? {
        let names = ["lifed.service", "lifed.socket", "lifed-rescue.service"]
        let command =
            ["systemctl"] + (isUser ? ["--user"] : []) + ["show", "-p", "Id,LoadState,ActiveState,UnitFileState"]
        guard let child = try? ChildProcess(command + names) else { return nil }
        var units: [Unit] = []
        var unit = Unit(name: "", load: "", active: "", file: "")
        while let line = child.nextLine() {
            let parts = String(decoding: line, as: UTF8.self).split(separator: "=", maxSplits: 1)
            let value = parts.count > 1 ? String(parts[1]) : ""
            switch parts.first {
            case "Id": unit.name = value
            case "LoadState": unit.load = value
            case "ActiveState": unit.active = value
            case "UnitFileState": unit.file = value
            default:
                units.append(unit)
                unit = Unit(name: "", load: "", active: "", file: "")
            }
        }
        units.append(unit)
        let found = units.filter { !$0.name.isEmpty }
        return child.finish().status == 0 && !found.isEmpty ? found : nil
    }
}
