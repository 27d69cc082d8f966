import FoundationEssentials

/// A reply as it goes over the wire. It can be sent to any number of callers, and is encoded once.
public struct Reply: Sendable, Equatable {
    /// The JSON text with its terminating NUL.
    let message: [UInt8]
    /// Whether other replies to the same call follow.
    public let continues: Bool

    /// The last or only reply to a call.
    ///
    /// Parameters that do not encode as a JSON object are a mistake in the program.
    public init(_ parameters: some Encodable) {
        self.init(ReplyMessage(parameters: parameters, continues: nil, error: nil))
    }

    /// A reply that others follow, to a call with `more`.
    public static func continuing(_ parameters: some Encodable) -> Reply {
        Reply(ReplyMessage(parameters: parameters, continues: true, error: nil))
    }

    /// An error with its fully qualified name, which ends the call.
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

/// The parameters of a call or a reply that has none.
public struct NoParameters: Codable, Sendable, Equatable, NamedFields {
    /// No field is allowed.
    public static var fieldNames: [String] { [] }
    /// There is nothing to give.
    public init() {}
}
