import CLinux

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

    init(descriptor: consuming Descriptor, request: SpawnRequest) {
        self.descriptor = descriptor
        program = request.program
        paths = request.candidatePaths
        searchPath = request.effectiveSearchPath
        writablePaths = request.writablePaths ?? []
        workingDirectory = request.workingDirectory
        userID = request.credentials?.userID ?? getuid()
    }

    /// Reads the message of the child. Ask again after `pending` only: a failure is told once.
    public func read() -> ExecStatus {
        var failure = linux_spawn_failure()
        let size = MemoryLayout<linux_spawn_failure>.size
        while true {
            let count = unsafe CLinux.read(descriptor.rawValue, &failure, size)
            if count == 0 { return .running }
            if count == size { return .failed(error(for: failure)) }
            if count < 0 && linux_errno() == EINTR { continue }
            if count < 0 && linux_errno() == EAGAIN { return .pending }
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
