import Glibc
import LifecycleCore
import Processes

/// A failure of the system that the daemon reports to the user or turns into an input of the core.
nonisolated public struct DaemonError: Error, Hashable, CustomStringConvertible {
    /// The part of the daemon that failed.
    public enum Code: Sendable {
        /// The daemon cannot start.
        case start
        /// A directory is not private, or cannot be made.
        case directory
        /// An app cannot be launched, before its program is executed.
        case launch
        /// The state of the previous daemon cannot be used.
        case state
        /// Memory pressure cannot be watched.
        case memoryPressure
    }

    /// The part of the daemon that failed.
    public let code: Code
    /// The operation and its object, or a whole sentence if no system call failed.
    let context: String
    /// The error of the system call; nil if none failed.
    let errno: Errno?

    init(_ code: Code, _ context: String, errno: Errno? = nil) {
        self.code = code
        self.context = context
        self.errno = errno
    }

    /// One sentence.
    public var description: String { errno.map { "\(context): \($0)" } ?? context }

    /// The remedy for an error of a path; nil for another one, or if the sentence has it.
    public var remedy: String? {
        switch errno?.rawValue {
        case ENAMETOOLONG: "name a directory with a shorter path"
        case ENOSPC, EDQUOT: "free some space there"
        default: nil
        }
    }

    /// A Boolean value that indicates whether a later attempt may succeed.
    var isTransient: Bool {
        guard let errno else { return false }
        return errno.isShortage || errno.rawValue == EIO
    }
}

extension Errno {
    /// A Boolean value that indicates whether the system lacks descriptors or memory, and may have some later.
    nonisolated var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(rawValue) }
}
