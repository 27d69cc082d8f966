import CLinux
import Glibc

/// An error number of the kernel, printed as its text in the C locale.
public struct Errno: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in errno(3).
    public let rawValue: Int32

    /// Creates the error of a number.
    ///
    /// - Parameter rawValue: A positive number, as in errno(3).
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The error of the latest call of libc that failed.
    static var latest: Errno { Errno(rawValue: errno) }

    /// The text, such as `No such file or directory`.
    public var description: String {
        guard let text = unsafe linux_error_text(rawValue) else { return "error \(rawValue)" }
        return unsafe String(cString: text)
    }
}

/// The reason why this machine, or the rights of this process, lack a feature that apps can do without.
public struct FeatureUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause, as one clause without the error.
    public let cause: String
    /// The error of the kernel, if one is the cause.
    public let error: Errno?

    init(_ cause: String, _ error: Errno? = nil) {
        self.cause = cause
        self.error = error
    }

    /// One clause, without a full stop.
    public var description: String { error.map { "\(cause): \($0)" } ?? cause }
}
