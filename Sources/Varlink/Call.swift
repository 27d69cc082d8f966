import FoundationEssentials

/// A method call of a client.
public struct Call {
    /// The identity of a call among the calls of its connection.
    public struct ID: Hashable, Sendable {
        let number: UInt64
    }

    /// The id, to which the reply is sent.
    public let id: ID
    /// The fully qualified name, for example `org.varlink.service.GetInfo`.
    public let method: String
    /// A Boolean value that indicates whether the caller takes several replies.
    public let wantsMore: Bool
    /// A Boolean value that indicates whether the caller wants no reply. The call must be answered all the same: the answer
    /// is not sent, and frees the connection for the next call.
    public let isOneway: Bool

    private let undecoded: EnvelopeParameters

    /// The name of the interface, before the last dot.
    public var interface: String {
        method.lastIndex(of: ".").map { String(method[..<$0]) } ?? ""
    }

    /// The name of the method, behind the last dot.
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

    /// Decodes the parameters.
    ///
    /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the first parameter that does not fit.
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
/// Unknown members are ignored, so that clients of a later protocol are understood.
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

/// The members of calls and replies.
enum EnvelopeKey: String, CodingKey {
    case method, more, oneway, upgrade, parameters, continues, error
}

/// The parameters of a message, which are decoded when their type is known.
///
/// Absent, null and `{}` are the same.
struct EnvelopeParameters {
    private let envelope: KeyedDecodingContainer<EnvelopeKey>
    let arePresent: Bool

    /// Finds the parameters of a message.
    ///
    /// - Throws: `DecodingError` if they are no object.
    init(in envelope: KeyedDecodingContainer<EnvelopeKey>) throws {
        self.envelope = envelope
        arePresent = try envelope.contains(.parameters) && !envelope.decodeNil(forKey: .parameters)
        if arePresent { _ = try envelope.nestedContainer(keyedBy: FieldName.self, forKey: .parameters) }
    }

    /// Decodes the parameters, and refuses unknown names if the type lists its names.
    func decode<Parameters: Decodable>(as type: Parameters.Type = Parameters.self) throws -> Parameters {
        guard arePresent else { return try JSONDecoder().decode(type, from: Data("{}".utf8)) }
        if let type = type as? any NamedFields.Type { try refuseUnknown(type.fieldNames) }
        return try envelope.decode(type, forKey: .parameters)
    }

    private func refuseUnknown(_ known: [String]) throws {
        let fields = try envelope.nestedContainer(keyedBy: FieldName.self, forKey: .parameters)
        // The keys have no order, and equal calls must have equal answers.
        let unknown = fields.allKeys.filter { !known.contains($0.stringValue) }
        if let field = unknown.min(by: { $0.stringValue < $1.stringValue }) {
            throw DecodingError.dataCorruptedError(
                forKey: field, in: fields, debugDescription: "there is no such parameter")
        }
    }
}

/// Any name of a member.
struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        return nil
    }
}

/// Parameters that list the names they know.
///
/// A call with any other name is refused: a misspelt optional parameter would otherwise have no effect, silently.
package protocol NamedFields {
    /// The names as they stand in the interface description.
    static var fieldNames: [String] { get }
}
