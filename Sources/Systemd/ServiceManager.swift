import CSystemd
import Glibc

/// A notification to the service manager: the assignments of sd_notify(3) that lifed uses.
public enum ServiceNotification: Equatable, Sendable {
    /// Starting up, or reading the configuration again, is done.
    case ready
    /// The configuration is being read again; `.ready` ends that.
    ///
    /// Sent with the present instant of CLOCK_MONOTONIC, which versions 253 and later ask for with Type=notify-reload.
    case reloading
    /// Shutting down has begun.
    case stopping
    /// Allows the present step, for example a stop, to take this long from now if the unit gives it less (sd_notify(3),
    /// systemd 236).
    case extendTimeout(Duration)
    /// One line about what the service is doing, for `systemctl status`.
    case status(String)
}

/// The service manager that started this process, if one did.
public enum ServiceManager {
    /// Sends notifications in one message. Without a service manager nothing happens.
    ///
    /// - Throws: `SystemdError` when a manager is there but cannot be reached.
    public static func notify(_ notifications: [ServiceNotification]) throws(SystemdError) {
        guard !notifications.isEmpty else { return }
        let message = notifications.map(\.assignments).joined(separator: "\n")
        try unsafe checked(sd_notify(0, message), "notify the service manager")
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

/// A descriptor that the service manager passed to this process: a socket that it opened, or a descriptor that was
/// stored with ``ServiceManager/storeDescriptors(_:name:)`` before.
public struct PassedDescriptor: Equatable, Sendable {
    /// The socket's `FileDescriptorName=`, the name that it was stored by, or `unknown` when the manager gave none.
    public let name: String

    /// The descriptor, closed on exec. Closing it is the receiver's business.
    public let descriptor: Int32

    /// Creates a descriptor that came in another way than from the service manager.
    ///
    /// - Parameters:
    ///   - name: The name, as the manager would give it.
    ///   - descriptor: The descriptor, closed on exec. The receiver closes it.
    public init(name: String, descriptor: Int32) {
        self.name = name
        self.descriptor = descriptor
    }

    /// A Boolean value that indicates whether it is a listening AF_UNIX stream socket, the only kind that lifed can
    /// serve.
    public var isListeningUnixStream: Bool {
        sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0
    }

    /// A Boolean value that indicates whether it is an AF_UNIX stream socket with a peer.
    public var isUnixStream: Bool {
        sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 0, nil, 0) > 0
    }
}

extension ServiceManager {
    /// Takes the descriptors that were passed to this process, and removes the variables that announced them, so that
    /// the apps that it starts do not believe they were meant.
    ///
    /// - Returns: the descriptors in the manager's order; none when nothing was passed.
    /// - Throws: `SystemdError` with `EINVAL` when the environment makes no sense.
    public static func takePassedDescriptors() throws(SystemdError) -> [PassedDescriptor] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = try unsafe checked(sd_listen_fds_with_names(1, &names), "receive the descriptors of systemd")
        defer { unsafe freeNames(names, count: count) }
        return (0..<count).map { index in
            let name = unsafe names?[Int(index)].map { unsafe String(cString: $0) }
            return PassedDescriptor(name: name ?? "unknown", descriptor: SD_LISTEN_FDS_START + index)
        }
    }

    /// Makes the service manager keep descriptors until they are discarded or the service is stopped (sd_pid_notify_with_fds(3)).
    ///
    /// It passes them to the next start of the service, and does not watch them: it would drop a pidfd with its process. Without a
    /// service manager nothing happens.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors, of which the manager gets duplicates; at most `FileDescriptorStoreMax=` are kept.
    ///   - name: Up to 255 characters of ASCII, no colon.
    /// - Throws: `SystemdError` when a manager is there but cannot be reached.
    public static func storeDescriptors(_ descriptors: [Int32], name: String) throws(SystemdError) {
        guard !descriptors.isEmpty else { return }
        let result = unsafe descriptors.withUnsafeBufferPointer { numbers in
            unsafe sd_pid_notify_with_fds(
                0, 0, "FDSTORE=1\nFDPOLL=0\nFDNAME=" + name, numbers.baseAddress, UInt32(numbers.count))
        }
        try checked(result, "store descriptors in the service manager")
    }

    /// Makes the manager close the descriptors that it keeps under the name.
    ///
    /// - Throws: `SystemdError` when a manager is there but cannot be reached.
    public static func discardDescriptors(name: String) throws(SystemdError) {
        try unsafe checked(
            sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=" + name), "remove descriptors from the service manager")
    }
}

/// Frees the array that libsystemd allocated, and each of its strings.
private func freeNames(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int32) {
    guard let names = unsafe names else { return }
    for index in 0..<Int(count) { unsafe free(names[index]) }
    unsafe free(names)
}
