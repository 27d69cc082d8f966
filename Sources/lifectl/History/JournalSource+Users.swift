import ControlAPI
import Glibc

extension JournalSource {
    /// Whose daemon it is, where one has answered, and else whose it can be; others may write what they like under the
    /// same identifier.
    static func users(_ choice: SocketPath.Choice, of status: Status? = nil) -> [uid_t] {
        if let status, let owner = owner(of: status.socket) { return [owner] }
        return switch choice {
        case .system: [0]
        case .user: [geteuid()]
        case .path(let path): [owner(of: path) ?? geteuid()]
        case .automatic: Array(Set([0, geteuid()])).sorted()
        }
    }

    private static func owner(of path: String) -> uid_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_uid : nil
    }
}
