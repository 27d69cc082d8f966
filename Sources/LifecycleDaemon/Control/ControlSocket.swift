import Glibc
import Processes
import Systemd

/// The control socket: passed by systemd, or made by the daemon.
struct ControlSocket: ~Copyable {
    let descriptor: Descriptor
    /// The path to remove when the daemon ends; nil for a socket of systemd.
    let ownPath: String?
    private let lock: RuntimeLock

    private init(_ descriptor: consuming Descriptor, ownPath: String?, lock: consuming RuntimeLock) {
        self.descriptor = descriptor
        self.ownPath = ownPath
        self.lock = lock
    }

    /// Opens the socket that systemd has passed, or one in the runtime directory.
    ///
    /// - Parameter lock: The lock of the former program in this process, if there was one.
    static func open(
        passed: [PassedDescriptor], paths: DaemonPaths, isSystem: Bool, lock: Int32? = nil
    ) throws -> ControlSocket {
        // Asks the name service, which may read many files.
        let group = isSystem ? groupToServe() : nil
        try makeRuntimeDirectory(paths, isSystem: isSystem, group: group)
        let lock = try RuntimeLock.take(paths, kept: lock)
        if let first = passed.first(where: \.isListeningUnixStream) {
            for other in passed where other.descriptor != first.descriptor { close(other.descriptor) }
            let flags = fcntl(first.descriptor, F_GETFL)
            guard fcntl(first.descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { throw failure("use", paths.socket) }
            let ownPath = first.name == Reexecution.Name.ownControl ? paths.socket : nil
            return ControlSocket(Descriptor(owning: first.descriptor), ownPath: ownPath, lock: lock)
        }
        let socket = try UnixListener.open(at: paths.socket, mode: group == nil ? 0o600 : 0o660, group: group)
        return ControlSocket(socket, ownPath: paths.socket, lock: lock)
    }

    func leave(to reexecution: inout Reexecution) {
        reexecution.keep(
            descriptor.rawValue, as: ownPath == nil ? Reexecution.Name.control : Reexecution.Name.ownControl)
        reexecution.keep(lock.number, as: Reexecution.Name.lock)
    }

    /// Makes the runtime directory, for this user alone, or also for the group that may use the socket. Apps of all users pass
    /// through that of the system's daemon to their own socket.
    private static func makeRuntimeDirectory(
        _ paths: DaemonPaths, isSystem: Bool, group: gid_t?
    ) throws(DaemonError) {
        let mode: mode_t = !isSystem ? 0o700 : group == nil ? 0o711 : 0o751
        let owner = group.map { (user: geteuid(), group: $0) }
        try PrivateDirectory.make(paths.runtime, mode: mode, owner: owner)
        // A former version, or the rescue, may have made it with another mode.
        try PrivateDirectory.furnish(paths.runtime, mode: mode, owner: owner)
    }

    /// Returns the group that may use the socket, if this process can give a file to it: as root or as a member. The daemon of
    /// another user serves that user alone.
    private static func groupToServe() -> gid_t? {
        guard let group = AccessPolicy.groupNumber() else { return nil }
        return geteuid() == 0 || getegid() == group || ownGroups().contains(group) ? group : nil
    }

    private static func ownGroups() -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return Array(groups.prefix(max(0, Int(count))))
    }

    private static func failure(_ operation: String, _ path: String) -> DaemonError {
        DaemonError(.start, "cannot \(operation) \(path)", errno: Processes.Errno(rawValue: errno))
    }
}
