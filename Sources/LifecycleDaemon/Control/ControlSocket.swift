import Glibc
import Processes
import Systemd

/// The socket on which clients arrive: passed by systemd, or made here.
struct ControlSocket: ~Copyable {
    let descriptor: Descriptor
    /// The file that goes when the daemon ends; nil for a socket of systemd's, which stays.
    let ownPath: String?
    private let lock: RuntimeLock

    private init(_ descriptor: consuming Descriptor, ownPath: String?, lock: consuming RuntimeLock) {
        self.descriptor = descriptor
        self.ownPath = ownPath
        self.lock = lock
    }

    /// Takes the socket that systemd has passed, or makes one in the runtime directory.
    ///
    /// - Parameter lock: The lock of the program before in this process, where there was one.
    static func open(
        passed: [PassedDescriptor], places: Places, isSystem: Bool, lock: Int32? = nil
    ) throws -> ControlSocket {
        try makeRuntimeDirectory(places, isSystem: isSystem)
        let lock = try RuntimeLock.take(places, kept: lock)
        if let first = passed.first(where: \.isListeningUnixStream) {
            for other in passed where other.descriptor != first.descriptor { close(other.descriptor) }
            let flags = fcntl(first.descriptor, F_GETFL)
            guard fcntl(first.descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { throw failure("use", places.socket) }
            let ownPath = first.name == Reexecution.Name.ownControl ? places.socket : nil
            return ControlSocket(Descriptor(owning: first.descriptor), ownPath: ownPath, lock: lock)
        }
        let group = isSystem ? groupToServe() : nil
        let socket = try UnixListener.open(at: places.socket, mode: group == nil ? 0o600 : 0o660, group: group)
        return ControlSocket(socket, ownPath: places.socket, lock: lock)
    }

    /// Leaves the socket and the lock to the program that takes the place of this one.
    func leave(to reexecution: inout Reexecution) {
        reexecution.keep(
            descriptor.rawValue, as: ownPath == nil ? Reexecution.Name.control : Reexecution.Name.ownControl)
        reexecution.keep(lock.number, as: Reexecution.Name.lock)
    }

    /// For this user alone, or for the group that may use the socket as well.
    private static func makeRuntimeDirectory(_ places: Places, isSystem: Bool) throws(DirectoryError) {
        let group = isSystem ? groupToServe() : nil
        try PrivateDirectory.make(
            places.runtime, mode: group == nil ? 0o700 : 0o750, owner: group.map { (geteuid(), $0) })
    }

    /// The group that may use the socket as well, where there is one that this process can give a file to: root can, and a
    /// member. A daemon that somebody else has started for themselves is for them alone.
    private static func groupToServe() -> gid_t? {
        guard let group = AccessPolicy.groupNumber() else { return nil }
        return geteuid() == 0 || getegid() == group || ownGroups().contains(group) ? group : nil
    }

    private static func ownGroups() -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return Array(groups.prefix(max(0, Int(count))))
    }

    private static func failure(_ operation: String, _ path: String) -> StartError {
        StartError("cannot \(operation) \(path): \(Processes.Errno(rawValue: errno))")
    }
}
