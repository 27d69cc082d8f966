import Glibc

/// The users and groups of the machine.
enum UserDatabase {
    private static let bufferSize = 1 << 16

    /// Returns whether the machine has a user, or cannot tell.
    static func has(user name: String) -> Bool {
        var entry = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        return unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &result) != 0 || result != nil
    }

    /// Returns whether the machine has a group, or cannot tell.
    static func has(group name: String) -> Bool {
        var entry = unsafe group()
        var result: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        return unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &result) != 0 || result != nil
    }
}

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

/// Returns a base directory of a user, as in the XDG Base Directory Specification 0.8: a relative path does not count.
///
/// - Parameters:
///   - variable: The variable that names the directory, such as XDG_CONFIG_HOME.
///   - path: The default, in the directory that HOME names.
///   - environment: The variables of the user.
/// - Returns: The directory; nil if no variable names it.
public func baseDirectory(
    _ variable: String, inHome path: String, of environment: [String: String]
) -> String? {
    func value(_ name: String) -> String? {
        environment[name].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
    }
    return value(variable) ?? value("HOME").map { "\($0)/\(path)" }
}
