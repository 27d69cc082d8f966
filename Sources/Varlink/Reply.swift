import FoundationEssentials

/// An encoded reply, which can be sent to any number of callers.
public struct Reply: Sendable, Equatable {
    /// The JSON text with its terminating NUL.
    let message: [UInt8]
    /// A Boolean value that indicates whether other replies to the same call follow.
    public let continues: Bool

    /// Creates the last or only reply to a call.
    ///
    /// - Precondition: The parameters encode as a JSON object.
    public init(_ parameters: some Encodable) {
        self.init(ReplyMessage(parameters: parameters, continues: nil, error: nil))
    }

    /// Returns a reply to a call with `more` that others follow.
    public static func continuing(_ parameters: some Encodable) -> Reply {
        Reply(ReplyMessage(parameters: parameters, continues: true, error: nil))
    }

    /// Returns an error, which ends the call.
    ///
    /// - Parameter name: The fully qualified name.
    public static func error(_ name: String, _ parameters: some Encodable) -> Reply {
        Reply(ReplyMessage(parameters: parameters, continues: nil, error: name))
    }

    private init<Parameters>(_ reply: ReplyMessage<Parameters>) {
        guard let message = WireFormat.encode(reply) else {
            preconditionFailure("the parameters of a reply do not encode as JSON: \(Parameters.self)")
        }
        self.message = message
        continues = reply.continues ?? false
    }
}

/// The members of a reply; what is nil is left out.
private struct ReplyMessage<Parameters: Encodable>: Encodable {
    let parameters: Parameters
    let continues: Bool?
    let error: String?
}

/// The parameters of a call or a reply without parameters.
public struct NoParameters: Codable, Sendable, Equatable, NamedFields {
    package static var fieldNames: [String] { [] }
    /// Creates the parameters.
    public init() {}
}
