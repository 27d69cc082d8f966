/// Who a program runs as.
public struct Credentials: Hashable, Sendable {
    /// The real, effective and saved user.
    public var userID: UInt32
    /// The real, effective and saved group.
    public var groupID: UInt32
    /// The supplementary groups, which replace the daemon's.
    public var groups: [UInt32]

    /// Takes the numbers as they are; nothing is looked up.
    public init(userID: UInt32, groupID: UInt32, groups: [UInt32]) {
        self.userID = userID
        self.groupID = groupID
        self.groups = groups
    }
}
