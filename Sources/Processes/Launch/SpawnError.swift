import CLinux
import Glibc

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

/// The progress of a child on its way to executing the program.
public enum ExecStatus: Hashable, Sendable {
    /// Neither yet.
    case pending
    /// The program runs, or was killed before it could.
    case running
    /// There will be no program; the child ends with ``failureCode``.
    indirect case failed(SpawnError)

    /// The code with which a child ends that does not become the program, like that of a shell.
    public static let failureCode: Int32 = 127
}

/// The end of a pipe on which a child says that it could not execute its program. Nothing here blocks.
public struct ExecStatusPipe: ~Copyable {
    /// Becomes readable when the status is no longer pending.
    public let descriptor: Descriptor

    private let program: String
    private let paths: [String]
    private let searchPath: String
    private let writablePaths: [String]
    private let workingDirectory: String
    private let userID: UInt32
    private let keeper: String?

    init(descriptor: consuming Descriptor, request: SpawnRequest) {
        self.descriptor = descriptor
        program = request.program
        paths = request.candidatePaths
        searchPath = request.effectiveSearchPath
        writablePaths = request.writablePaths ?? []
        workingDirectory = request.workingDirectory
        userID = request.credentials?.userID ?? getuid()
        keeper = request.keeper?.program
    }

    /// Reads the message of the child. Ask again after `pending` only: a failure is told once.
    public func read() -> ExecStatus {
        var failure = linux_spawn_failure()
        let size = MemoryLayout<linux_spawn_failure>.size
        while true {
            let count = unsafe Glibc.read(descriptor.rawValue, &failure, size)
            if count == 0 { return .running }
            if count == size { return .failed(error(for: failure)) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return .pending }
            return .failed(.setUp(step: "read the exec status of the program", error: Errno(rawValue: EIO)))
        }
    }

    private func error(for failure: linux_spawn_failure) -> SpawnError {
        let error = Errno(rawValue: failure.error)
        if SpawnError.isShortage(failure.error) { return .resources(error) }
        switch linux_spawn_stage(rawValue: UInt32(bitPattern: failure.stage)) {
        case LINUX_SPAWN_SESSION:
            return .setUp(step: "make a session", error: error)
        case LINUX_SPAWN_DESCRIPTORS:
            return .setUp(step: "pass descriptors to the program", error: error)
        case LINUX_SPAWN_KEEPER:
            return .setUp(step: "execute \(keeper ?? "lifed-keeper")", error: error)
        case LINUX_SPAWN_LIMITS:
            return .setUp(step: "set the limit of open descriptors", error: error)
        case LINUX_SPAWN_CREDENTIALS:
            return .switchingUser(userID: userID, error: error)
        case LINUX_SPAWN_WORKING_DIRECTORY:
            return .workingDirectory(path: workingDirectory, error: error)
        case LINUX_SPAWN_PRIVATE_TMP:
            return .privateTemporaryDirectory(error)
        case LINUX_SPAWN_LANDLOCK:
            return .restrictingWrites(error)
        case LINUX_SPAWN_WRITABLE_PATH:
            return .writablePath(path: path(of: failure, in: writablePaths), error: error)
        case LINUX_SPAWN_INTERPRETER:
            return .interpreterNotFound(path: path(of: failure, in: paths))
        default:
            return executionError(error, path: path(of: failure, in: paths))
        }
    }

    private func executionError(_ error: Errno, path: String) -> SpawnError {
        guard error.rawValue == ENOENT else { return .notExecutable(path: path, error: error) }
        let isBareName = paths != [program]
        return .programNotFound(program: program, searchPath: isBareName ? searchPath : nil)
    }

    private func path(of failure: linux_spawn_failure, in paths: [String]) -> String {
        let index = Int(failure.path_index)
        return paths.indices.contains(index) ? paths[index] : program
    }
}
