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

extension RunParameters {
    /// The bytes that the command and the environment may have together, as ``size`` counts them.
    public static let sizeLimit = 1 << 18

    /// The bytes of the command and the environment, as execve(2) counts them: each text with its end and a pointer to it.
    public var size: Int {
        let arguments = command.reduce(0) { $0 + $1.utf8.count + 9 }
        return (environment ?? [:]).reduce(arguments) { $0 + $1.key.utf8.count + $1.value.utf8.count + 10 }
    }
}

extension SetInUseParameters {
    /// The number of apps that one call may name.
    public static let limit = 1024
}
