import Glibc

/// The clients of the control socket: the daemon's own user and root, and in the system instance the group `lifed`.
struct AccessPolicy {
    /// The general right of a client, before it is known whether it is a process of an app.
    enum Right: Equatable {
        case none
        case member
        case administrator
    }

    static let groupName = "lifed"

    private let owner = geteuid()
    private let group: gid_t?
    private var administrators: Set<gid_t> = []

    init(isSystem: Bool) {
        group = isSystem ? Self.groupNumber(of: Self.groupName) : nil
    }

    /// Sets the groups whose members are administrators; a group that the machine does not have has none.
    mutating func setAdministrators(_ names: Set<String>) {
        administrators = Set(names.compactMap { Self.groupNumber(of: $0) })
    }

    func right(of peer: PeerCredentials) -> Right {
        if peer.user == 0 || peer.user == owner { return .administrator }
        guard let group else { return .none }
        let groups = Set(peer.groups + [peer.group])
        if !groups.isDisjoint(with: administrators) { return .administrator }
        return groups.contains(group) ? .member : .none
    }

    /// Returns the number of a group, where the machine has one of this name.
    static func groupNumber(of name: String = groupName) -> gid_t? {
        var entry = unsafe Glibc.group()
        var result: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &result) == 0 else { return nil }
        return unsafe result?.pointee.gr_gid
    }
}
