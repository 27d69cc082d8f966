import Glibc
public import Varlink

/// An error of `org.lifed`.
public struct ControlError: Error, Sendable, Equatable {
    /// The name of the error in `org.lifed`.
    public var kind: Kind
    /// The id of the app; nil if the error is about no app.
    public var id: String?
    /// The cause, as part of a sentence.
    public var reason: String
    /// The remedy, as a sentence; may be empty.
    public var remedy: String

    /// Creates an error about an app, or about none.
    ///
    /// - Parameters:
    ///   - kind: The error.
    ///   - id: The id of the app; nil if the error is about no app.
    ///   - reason: The cause, as part of a sentence.
    ///   - remedy: The remedy, as a sentence; may be empty.
    public init(_ kind: Kind, id: String?, reason: String, remedy: String) {
        (self.kind, self.id, self.reason, self.remedy) = (kind, id, reason, remedy)
    }

    /// The reply with the error.
    public var reply: VarlinkReply {
        .error(LifedInterface.name + "." + kind.rawValue, ["id": id ?? "", "reason": reason, "remedy": remedy])
    }

    /// Creates the error of a reply; nil if the reply has another error.
    public init?(_ error: RemoteError) {
        let prefix = LifedInterface.name + "."
        guard error.name.hasPrefix(prefix), let kind = Kind(rawValue: String(error.name.dropFirst(prefix.count))),
            let parameters = try? error.parameters(as: [String: String].self), let id = parameters["id"],
            let reason = parameters["reason"], let remedy = parameters["remedy"]
        else { return nil }
        self.init(kind, id: id.isEmpty ? nil : id, reason: reason, remedy: remedy)
    }
}

/// The error of a call to the daemon.
public enum ControlClientError: Error, Equatable, Sendable {
    /// The daemon replied with an error.
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
    /// The daemon closed the connection before its reply.
    case closed
    /// The reply did not come in time.
    case timedOut
    /// The call is longer than the limit of the daemon, in bytes.
    case callTooLong(limit: Int)
    /// The daemon rejects the parameter of this name.
    case parameterNotTaken(String)
    /// The reply is not understood; the text is the cause.
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
