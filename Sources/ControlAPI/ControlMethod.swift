import LifecycleTypes
public import Varlink

/// A method with one reply, and the types of its parameters and its reply. The methods are static members.
public struct ControlMethod<Parameters: JSONWritable & Sendable, Reply: JSONReadable & Sendable>: Sendable {
    /// The name of the method, with that of its interface.
    public let name: String

    init(_ name: String) { self.name = name }
}

/// The limit of a URL, an activity or background work.
public enum DeliveryLimit {
    /// The bytes of the line of the app protocol with the delivery, in which one byte may take three.
    public static let lineBytes = 7 << 10
}

extension AdoptParameters {
    /// Returns whether a text can be the name of an app: 1 to 256 characters without control characters, as in manifests.
    public static func isName(_ text: String) -> Bool {
        (1...256).contains(text.unicodeScalars.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension BeginInterruptionParameters {
    /// Returns whether a text can be the name of an interruption: 1 to 64 bytes without spaces and control characters.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension OpenParameters {
    /// Returns whether a text is a media type, or all of a family, such as `image/*`, as in manifests (RFC 6838, section 4.2).
    public static func isType(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 2 && isTypeName(parts[0]) && (parts[1].elementsEqual("*".utf8) || isTypeName(parts[1]))
    }

    private static func isTypeName(_ name: Substring.UTF8View) -> Bool {
        guard let first = name.first, isLetterOrDigit(first), name.count <= 127 else { return false }
        return name.allSatisfy { isLetterOrDigit($0) || "!#$&-^_.+".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension WakeParameters {
    /// Returns whether a text is a kind of work, as in manifests: 1 to 64 of a-z, 0-9 and -.
    public static func isKind(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}

extension FindAppParameters {
    /// The lengths of an app id, in bytes.
    public static let appIDLengths = 1...255
}

extension SetInUseParameters {
    /// The number of apps that one call may name.
    public static let limit = 1024

    /// A Boolean value that indicates whether clients report the use. The daemon itself reports the others.
    public var isOfClients: Bool {
        switch use {
        case .visible, .pointed, .playing, .called, .awaited, .unread: true
        case .relaunched, .unfollowed: false
        }
    }
}

/// A value of an enumeration of the interface.
public protocol JSONWord: JSONReadable, JSONWritable, RawRepresentable<String>, CaseIterable {}

extension JSONWord {
    /// The word in the interface. Raw values have hyphens, as in the journal, and Varlink allows none: `launchFailed`.
    public var word: String {
        let parts = rawValue.split(separator: "-")
        return parts.dropFirst().reduce(String(parts[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// Reads a word.
    ///
    /// - Throws: ``JSONError`` if the value is no text, or a word that the type does not have.
    public init(json: JSONValue) throws(JSONError) {
        guard let value = try Self(word: String(json: json)) else { throw JSONError(.unknownValue) }
        self = value
    }

    /// Creates the value of a word in the interface; nil for a word of another version.
    public init?(word: String) {
        // The raw value of most is the word.
        let value = Self(rawValue: word) ?? Self.allCases.first { $0.word == word }
        guard let value, value.word == word else { return nil }
        self = value
    }

    /// The word as a string.
    public var json: JSONValue { .string(word) }
}
