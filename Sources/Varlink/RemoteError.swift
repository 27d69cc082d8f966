/// An error that the peer answered a call with.
public struct RemoteError: Error, Sendable {
    /// The fully qualified name.
    public let name: String
    private let message: ArraySlice<UInt8>
    private let hasParameters: Bool

    init(name: String, message: ArraySlice<UInt8>, hasParameters: Bool) {
        self.name = name
        self.message = message
        self.hasParameters = hasParameters
    }

    /// The error's parameters; throws a `DecodingError` when they are of another type.
    public func parameters<Parameters: Decodable>(as type: Parameters.Type = Parameters.self) throws -> Parameters {
        try WireFormat.decodeParameters(Parameters.self, of: message, present: hasParameters)
    }
}

/// The members of a reply besides its parameters.
struct ReplyEnvelope: Decodable {
    let error: String?
    let continues: Bool
    let hasParameters: Bool

    private enum CodingKeys: String, CodingKey {
        case error, continues
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        error = try container.decodeIfPresent(String.self, forKey: .error)
        continues = try container.decodeIfPresent(Bool.self, forKey: .continues) ?? false
        hasParameters = try ParametersPresence(from: decoder).isPresent
    }
}
