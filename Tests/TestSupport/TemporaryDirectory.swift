import Glibc

/// A system call that failed in a test's own preparations.
public struct FailedCall: Error {
    let name: String
    let errno: Int32

    /// Creates a failure.
    ///
    /// - Parameter errno: The error number; nil for that of the last call.
    public init(_ name: String, errno: Int32? = nil) {
        self.name = name
        self.errno = errno ?? Glibc.errno
    }
}

/// A directory of a test's own. It is removed with its contents when the test lets it go.
public final class TemporaryDirectory: Sendable {
    /// The absolute path.
    public let path: String

    /// Makes an empty directory.
    public init() throws {
        var template = Array("/tmp/lifed-test-XXXXXX".utf8CString)
        guard let name = unsafe mkdtemp(&template) else { throw FailedCall("mkdtemp") }
        path = unsafe String(cString: name)
    }

    deinit { _ = unsafe system("rm -rf '\(path)'") }
}
