internal import CLifecycle

/// A system call that failed.
public struct SystemError: Error, Equatable, Sendable {
    /// An errno.
    public let code: Int32

    init(code: Int32) {
        self.code = code
    }

    /// Why the last call failed.
    static var last: SystemError { SystemError(code: lifecycle_errno()) }
}
