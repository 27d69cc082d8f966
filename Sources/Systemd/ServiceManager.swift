import CSystemd
import Glibc

/// What a service tells the manager that started it: the assignments of sd_notify(3) that lifed uses.
public enum ServiceNotification: Equatable, Sendable {
    /// Starting up, or reading the configuration again, is done.
    case ready
    /// The configuration is being read again; `.ready` ends that.
    ///
    /// Sent with the present instant of CLOCK_MONOTONIC, which versions 253 and later ask for with Type=notify-reload.
    case reloading
    /// Shutting down has begun.
    case stopping
    /// What is being done, a stop for example, may take as long as this from now, where the unit gives it less (sd_notify(3),
    /// systemd 236).
    case extendTimeout(Duration)
    /// One line about what the service is doing, for `systemctl status`.
    case status(String)
}

/// The service manager that started this process, if one did.
public enum ServiceManager {
    /// Whether somebody waits for notifications (`NOTIFY_SOCKET` is set).
    public static var isPresent: Bool {
        guard let value = unsafe getenv("NOTIFY_SOCKET") else { return false }
        return unsafe value.pointee != 0
    }

    /// Sends notifications in one message. Without a service manager nothing happens.
    ///
    /// - Throws: `SystemdError` when a manager is there but cannot be reached.
    public static func notify(_ notifications: [ServiceNotification]) throws(SystemdError) {
        guard !notifications.isEmpty else { return }
        let message = notifications.map(\.assignments).joined(separator: "\n")
        try unsafe checked(sd_notify(0, message), "notify the service manager")
    }

    /// How often, in microseconds, the manager wants a sign of life, or nil when it wants none or asks another process.
    ///
    /// - Throws: `SystemdError` with `EINVAL` when the environment holds something that is no interval.
    public static func watchdogInterval() throws(SystemdError) -> UInt64? {
        var microseconds: UInt64 = 0
        let enabled = try unsafe checked(sd_watchdog_enabled(0, &microseconds), "read the watchdog's interval")
        return enabled > 0 ? microseconds : nil
    }
}

extension ServiceNotification {
    /// The line or lines of the message. A line feed inside a status would begin an assignment of its own.
    var assignments: String {
        switch self {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds())"
        case .stopping: "STOPPING=1"
        case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(UInt64(max(0, time / .microseconds(1))))"
        case .status(let text): "STATUS=" + String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
        }
    }
}
