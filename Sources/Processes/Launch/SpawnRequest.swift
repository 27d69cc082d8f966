/// A descriptor to hand to a program: `source` here becomes `target` there.
public struct DescriptorMapping: Hashable, Sendable {
    /// The number in the calling process.
    public var source: Int32
    /// The number in the program.
    public var target: Int32

    /// Maps one descriptor to another number.
    ///
    /// - Parameters:
    ///   - source: The number in the calling process.
    ///   - target: The number in the program.
    public init(source: Int32, target: Int32) {
        self.source = source
        self.target = target
    }
}

/// A program to start and everything it is started with.
///
/// Nothing else is inherited but resource limits and priorities, without those above the usual.
public struct SpawnRequest: Sendable {
    /// Where bare names are looked for when neither the request nor its environment says so.
    public static let defaultSearchPath = "/usr/local/bin:/usr/bin:/bin"

    /// A path, relative ones from the working directory, or a bare name to be looked for in the search path.
    public var program: String
    /// The arguments after the program's own name.
    public var arguments: [String]
    /// The whole environment.
    public var environment: [String: String]
    /// Directories separated by colons; nil: `PATH` of the environment. Empty entries do not mean the current directory.
    public var searchPath: String?
    /// Entered as the program's user.
    public var workingDirectory = "/"
    /// The user and the groups of the program; nil: the caller's.
    public var credentials: Credentials?
    /// Borrowed for the call; nil: `/dev/null`.
    public var standardOutput: Int32?
    /// Borrowed for the call; nil: `/dev/null`.
    public var standardError: Int32?
    /// True if the program gets `EPIPE`, and not SIGPIPE, when the reader of its output is gone.
    public var ignoresSIGPIPE = false
    /// Descriptors 3 to 1023 of the program; the sources are borrowed for the call. At most 61.
    public var extraDescriptors: [DescriptorMapping] = []
    /// The permissions that new files of the program do not get: umask(2).
    public var fileModeMask: UInt32 = 0o022
    /// The program's soft limit of open descriptors; nil: the caller's. The hard limit is inherited.
    public var descriptorLimit: UInt64?
    /// The upper bounds of the program; nil: the caller's.
    public var confinement: Confinement?
    /// Absolute paths, below which and in `/dev` alone the program can write; nil: everywhere. Implies no new privileges.
    public var writablePaths: [String]?
    /// A Boolean value that indicates whether the program has a `/tmp` and a `/var/tmp` of its own.
    ///
    /// Only a caller with `CAP_SYS_ADMIN` can give them.
    public var hasPrivateTemporaryDirectory = false
    /// A descriptor of the cgroup v2 directory to be born in, borrowed for the call; nil: the caller's cgroup.
    public var cgroup: Int32?
    /// The parent of the program; nil: the caller.
    var keeper: KeeperLaunch?
    /// The name of the launch.
    public var launchToken: LaunchToken

    /// A keeper, and the descriptor that becomes its standard input, which is borrowed for the call.
    struct KeeperLaunch {
        var program: String
        var input: Int32
    }

    /// Creates a request with the defaults of a program in the background: no output, the caller's user.
    ///
    /// - Parameters:
    ///   - program: A path, or a bare name to be looked for in the search path.
    ///   - arguments: The arguments after the program's own name.
    ///   - environment: The whole environment.
    ///   - launchToken: The name of the launch, which no other launch has.
    public init(
        program: String,
        arguments: [String] = [],
        environment: [String: String] = [:],
        launchToken: LaunchToken = .random()
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.launchToken = launchToken
    }
}

extension SpawnRequest {
    /// The paths to try, in order.
    var candidatePaths: [String] {
        if program.utf8.contains(UInt8(ascii: "/")) { return [program] }
        return effectiveSearchPath.split(separator: ":").map { "\($0)/\(program)" }
    }

    var effectiveSearchPath: String {
        searchPath ?? environment["PATH"] ?? Self.defaultSearchPath
    }

    /// Checks what the kernel would misunderstand rather than refuse.
    func validate() throws(SpawnError) {
        guard !program.isEmpty else { throw .invalidRequest("the program has no name") }
        let texts = [program, workingDirectory, effectiveSearchPath] + arguments + (writablePaths ?? [])
        for text in texts where text.hasZeroByte {
            throw .invalidRequest("a zero byte in \(text.debugDescription)")
        }
        for (name, value) in environment {
            let isUsable = !name.isEmpty && !name.utf8.contains(UInt8(ascii: "=")) && !name.hasZeroByte
            guard isUsable, !value.hasZeroByte else {
                throw .invalidRequest("the environment variable \(name.debugDescription) cannot be passed")
            }
        }
        let targets = extraDescriptors.map { $0.target }
        guard Set(targets).count == targets.count, targets.allSatisfy({ (3...1023).contains($0) }) else {
            throw .invalidRequest("extra descriptors need different numbers from 3 to 1023")
        }
    }
}

extension String {
    /// A Boolean value that indicates whether a program would take a part of the text for the whole.
    fileprivate var hasZeroByte: Bool {
        unsafe utf8.withContiguousStorageIfAvailable { unsafe $0.contains(0) } ?? utf8.contains(0)
    }
}

/// The user and the groups that a program runs as.
public struct Credentials: Hashable, Sendable {
    /// The real, effective and saved user.
    public var userID: UInt32
    /// The real, effective and saved group.
    public var groupID: UInt32
    /// The supplementary groups, which replace the daemon's.
    public var groups: [UInt32]

    /// Creates credentials of numbers, which are not looked up.
    ///
    /// - Parameters:
    ///   - userID: The real, effective and saved user.
    ///   - groupID: The real, effective and saved group.
    ///   - groups: The supplementary groups, which replace the daemon's.
    public init(userID: UInt32, groupID: UInt32, groups: [UInt32]) {
        self.userID = userID
        self.groupID = groupID
        self.groups = groups
    }
}
