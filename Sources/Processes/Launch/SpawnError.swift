import CLinux

/// The reason why a program does not run.
public enum SpawnError: Error, Hashable, Sendable {
    /// The request contradicts itself; the text says where.
    case invalidRequest(String)
    /// There is no such file; `searchPath` is where a bare name was looked for.
    case programNotFound(program: String, searchPath: String?)
    /// The file is there, but the interpreter that it names is not.
    case interpreterNotFound(path: String)
    /// The file may not be, or cannot be, executed.
    case notExecutable(path: String, error: Errno)
    case workingDirectory(path: String, error: Errno)
    /// Becoming the user was refused, mostly because the caller is not root.
    case switchingUser(userID: UInt32, error: Errno)
    /// No mount namespace can be made, mostly because the caller is not root.
    case privateTemporaryDirectory(Errno)
    /// The kernel has no Landlock, or an older one than is needed.
    case restrictingWrites(Errno)
    /// The program was to be able to write below a path that its user cannot reach.
    case writablePath(path: String, error: Errno)
    /// The machine, or a limit, has no room for another process or descriptor; it may work later.
    case resources(Errno)
    /// Another step of the set-up failed.
    case setUp(step: String, error: Errno)
}

extension SpawnError: CustomStringConvertible {
    /// The cause of a failed launch as one clause, without a full stop.
    public var description: String {
        switch self {
        case .invalidRequest(let problem):
            problem
        case .programNotFound(let program, let searchPath?):
            "\(program): not found in \(searchPath)"
        case .programNotFound(let program, nil):
            "\(program): \(Errno(rawValue: ENOENT))"
        case .interpreterNotFound(let path):
            "\(path): its interpreter does not exist"
        case .notExecutable(let path, let error):
            "\(path): \(error)"
        case .workingDirectory(let path, let error):
            "working directory \(path): \(error)"
        case .switchingUser(let userID, let error):
            "switching to user \(userID): \(error)"
        case .privateTemporaryDirectory(let error):
            "privateTmp: \(error) (the daemon needs CAP_SYS_ADMIN)"
        case .restrictingWrites(let error):
            "writablePaths: Landlock: \(error) (it needs Linux 6.2 with landlock in lsm=)"
        case .writablePath(let path, let error):
            "writablePaths: \(path): \(error)"
        case .resources(let error):
            "no room for another process: \(error)" + (Self.limit(behind: error).map { " (\($0))" } ?? "")
        case .setUp(let step, let error):
            "the daemon cannot \(step): \(error)"
        }
    }
}

extension SpawnError {
    /// Returns the limit that must be raised, if it is known.
    private static func limit(behind error: Errno) -> String? {
        switch error.rawValue {
        case EMFILE: "raise LimitNOFILE= of lifed's unit"
        case ENFILE: "raise sysctl fs.file-max"
        case EAGAIN: "raise LimitNPROC= or TasksMax= of lifed's unit, or sysctl kernel.pid_max"
        default: nil
        }
    }

    /// Returns a failure of the parent's own calls.
    static func failed(_ step: String, _ error: Int32) -> SpawnError {
        isShortage(error) ? .resources(Errno(rawValue: error)) : .setUp(step: step, error: Errno(rawValue: error))
    }

    static func isShortage(_ error: Int32) -> Bool {
        [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, ENOBUFS].contains(error)
    }
}
