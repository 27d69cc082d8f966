import Glibc

/// The group of a user's own that some systems give each user, with a umask of 002.
public enum PrivateGroup {
    /// Returns whether a group is the daemon user's own alone. Root's group is not: the apps of other users depend on root's files.
    ///
    /// Reads group(5) itself: the name service may wait for a server that does not answer.
    public static func isOwn(_ group: UInt32) -> Bool {
        guard geteuid() != 0, group == geteuid(), case .text(let text)? = try? TextFile.read("/etc/group") else {
            return false
        }
        return isWithoutMembers(group, in: text)
    }

    /// Returns whether the first entry of a group in the text of group(5) names no member; false if there is none.
    static func isWithoutMembers(_ group: UInt32, in text: String) -> Bool {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard fields.count == 4, UInt32(String(decoding: fields[2], as: UTF8.self)) == group else { continue }
            return fields[3].isEmpty
        }
        return false
    }
}
