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
    /// One line, without a full stop.
    public var description: String {
        switch self {
        case .invalidRequest(let problem):
            "cannot start the program: \(problem)"
        case .programNotFound(let program, let searchPath?):
            "cannot execute \(program): not found in \(searchPath)"
        case .programNotFound(let program, nil):
            "cannot execute \(program): \(Errno(rawValue: ENOENT))"
        case .interpreterNotFound(let path):
            "cannot execute \(path): the interpreter that it names does not exist"
        case .notExecutable(let path, let error):
            "cannot execute \(path): \(error)"
        case .workingDirectory(let path, let error):
            "cannot enter the working directory \(path): \(error)"
        case .switchingUser(let userID, let error):
            "cannot become user \(userID): \(error)"
        case .privateTemporaryDirectory(let error):
            "cannot make a private /tmp: \(error); it takes CAP_SYS_ADMIN, as the system's daemon has it"
        case .restrictingWrites(let error):
            "cannot restrict writing to writablePaths: Landlock: \(error); it takes Linux 6.2, and landlock in lsm= of its command line"
        case .writablePath(let path, let error):
            "cannot let the app write below \(path): \(error)"
        case .resources(let error):
            "no room for another process: \(error)" + (Self.limit(behind: error).map { " (\($0))" } ?? "")
        case .setUp(let step, let error):
            "cannot \(step): \(error)"
        }
    }
}

extension SpawnError {
    /// Returns the limit that must be raised, if it is known.
    private static func limit(behind error: Errno) -> String? {
        switch error.rawValue {
        case EMFILE: "lifed may have no more descriptors: LimitNOFILE= of its unit"
        case ENFILE: "the machine may have no more open files: sysctl fs.file-max"
        case EAGAIN: "there may be no more processes: LimitNPROC= and TasksMax= of lifed's unit, sysctl kernel.pid_max"
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
