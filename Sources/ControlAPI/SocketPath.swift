/// Where the control socket is.
public enum SocketPath {
    /// Whose daemon is meant.
    public enum Choice: Equatable, Sendable {
        /// The one that `LIFED_SOCKET` names, or else the user's if it answers, or else the system's.
        case automatic
        /// The user's own.
        case user
        /// The system's.
        case system
        /// The one at a path.
        case path(String)
    }

    /// The variable that names the socket.
    public static let variable = "LIFED_SOCKET"

    /// The system instance's socket.
    public static let system = "/run/lifed/control"

    /// The user instance's socket, or nil where `XDG_RUNTIME_DIR` is not set (to an absolute path, as the XDG Base
    /// Directory Specification demands).
    public static func user(environment: (String) -> String?) -> String? {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else { return nil }
        return "\(directory)/lifed/control"
    }

    /// Returns the users whose daemon a client talks to: anybody's if the caller has named its socket.
    public static func trust(_ choice: Choice, environment: (String) -> String?) -> ServerTrust {
        switch choice {
        case .path: .anybody
        case .system, .user: .rootAndCaller
        case .automatic: environment(variable).map { $0.isEmpty } ?? true ? .rootAndCaller : .anybody
        }
    }

    /// The sockets to try, in order; empty when the user's own is asked for and there is no place for it.
    public static func candidates(_ choice: Choice, environment: (String) -> String?) -> [String] {
        switch choice {
        case .path(let path): return [path]
        case .system: return [system]
        case .user: return [user(environment: environment)].compactMap(\.self)
        case .automatic:
            if let path = environment(variable), !path.isEmpty { return [path] }
            return [user(environment: environment), system].compactMap(\.self)
        }
    }
}
