import AppChannel
import LifecycleCore
import Processes

/// The environment that an app starts with.
struct AppEnvironment {
    /// What the daemon itself got from whoever started it, and an app has no business with.
    private static let ownVariables: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
        "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID", "MEMORY_PRESSURE_WATCH",
        "MEMORY_PRESSURE_WRITE", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CONFIGURATION_DIRECTORY",
        "LIFECYCLE_APP_ID", "LIFECYCLE_STATE_DIR", "LIFECYCLE_FD", "LIFECYCLE_LAUNCH",
        "LIFECYCLE_SOCKET", "LIFECYCLE_LAUNCH_REASON", "LIFECYCLE_RESTORE", "LIFECYCLE_PREVIOUS_STATE",
        "LIFECYCLE_PREVIOUS_REASON", "LIFECYCLE_PREVIOUS_TIME",
    ]

    /// The variables that say how the machine is set up rather than who uses it.
    private static let machineVariables: Set<String> = ["PATH", "LANG", "LANGUAGE", "TZ"]

    let daemon: [String: String]

    init(daemon: [String: String]) {
        self.daemon = daemon.filter { !Self.ownVariables.contains($0.key) }
    }

    /// For an app with a user of its own, a fresh environment of that user; else the daemon's. What the definition
    /// has comes on top.
    func environment(
        of id: AppID, _ definition: AppDefinition, launch: LaunchFields, account: UserAccount?, stateDirectory: String
    ) -> [String: String] {
        var result: [String: String]
        if definition.isAdHoc {
            result = definition.environment.filter { !Self.ownVariables.contains($0.key) }
        } else {
            result = account.map(login) ?? daemon
            result.merge(definition.environment) { $1 }
        }
        result["LIFECYCLE_APP_ID"] = id.name
        result["LIFECYCLE_STATE_DIR"] = stateDirectory
        result["LIFECYCLE_LAUNCH_REASON"] = launch.reason
        if launch.restores { result["LIFECYCLE_RESTORE"] = "1" }
        result["LIFECYCLE_PREVIOUS_STATE"] = launch.previousState
        result["LIFECYCLE_PREVIOUS_REASON"] = launch.previousReason
        result["LIFECYCLE_PREVIOUS_TIME"] = launch.previousTime.map { String($0) }
        return result
    }

    private func login(_ account: UserAccount) -> [String: String] {
        var result = daemon.filter { Self.machineVariables.contains($0.key) || $0.key.hasPrefix("LC_") }
        result["HOME"] = account.home
        result["USER"] = account.name
        result["LOGNAME"] = account.name
        result["SHELL"] = account.shell
        result["XDG_RUNTIME_DIR"] = "/run/user/\(account.userID)"
        return result
    }
}
