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
    /// True if the caller takes several replies.
    public let wantsMore: Bool
    /// True if the caller wants no reply. The call must be answered all the same: the answer
    /// is not sent, and frees the connection for the next call.
    public let isOneway: Bool

    /// The parameters; an empty object if there are none.
    public let parameters: JSONValue

    init(id: ID, envelope: CallEnvelope) {
        self.id = id
        parameters = envelope.parameters
        method = envelope.method
        wantsMore = envelope.more
        isOneway = envelope.oneway
    }

    /// The name of the interface, before the last dot.
    public var interface: String { method.lastIndex(of: ".").map { String(method[..<$0]) } ?? "" }

    /// The name of the method, after the last dot.
    public var methodName: String { method.lastIndex(of: ".").map { String(method[$0...].dropFirst()) } ?? method }

    /// Reads the parameters. Absent, null and `{}` are the same.
    ///
    /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the first parameter that does not fit.
    public func parameters<Parameters: JSONReadable>(
        as type: Parameters.Type = Parameters.self
    ) throws(ServiceError) -> Parameters {
        do throws(JSONError) {
            return try Parameters(json: parameters)
        } catch {
            throw .invalidParameter(error.path.isEmpty ? "parameters" : error.path)
        }
    }

    /// Refuses parameters, for a method that has none.
    ///
    /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the first parameter.
    public func requireNoParameters() throws(ServiceError) {
        if let first = parameters.object?.first { throw .invalidParameter(first.name) }
    }
}

/// The members of a call; the parameters are read once the method is known.
///
/// Unknown members are ignored, so that clients of a later protocol are understood.
struct CallEnvelope: JSONReadable {
    let method: String
    let more: Bool
    let oneway: Bool
    let upgrade: Bool
    let parameters: JSONValue

    init(json: JSONValue) throws(JSONError) {
        method = try json.read("method")
        more = try json.readIfPresent("more") ?? false
        oneway = try json.readIfPresent("oneway") ?? false
        upgrade = try json.readIfPresent("upgrade") ?? false
        parameters = try json.readParameters()
    }

    var hasConflictingFlags: Bool {
        more && oneway || more && upgrade || oneway && upgrade
    }
}

extension JSONValue {
    /// Reads the parameters of a message, which may be missing.
    func readParameters() throws(JSONError) -> JSONValue {
        let parameters: JSONValue = try readIfPresent("parameters") ?? [:]
        guard parameters.object != nil else { throw JSONError(.wrongType(expected: .object), path: "parameters") }
        return parameters
    }
}
