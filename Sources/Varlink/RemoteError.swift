import FoundationEssentials

/// An error that the peer answered a call with.
public struct RemoteError: Error, Sendable {
    /// The fully qualified name.
    public let name: String
    private let message: ArraySlice<UInt8>

    init(name: String, message: ArraySlice<UInt8>) {
        self.name = name
        self.message = message
    }

    /// The error's parameters; throws a `DecodingError` when they are of another type.
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
