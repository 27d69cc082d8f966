import Glibc
import Varlink

/// Why a call to the daemon had no result.
public enum ControlClientError: Error, Equatable, Sendable {
    /// The daemon answered, and the answer is no.
    case declined(ControlError)
    /// No daemon listens at the path.
    case absent(path: String)
    /// The caller may not use the socket at the path; where there is no path, the daemon let it connect and then
    /// refused the call.
    case notPermitted(path: String?)
    /// The daemon that listens at the path is neither root's nor the caller's.
    case untrusted(path: String, user: UInt32?)
    /// There is a socket at the path, and connect(2) failed with this errno.
    case unreachable(path: String, errno: Int32)
    /// The daemon closed the connection before it answered.
    case closed
    /// The time was over before the answer came.
    case timedOut
    /// The call is longer than the daemon takes, in bytes.
    case callTooLong(limit: Int)
    /// The daemon does not take what it was given for the parameter of this name.
    case parameterNotTaken(String)
    /// What answered is not understood; the text says why.
    case notUnderstood(String)
    /// A system call failed with this errno.
    case system(call: String, errno: Int32)

    init(_ error: ClientError) {
        self =
            switch error {
            case .cannotConnect(let path, let number): Self.connecting(to: path, failedWith: number)
            case .closed: .closed
            case .timedOut: .timedOut
            case .violation(let violation): .notUnderstood("\(violation)")
            case .unexpectedReply(let detail): .notUnderstood(detail)
            case .callTooLong(let limit): .callTooLong(limit: limit)
            case .system(let call, let number): .system(call: call, errno: number)
            case .remote(let remote): Self.answered(remote)
            }
    }

    private static func connecting(to path: String, failedWith number: Int32) -> Self {
        switch number {
        case ENOENT, ECONNREFUSED, ENOTDIR: .absent(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        default: .unreachable(path: path, errno: number)
        }
    }

    private static func answered(_ remote: RemoteError) -> Self {
        if let error = ControlError(remote) { return .declined(error) }
        switch ServiceError(remote) {
        case .permissionDenied: return .notPermitted(path: nil)
        case .invalidParameter(let name): return .parameterNotTaken(name)
        case .interfaceNotFound, .methodNotFound, .methodNotImplemented:
            return .notUnderstood("the daemon does not know this call; is it older than the client?")
        case .expectedMore, nil: return .notUnderstood("the daemon answered with the error \(remote.name)")
        }
    }
}
