import CLinux
import Glibc

/// Who is at the other end of a connection, in the kernel's word (unix(7)).
struct PeerCredentials: Equatable {
    let process: pid_t
    let user: uid_t
    let group: gid_t
    /// The supplementary groups at the time of the connection (SO_PEERGROUPS, Linux 4.13).
    let groups: [gid_t]

    /// The number of a process that cannot be seen from here, because it is in another PID namespace.
    static let outsideProcess: pid_t = 0

    /// NGROUPS_MAX of getgroups(2).
    private static let mostGroups = 65536

    init?(of descriptor: Int32) {
        var peer = linux_peer()
        guard unsafe linux_peer_credentials(descriptor, &peer) == 0 else { return nil }
        process = peer.process
        user = peer.user
        group = peer.group
        groups =
            Self.groups(of: descriptor, capacity: 64) ?? Self.groups(of: descriptor, capacity: Self.mostGroups) ?? []
    }

    private static func groups(of descriptor: Int32, capacity: Int) -> [gid_t]? {
        var groups = [gid_t](repeating: 0, count: capacity)
        let count = unsafe linux_peer_groups(descriptor, &groups, Int32(capacity))
        return count < 0 ? nil : Array(groups.prefix(Int(count)))
    }
}
