import Glibc

/// A call of libsystemd, or of the kernel on its behalf, that failed.
public struct SystemdError: Error, Equatable, CustomStringConvertible {
    /// The operation, as a phrase that follows "cannot": `watch descriptor 7`.
    public let operation: String

    /// The positive error number of errno(3).
    public let errno: Int32

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - operation: The operation, as a phrase that follows "cannot".
    ///   - errno: The error number of errno(3), or a negative result of libsystemd.
    public init(operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno == .min ? EINVAL : abs(errno)
    }

    /// One line: the operation that failed, and the C library's text for the cause.
    public nonisolated var description: String {
        "cannot \(operation): \(errorText(errno))"
    }
}

/// Returns the text of an error number. glibc hands out constant strings here, except for numbers that are no errors.
private nonisolated func errorText(_ number: Int32) -> String {
    guard let name = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: name)
}

/// Turns libsystemd's convention, a negative error number for failure, into a thrown error.
@discardableResult
func checked(
    _ result: Int32,
    _ operation: @autoclosure () -> String
) throws(SystemdError) -> Int32 {
    guard result >= 0 else { throw SystemdError(operation: operation(), errno: result) }
    return result
}

/// A file descriptor that is closed when its owner goes away, unless the owner hands it on.
public struct OwnedDescriptor: ~Copyable {
    /// The number, to be used while the owner is alive.
    public let rawValue: Int32

    /// Creates the owner of a descriptor.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Gives the descriptor away; closing it is the caller's business from now on.
    public consuming func release() -> Int32 {
        let rawValue = self.rawValue
        discard self
        return rawValue
    }

    deinit {
        close(rawValue)
    }
}
