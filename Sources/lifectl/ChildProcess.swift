import Glibc

/// A program whose output is read line by line while it runs.
struct ChildProcess: ~Copyable {
    private let process: pid_t
    private let output: CInt
    private let errors: CInt
    private var isFinished = false
    private var received: [UInt8] = []
    private var position = 0

    /// Why a program could not be started.
    struct CannotStart: Error {
        let errno: Int32
    }

    /// Starts a program that is found in PATH, without standard input.
    init(_ command: [String]) throws(CannotStart) {
        let out = try Self.pipe()
        let err = try Self.pipe()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var number: pid_t = 0
        let result = unsafe posix_spawnp(&number, command[0], &actions, nil, &words, environ)
        close(out[1])
        close(err[1])
        guard result == 0 else {
            close(out[0])
            close(err[0])
            throw CannotStart(errno: result)
        }
        process = number
        output = out[0]
        errors = err[0]
    }

    /// Two ends that no other program inherits.
    private static func pipe() throws(CannotStart) -> [CInt] {
        var ends: [CInt] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw CannotStart(errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    deinit {
        close(output)
        close(errors)
    }

    /// Ends the program, if it has not ended by itself.
    mutating func end() {
        guard !isFinished else { return }
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
        isFinished = true
    }

    /// Readable once there is output, or none will come any more.
    var descriptor: CInt { output }

    /// Whether a whole line was received already, so that nothing has to be waited for.
    var hasLine: Bool { received[position...].contains(UInt8(ascii: "\n")) }

    /// The next line of standard output, without its end; nil after the last.
    mutating func nextLine() -> [UInt8]? {
        while true {
            if let end = received[position...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return Array(received[position..<end])
            }
            received.removeFirst(position)
            position = 0
            guard let bytes = Self.read(output), !bytes.isEmpty else {
                defer { received = [] }
                return received.isEmpty ? nil : received
            }
            received += bytes
        }
    }

    /// Waits for the program to end, and returns what it exited with and the lines that it had to say on standard error.
    ///
    /// The two pipes are read one after the other: this is for programs whose complaints fit into a pipe.
    mutating func finish() -> (status: Int32, complaints: [String]) {
        while nextLine() != nil {}
        var text: [UInt8] = []
        while let bytes = Self.read(errors), !bytes.isEmpty { text += bytes }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        isFinished = true
        let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
        return (code, String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init))
    }

    /// What is there, once there is anything; empty at the end, nil on failure.
    private static func read(_ descriptor: CInt) -> [UInt8]? {
        while true {
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, filled in
                unsafe count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                filled = max(0, count)
            }
            if count >= 0 { return bytes }
            guard errno == EINTR else { return nil }
        }
    }
}

/// A program that runs for as long as it is listened to, and writes lines.
final class LineProgram {
    private var process: ChildProcess
    private let name: String

    init(_ command: [String], doing action: String) throws(Failure) {
        name = command[0]
        do throws(ChildProcess.CannotStart) {
            process = try ChildProcess(command)
        } catch {
            throw Failure(status: .unavailable, message: "\(action): \(command[0]): \(Text.error(error.errno))")
        }
    }

    /// One that waits for somebody does not notice that nobody listens to it any more.
    deinit { process.end() }

    var descriptor: CInt { process.descriptor }

    /// Whether there is something that was not read.
    var hasMore: Bool { process.hasLine || FollowClock.isReadable(descriptor) }

    func nextLine() -> String? { process.nextLine().map { String(decoding: $0, as: UTF8.self) } }

    /// The last of the lines that have come, once one has; nil when no more will come.
    func newestLine() -> String? {
        var line = nextLine()
        while line != nil, process.hasLine { line = nextLine() }
        return line
    }

    /// Waits for the program to end, and returns what it had to say.
    var complaint: String {
        let (status, complaints) = process.finish()
        return complaints.last ?? "\(name) ended with status \(status)"
    }
}

/// lifectl itself.
enum Program {
    /// The directory that it lies in.
    static var directory: String? {
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(path) }
        guard let text = unsafe String(validatingCString: path), let slash = text.lastIndex(of: "/") else { return nil }
        return String(text[..<slash])
    }
}
