import FoundationEssentials

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

    /// Creates the error about the parameter that was not decoded.
    init(_ error: DecodingError, insideEnvelope: Bool) {
        var path: [any CodingKey]
        switch error {
        case .keyNotFound(let key, let context): path = context.codingPath + [key]
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
        @unknown default: path = []
        }
        if insideEnvelope && !path.isEmpty { path.removeFirst() }
        self = .invalidParameter(Self.dotted(path))
    }

    private static func dotted(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return text.isEmpty ? "parameters" : text
    }
}

/// The error in a reply of the peer.
public struct RemoteError: Error, Sendable {
    /// The fully qualified name.
    public let name: String
    private let message: ArraySlice<UInt8>

    init(name: String, message: ArraySlice<UInt8>) {
        self.name = name
        self.message = message
    }

    /// Decodes the parameters of the error.
    ///
    /// - Throws: `DecodingError` if they have another type.
    public func parameters<Parameters: Decodable>(as type: Parameters.Type = Parameters.self) throws -> Parameters {
        try JSONDecoder().decode(ErrorParameters<Parameters>.self, from: Data(message)).parameters
    }
}

private struct ErrorParameters<Parameters: Decodable>: Decodable {
    let parameters: Parameters

    init(from decoder: any Decoder) throws {
        parameters = try EnvelopeParameters(in: decoder.container(keyedBy: EnvelopeKey.self)).decode()
    }
}

/// The members of a reply.
struct ReplyEnvelope: Decodable {
    let error: String?
    let continues: Bool
    let parameters: EnvelopeParameters

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: EnvelopeKey.self)
        error = try container.decodeIfPresent(String.self, forKey: .error)
        continues = try container.decodeIfPresent(Bool.self, forKey: .continues) ?? false
        parameters = try EnvelopeParameters(in: container)
    }
}
