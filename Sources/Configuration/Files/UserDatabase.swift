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
