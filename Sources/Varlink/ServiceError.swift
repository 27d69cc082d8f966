/// An error of `org.varlink.service`, which any method may return.
public enum ServiceError: Error, Equatable, Sendable {
    /// The service has no such interface.
    case interfaceNotFound(String)
    /// The interface has no such method; the name is fully qualified.
    case methodNotFound(String)
    /// The interface describes the method, and this service does not have it; the name is fully qualified.
    case methodNotImplemented(String)
    /// A parameter is missing, unknown, or not what it should be. Its name is a path: `environment.PATH`, `command[2]`.
    case invalidParameter(String)
    /// The caller may not do this.
    case permissionDenied
    /// The method answers only calls with `more`.
    case expectedMore

    private static let prefix = "org.varlink.service."

    /// The reply with the error.
    public var reply: Reply {
        switch self {
        case .interfaceNotFound(let name): Self.reply("InterfaceNotFound", ["interface": name])
        case .methodNotFound(let name): Self.reply("MethodNotFound", ["method": name])
        case .methodNotImplemented(let name): Self.reply("MethodNotImplemented", ["method": name])
        case .invalidParameter(let name): Self.reply("InvalidParameter", ["parameter": name])
        case .permissionDenied: Self.reply("PermissionDenied", [:])
        case .expectedMore: Self.reply("ExpectedMore", [:])
        }
    }

    private static func reply(_ name: String, _ parameters: [String: String]) -> Reply {
        .error(prefix + name, parameters)
    }

    /// Creates the error of a reply; nil if the reply has another error.
    public init?(_ error: RemoteError) {
        guard error.name.hasPrefix(Self.prefix) else { return nil }
        let parameters = (try? error.parameters(as: [String: String].self)) ?? [:]
        switch error.name.dropFirst(Self.prefix.count) {
        case "InterfaceNotFound": self = .interfaceNotFound(parameters["interface"] ?? "")
        case "MethodNotFound": self = .methodNotFound(parameters["method"] ?? "")
        case "MethodNotImplemented": self = .methodNotImplemented(parameters["method"] ?? "")
        case "InvalidParameter": self = .invalidParameter(parameters["parameter"] ?? "")
        case "PermissionDenied": self = .permissionDenied
        case "ExpectedMore": self = .expectedMore
        default: return nil
        }
    }
}

/// The error in a reply of the peer.
public struct RemoteError: Error, Sendable {
    /// The fully qualified name.
    public let name: String
    private let parameters: JSONText

    init(name: String, parameters: JSONText) {
        self.name = name
        self.parameters = parameters
    }

    /// Reads the parameters of the error.
    ///
    /// - Throws: ``JSONError`` if they have another type.
    public func parameters<Parameters: JSONReadable>(
        as type: Parameters.Type = Parameters.self
    ) throws(JSONError) -> Parameters {
        try parameters.readReply()
    }
}
