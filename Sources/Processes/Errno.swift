import CLinux

/// An error number of the kernel, printed as its text in the C locale.
public struct Errno: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in errno(3).
    public let rawValue: Int32

    /// Takes a positive number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The text, such as `No such file or directory`.
    public var description: String {
        guard let text = unsafe linux_error_text(rawValue) else { return "error \(rawValue)" }
        return unsafe String(cString: text)
    }
}

/// The error number of the latest call of libc that failed.
var errno: Int32 { linux_errno() }
