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

    let parameters: JSONText

    /// The position of the interface among those that the service was created with; set when a ``Service`` has accepted the call.
    public private(set) var interfacePosition = 0
    /// The position of the method among those of its interface; set with that of the interface.
    public private(set) var methodPosition = 0

    init(id: ID, envelope: CallEnvelope) {
        self.id = id
        parameters = envelope.parameters
        method = envelope.method
        wantsMore = envelope.more
        isOneway = envelope.oneway
    }

    /// Returns the call with the positions of its interface and its method.
    consuming func accepted(interface: Int, method: Int) -> Call {
        (interfacePosition, methodPosition) = (interface, method)
        return self
    }

    /// The name of the interface, before the last dot.
    public var interface: String {
        let name = method.utf8.span
        return name.text(0..<max(name.lastDot, 0))
    }

    /// The name of the method, behind the last dot.
    public var methodName: String {
        let name = method.utf8.span
        return name.text(name.lastDot + 1..<name.count)
    }

    /// Reads the parameters. Absent, null and `{}` are the same.
    ///
    /// - Throws: ``ServiceError/invalidParameter(_:)`` with the name of the first parameter that does not fit.
    public func parameters<Parameters: JSONReadable>(
        as type: Parameters.Type = Parameters.self
    ) throws(ServiceError) -> Parameters {
        do throws(JSONError) {
            return try parameters.read()
        } catch {
            throw .invalidParameter(error.path.isEmpty ? "parameters" : error.path)
        }
    }
}

extension Span<UInt8> {
    /// The position of the last dot; -1 for none.
    fileprivate var lastDot: Int {
        var dot = count
        repeat { dot -= 1 } while dot >= 0 && self[dot] != UInt8(ascii: ".")
        return dot
    }

    fileprivate func text(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
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
    let parameters: JSONText

    init(from json: inout JSONReader) throws(JSONError) {
        var method: String?
        var (more, oneway, upgrade) = (false, false, false)
        var parameters: JSONText?
        try json.beginObject()
        while json.nextMember() {
            if json.isAt("method") {
                method = try json.readString()
            } else if json.isAt("parameters") {
                parameters = try json.readParameters()
            } else if json.isAt("more") {
                more = try json.read(Bool?.self) ?? false
            } else if json.isAt("oneway") {
                oneway = try json.read(Bool?.self) ?? false
            } else if json.isAt("upgrade") {
                upgrade = try json.read(Bool?.self) ?? false
            } else {
                json.skipValue()
            }
        }
        guard let method else { throw json.missingField("method") }
        (self.method, self.parameters) = (method, parameters ?? .emptyObject)
        (self.more, self.oneway, self.upgrade) = (more, oneway, upgrade)
    }

    var hasConflictingFlags: Bool {
        more && oneway || more && upgrade || oneway && upgrade
    }
}

extension JSONReader {
    /// Reads the parameters of a message, which are checked to be an object, or null.
    mutating func readParameters() throws(JSONError) -> JSONText {
        if readNull() { return .emptyObject }
        try expectObject()
        return readText()
    }
}
