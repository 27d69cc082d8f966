/// A method call that a client made.
public struct Call {
    /// Tells the calls of one connection apart.
    public struct ID: Hashable, Sendable {
        let number: UInt64
    }

    /// What the reply is sent to.
    public let id: ID
    /// The fully qualified name, for example `org.varlink.service.GetInfo`.
    public let method: String
    /// Whether the caller takes several replies.
    public let wantsMore: Bool
    /// Whether the caller wants no reply. The call must be answered all the same: the answer is not sent, and frees
    /// the connection for the next call.
    public let isOneway: Bool

    private let undecoded: EnvelopeParameters

    /// The name of the method's interface: all before the last dot.
    public var interface: String {
        method.lastIndex(of: ".").map { String(method[..<$0]) } ?? ""
    }

    /// The method's own name: all behind the last dot.
    public var methodName: String {
        method.lastIndex(of: ".").map { String(method[method.index(after: $0)...]) } ?? method
    }

    init(id: ID, envelope: CallEnvelope) {
        self.id = id
        undecoded = envelope.parameters
        method = envelope.method
        wantsMore = envelope.more
        isOneway = envelope.oneway
    }

    /// The parameters as the method's type; throws ``ServiceError/invalidParameter(_:)`` with the name of the first
    /// that does not fit.
    public func parameters<Parameters: Decodable>(
        as type: Parameters.Type = Parameters.self
    ) throws(ServiceError) -> Parameters {
        do {
            return try undecoded.decode()
        } catch let error as DecodingError {
            throw ServiceError(error, insideEnvelope: undecoded.arePresent)
        } catch {
            throw .invalidParameter("parameters")
        }
    }
}

/// The members of a call; the parameters are decoded once the method is known.
///
/// Members that the protocol does not know are ignored, so that clients of a later protocol are understood.
struct CallEnvelope: Decodable {
    let method: String
    let more: Bool
    let oneway: Bool
    let upgrade: Bool
    let parameters: EnvelopeParameters

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: EnvelopeKey.self)
        method = try container.decode(String.self, forKey: .method)
        more = try container.decodeIfPresent(Bool.self, forKey: .more) ?? false
        oneway = try container.decodeIfPresent(Bool.self, forKey: .oneway) ?? false
        upgrade = try container.decodeIfPresent(Bool.self, forKey: .upgrade) ?? false
        parameters = try EnvelopeParameters(in: container)
    }

    var hasConflictingFlags: Bool {
        [more, oneway, upgrade].count { $0 } > 1
    }
}
