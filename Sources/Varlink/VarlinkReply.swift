/// An encoded reply, which can be sent to any number of callers.
public struct VarlinkReply: Sendable, Equatable {
    /// The JSON text with its terminating NUL.
    let message: [UInt8]
    /// True if other replies to the same call follow.
    public let continues: Bool

    /// Creates the last or only reply to a call.
    ///
    /// - Precondition: The parameters are written as a JSON object.
    public init(_ parameters: some JSONWritable) {
        self.init(parameters, continues: false, error: nil)
    }

    /// Returns a reply to a call with `more` that others follow.
    public static func continuing(_ parameters: some JSONWritable) -> VarlinkReply {
        VarlinkReply(parameters, continues: true, error: nil)
    }

    /// Returns an error, which ends the call.
    ///
    /// - Parameters:
    ///   - name: The fully qualified name.
    ///   - parameters: The parameters, which are written as a JSON object.
    /// - Returns: The last reply to the call.
    public static func error(_ name: String, _ parameters: some JSONWritable) -> VarlinkReply {
        VarlinkReply(parameters, continues: false, error: name)
    }

    private init(_ parameters: some JSONWritable, continues: Bool, error: String?) {
        self.continues = continues
        message = WireFormat.encode([
            "continues": continues ? .bool(true) : .null, "error": error.json, "parameters": parameters.json,
        ])
    }
}

/// The members of a reply.
struct ReplyEnvelope: JSONReadable {
    let error: String?
    let continues: Bool
    let parameters: JSONValue

    init(json: JSONValue) throws(JSONError) {
        error = try json.readIfPresent("error")
        continues = try json.readIfPresent("continues") ?? false
        parameters = try json.readParameters()
    }
}

/// The parameters of a call or a reply without parameters. Those of a later version are ignored.
public struct NoParameters: JSONReadable, JSONWritable, Sendable, Equatable {
    /// Creates the parameters.
    public init() {}

    /// Ignores the value.
    public init(json: JSONValue) {}

    /// An empty object.
    public var json: JSONValue { [:] }
}

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
    public var reply: VarlinkReply {
        switch self {
        case .interfaceNotFound(let name): Self.reply("InterfaceNotFound", ["interface": name])
        case .methodNotFound(let name): Self.reply("MethodNotFound", ["method": name])
        case .methodNotImplemented(let name): Self.reply("MethodNotImplemented", ["method": name])
        case .invalidParameter(let name): Self.reply("InvalidParameter", ["parameter": name])
        case .permissionDenied: Self.reply("PermissionDenied", [:])
        case .expectedMore: Self.reply("ExpectedMore", [:])
        }
    }

    private static func reply(_ name: String, _ parameters: [String: String]) -> VarlinkReply {
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
    /// The name of the error, with that of its interface.
    public let name: String
    private let parameters: JSONValue

    init(name: String, parameters: JSONValue) {
        self.name = name
        self.parameters = parameters
    }

    /// Reads the parameters of the error.
    ///
    /// - Throws: ``JSONError`` if they have another type.
    public func parameters<Parameters: JSONReadable>(
        as type: Parameters.Type = Parameters.self
    ) throws(JSONError) -> Parameters {
        try Parameters(json: parameters)
    }
}
