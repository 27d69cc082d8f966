public import Varlink

/// A method with one reply, and the types of its parameters and its reply. The methods are static members.
public struct ControlMethod<Parameters: JSONWritable & Sendable, Reply: JSONReadable & Sendable>: Sendable {
    /// The qualified name.
    public let name: String

    init(_ name: String) { self.name = name }
}

extension FindAppParameters {
    /// The lengths of an app id, in bytes.
    public static let appIDLengths = 1...255
}

extension SetInUseParameters {
    /// The number of apps that one call may name.
    public static let limit = 1024
}
