import CLinux
import Glibc

/// A child that was just started.
public struct SpawnedProcess: ~Copyable {
    /// The new process.
    public let identity: ProcessIdentity
    /// The parent of the new process; nil if that is this process.
    let keeper: ProcessIdentity?
    /// A pidfd: becomes readable when the process ends.
    public let descriptor: Descriptor
    /// The pipe on which the child tells whether it could execute the program.
    public let execStatus: ExecStatusPipe
    /// The gate at which the child waits before it executes the program.
    public let gate: LaunchGate
}

/// Starts a program in a session of its own. It is not executed before its gate is opened.
///
/// Its signals are unblocked and have their default actions, standard input is `/dev/null`, and it has no other
/// descriptors than those of the request. What goes wrong in the child arrives through `execStatus`.
///
/// - Parameter request: The program, its arguments, its descriptors and its user.
/// - Returns: The child, which waits at its gate.
/// - Throws: ``SpawnError`` if the request contradicts itself, or the kernel refuses the child. A program that
///   cannot be executed is no error here.
public func spawn(_ request: SpawnRequest) throws(SpawnError) -> SpawnedProcess {
    try request.validate()
    let null = try openForLaunch("/dev/null", O_RDWR, "open /dev/null")

    let (spawned, result) = startChild(request, nullDevice: null.rawValue)
    guard result == 0 else { throw .failed("make a process", -result) }
    let pidfd = Descriptor(owning: spawned.pidfd)
    let status = Descriptor(owning: spawned.status)
    let gate = LaunchGate(descriptor: Descriptor(owning: spawned.gate))

    // The child cannot have been reaped yet, so this is its own.
    let main: ProcessIdentity
    let keeper: ProcessIdentity?
    do throws(Errno) {
        keeper = try ProcessStatus(of: spawned.keeper)?.identity
        guard let identity = try ProcessStatus(of: spawned.pid)?.identity, keeper != nil || spawned.keeper == 0 else {
            throw Errno(rawValue: ENOENT)
        }
        main = identity
    } catch {
        _ = linux_pidfd_send_signal(pidfd.rawValue, SIGKILL)
        throw .failed("read /proc", error.rawValue)
    }
    return SpawnedProcess(
        identity: main,
        keeper: keeper,
        descriptor: pidfd,
        execStatus: ExecStatusPipe(descriptor: status, request: request),
        gate: gate
    )
}

/// Opens a file that a launch needs.
///
/// - Parameter step: The step of the launch, for the error.
func openForLaunch(_ path: some FilePath, _ flags: Int32, _ step: String) throws(SpawnError) -> Descriptor {
    do throws(Errno) {
        return try Descriptor.open(path, flags)
    } catch {
        throw .failed(step, error.rawValue)
    }
}

private func startChild(_ request: SpawnRequest, nullDevice: Int32) -> (linux_spawned, Int32) {
    let paths = CStringArray(request.candidatePaths)
    let arguments = CStringArray([request.program] + request.arguments)
    let environment = CStringArray(request.environment.map { "\($0)=\($1)" })
    let directory = CStringArray([request.workingDirectory])
    let writablePaths = CStringArray(request.writablePaths ?? [])
    let keeper = CStringArray(request.keeper.map { [$0.program] } ?? [])
    let mappings = request.descriptorMappings(nullDevice: nullDevice)
    let credentials = request.credentials
    let groups = credentials?.groups ?? []

    var spawned = linux_spawned()
    let result = unsafe mappings.withUnsafeBufferPointer { mappings in
        unsafe groups.withUnsafeBufferPointer { groups in
            var call = unsafe linux_spawn_request(
                paths: paths.pointers,
                arguments: arguments.pointers,
                environment: environment.pointers,
                working_directory: directory.first,
                descriptors: mappings.baseAddress,
                descriptor_count: mappings.count,
                switch_user: credentials != nil,
                user: credentials?.userID ?? 0,
                group: credentials?.groupID ?? 0,
                groups: groups.baseAddress,
                group_count: groups.count,
                file_mode_mask: request.fileModeMask,
                set_descriptor_limit: request.descriptorLimit != nil,
                descriptor_limit: request.descriptorLimit ?? 0,
                cgroup: request.cgroup ?? -1,
                reset_oom_score: false,
                confine: request.confinement != nil,
                confinement: request.confinement?.forChild ?? linux_confinement(),
                writable_paths: request.writablePaths == nil ? nil : writablePaths.pointers,
                private_tmp: request.hasPrivateTemporaryDirectory,
                ignore_sigpipe: request.ignoresSIGPIPE,
                keeper: keeper.first,
                keeper_input: request.keeper?.input ?? -1
            )
            return unsafe linux_spawn(&call, &spawned)
        }
    }
    // The strings are the callee's until here.
    extendLifetime(paths)
    extendLifetime(arguments)
    extendLifetime(environment)
    extendLifetime(directory)
    extendLifetime(writablePaths)
    extendLifetime(keeper)
    return (spawned, result)
}

extension SpawnRequest {
    fileprivate func descriptorMappings(nullDevice: Int32) -> [linux_descriptor_mapping] {
        let standard = [nullDevice, standardOutput ?? nullDevice, standardError ?? nullDevice]
        let mappings = standard.enumerated().map { DescriptorMapping(source: $1, target: Int32($0)) }
        return (mappings + extraDescriptors).map { linux_descriptor_mapping(source: $0.source, target: $0.target) }
    }
}

/// Keeps a child from executing its program until the launch is on record.
///
/// The child ends without having run anything if the gate is dropped before it was opened, and so if this process ends:
/// the next daemon need not look for programs that are not on record.
public struct LaunchGate: ~Copyable {
    let descriptor: Descriptor

    /// Lets the child go on. A child that has ended meanwhile is no error: its end is told elsewhere.
    ///
    /// - Returns: The reason why the gate cannot be opened, for want of memory for example; the child then ends without
    ///   having run anything.
    public consuming func open() -> SpawnError? {
        let error = -linux_open_gate(descriptor.rawValue)
        guard error > 0, error != EPIPE, error != ECONNRESET else { return nil }
        return .failed("start the new process", error)
    }
}

/// Strings the way execve(2) takes them: a null-terminated array of pointers to zero-terminated bytes.
@safe struct CStringArray: ~Copyable {
    private let bytes: UnsafeMutableBufferPointer<CChar>
    private let array: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    /// The strings must not contain zero bytes: what follows one is cut off.
    init(_ strings: [String]) {
        unsafe bytes = .allocate(capacity: strings.reduce(1) { $0 + $1.utf8.count + 1 })
        unsafe array = .allocate(capacity: strings.count + 1)
        unsafe bytes.initialize(repeating: 0)
        unsafe array.initialize(repeating: nil)

        var offset = 0
        for (index, string) in strings.enumerated() {
            unsafe array[index] = unsafe bytes.baseAddress.map { unsafe $0 + offset }
            unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[offset...])
                .copyBytes(from: string.utf8)
            offset += string.utf8.count + 1
        }
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe array.deallocate()
    }

    /// Valid as long as this value lives.
    @unsafe var pointers: UnsafePointer<UnsafeMutablePointer<CChar>?>? {
        unsafe UnsafePointer(array.baseAddress)
    }

    /// The first string. Valid as long as this value lives.
    @unsafe var first: UnsafePointer<CChar>? {
        unsafe UnsafePointer(array.first ?? nil)
    }
}
