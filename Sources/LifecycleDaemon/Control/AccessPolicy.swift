import Glibc

/// Who may use the control socket: the daemon's own user and root, and in the system instance the group `lifed`.
struct AccessPolicy {
    static let groupName = "lifed"

    private let owner = geteuid()
    private let group: gid_t?

    init(isSystem: Bool) {
        group = isSystem ? Self.groupNumber() : nil
    }

    func allows(_ peer: PeerCredentials) -> Bool {
        if peer.user == 0 || peer.user == owner { return true }
        guard let group else { return false }
        return peer.group == group || peer.groups.contains(group)
    }

    /// The number of the group `lifed`, where the machine has one.
    static func groupNumber() -> gid_t? {
        var entry = unsafe Glibc.group()
        var result: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard unsafe getgrnam_r(groupName, &entry, &buffer, buffer.count, &result) == 0 else { return nil }
        return unsafe result?.pointee.gr_gid
    }
}
