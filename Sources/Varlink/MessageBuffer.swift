import Glibc

/// The bytes that were received, cut into messages at their terminating NULs.
struct MessageBuffer {
    private var bytes: [UInt8] = []
    /// The start of the first message that was not returned.
    private var start = 0
    /// The end of the bytes that are known to have no terminator.
    private var scanned = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes that belong to no returned message.
    var count: Int { bytes.count - start }

    /// The number of bytes in memory.
    var storedCount: Int { bytes.count }

    /// True while there is room: the bytes are not longer than the longest message.
    var wantsInput: Bool { count <= limit }

    /// True if a whole message, or one above the limit, waits.
    var hasMessage: Bool { count > limit || firstZero != nil }

    mutating func append(_ input: some Sequence<UInt8>) {
        dropReturned()
        bytes.append(contentsOf: input)
    }

    /// Returns the next message without its terminator; nil until all of it has come.
    mutating func next() throws(ProtocolViolation) -> ArraySlice<UInt8>? {
        guard let end = firstZero else {
            scanned = bytes.count
            guard count <= limit else { throw .messageTooLong(limit: limit) }
            return nil
        }
        guard end - start <= limit else { throw .messageTooLong(limit: limit) }
        let message = bytes[start..<end]
        start = end + 1
        scanned = start
        return message
    }

    mutating func removeAll() {
        bytes = []
        start = 0
        scanned = 0
    }

    /// The position of the first terminator that was not returned.
    private var firstZero: Int? {
        unsafe bytes.withUnsafeBytes { all in
            guard scanned < all.count, let start = all.baseAddress,
                let zero = unsafe memchr(start + scanned, 0, all.count - scanned)
            else { return nil }
            return unsafe UnsafeRawPointer(zero) - start
        }
    }

    private mutating func dropReturned() {
        // Without the memory of a long message, if nothing is left.
        if start == bytes.count { bytes = [] } else { bytes.removeFirst(start) }
        scanned -= start
        start = 0
    }
}

/// The format of messages: JSON with a terminating NUL.
enum WireFormat {
    /// Returns a message with its NUL. Members that are null are left out.
    static func encode(_ message: JSONValue) -> [UInt8] { message.withoutNulls.bytes + [0] }

    /// Checks a message, and reads its members.
    static func decodeEnvelope<Envelope: JSONReadable>(
        _ type: Envelope.Type, from message: ArraySlice<UInt8>, nesting limit: Int
    ) throws(ProtocolViolation) -> Envelope {
        do throws(JSONError) {
            return try Envelope(json: JSONValue(parsing: message, depth: limit))
        } catch {
            throw error.kind == .tooDeep ? .nestedTooDeeply(limit: limit) : .malformed
        }
    }
}

/// A message of the peer that is not Varlink.
///
/// Such a message has no reply in the specification: the connection ends after the replies before it.
public enum ProtocolViolation: Error, Equatable, Sendable {
    /// A message is longer than the limit, in bytes.
    case messageTooLong(limit: Int)
    /// Objects and arrays nest deeper than the limit.
    case nestedTooDeeply(limit: Int)
    /// The message is not a JSON object in UTF-8 with the members of a call or a reply.
    case malformed
    /// More than one of `oneway`, `more` and `upgrade` is set.
    case conflictingFlags
    /// A reply announces others that the call did not ask for.
    case unexpectedContinuation
}

extension ProtocolViolation: CustomStringConvertible {
    /// The violation, for a log.
    public var description: String {
        switch self {
        case .messageTooLong(let limit): "a message is longer than \(limit) bytes"
        case .nestedTooDeeply(let limit): "a message nests objects and arrays deeper than \(limit) levels"
        case .malformed: "a message is not a JSON object with the members that Varlink asks for"
        case .conflictingFlags: "a call sets more than one of oneway, more and upgrade"
        case .unexpectedContinuation: "a reply announces others that the call did not ask for"
        }
    }
}
