import CLinux
import Glibc

/// A program whose output is read line by line while it runs.
final class ChildProcess {
    private let process: pid_t
    private let output: CInt
    private let errors: CInt
    private var isFinished = false
    private var received: [UInt8] = []
    private var position = 0

    struct CannotStart: Error {
        let errno: Int32
    }

    /// Starts a program of PATH, with /dev/null as its standard input.
    init(_ command: [String]) throws(CannotStart) {
        let out = try Self.pipe()
        let err = try Self.pipe()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO)
        do throws(CannotStart) {
            process = try unsafe Self.start(command.map { Array($0.utf8CString) }, &actions, nil)
        } catch {
            for descriptor in out + err { close(descriptor) }
            throw error
        }
        for writer in [out[1], err[1]] { close(writer) }
        (output, errors) = (out[0], err[0])
    }

    /// Starts a program of PATH with this environment.
    ///
    /// - Parameter command: The words, each with a NUL after it.
    fileprivate static func start(
        _ command: [[CChar]], _ actions: UnsafePointer<posix_spawn_file_actions_t>?,
        _ attributes: UnsafePointer<posix_spawnattr_t>?
    ) throws(CannotStart) -> pid_t {
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var number: pid_t = 0
        let result = unsafe posix_spawnp(&number, command[0], actions, attributes, &words, environ)
        guard result == 0 else { throw CannotStart(errno: result) }
        return number
    }

    /// Returns the exit status of waitpid(2) as a shell has it.
    fileprivate static func exitStatus(_ status: Int32) -> Int32 {
        status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }

    /// Makes a pipe that no other child inherits.
    private static func pipe() throws(CannotStart) -> [CInt] {
        var ends: [CInt] = [-1, -1]
        let error = unsafe linux_pipe(&ends)
        guard error == 0 else { throw CannotStart(errno: -error) }
        return ends
    }

    // Nothing else waits for it, and a program that waits for an event does not notice that its output is closed.
    deinit {
        end()
        close(output)
        close(errors)
    }

    /// Kills the program, unless it has ended.
    func end() {
        guard !isFinished else { return }
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
        isFinished = true
    }

    /// Readable when there is output, and at its end.
    var descriptor: CInt { output }

    /// A Boolean value that indicates whether `nextLine()` does not wait.
    var hasLine: Bool { received[position...].contains(UInt8(ascii: "\n")) }

    /// Waits for the next line of standard output; nil at the end.
    func nextLine() -> [UInt8]? {
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

    /// Waits for the end of the program.
    ///
    /// The two pipes are read one after the other, so that the lines on standard error have to fit into a pipe.
    ///
    /// - Returns: The exit status as a shell has it, and the lines on standard error.
    func finish() -> (status: Int32, complaints: [String]) {
        while nextLine() != nil {}
        var text: [UInt8] = []
        while let bytes = Self.read(errors), !bytes.isEmpty { text += bytes }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        isFinished = true
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: { $0.isNewline })
        return (Self.exitStatus(status), lines.map(String.init))
    }

    /// Waits for output, and reads it; empty at the end, nil on failure.
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

/// A program that has the terminal while lifectl waits for it.
enum ForegroundProgram {
    /// Runs a command, and waits until it has ended. Meanwhile the signals that would end lifectl go to the command.
    ///
    /// - Parameter command: The words, each with a NUL after it.
    /// - Returns: The exit status as a shell has it.
    static func run(_ command: [[CChar]]) throws(Failure) -> Int32 {
        var (before, blocked) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        for signal in [SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP] { unsafe sigaddset(&blocked, signal) }
        unsafe sigprocmask(SIG_BLOCK, &blocked, &before)
        defer { unsafe sigprocmask(SIG_SETMASK, &before, nil) }
        let process = try start(command, mask: before)
        while true {
            var information = unsafe siginfo_t()
            let signal = unsafe sigwaitinfo(&blocked, &information)
            var status: Int32 = 0
            if signal == SIGCHLD, unsafe waitpid(process, &status, WNOHANG) == process {
                return ChildProcess.exitStatus(status)
            }
            // A signal of the terminal has reached the command by itself: it is in the same process group.
            if signal > 0, signal != SIGCHLD, unsafe information.si_code <= 0 { kill(process, signal) }
        }
    }

    private static func start(_ command: [[CChar]], mask: sigset_t) throws(Failure) -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (mask, defaults) = (mask, sigset_t())
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        do throws(ChildProcess.CannotStart) {
            return try unsafe ChildProcess.start(command, nil, &attributes)
        } catch {
            let program = String(decoding: command[0].dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw Failure(
                .launchFailed, "cannot run \(Text.printable(program))", Text.error(error.errno),
                remedy: "name a program of PATH, or its path")
        }
    }
}

/// The other machine on which a command runs: `--host USER@HOST`.
struct RemoteHost: Equatable {
    let destination: String
    /// The arguments without `--host`.
    let arguments: [String]

    /// Creates the machine that the arguments before `--` name; nil if they name none.
    init?(arguments: [String]) throws(Failure) {
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        guard let index = arguments[..<end].firstIndex(where: Self.isOption) else { return nil }
        var rest = arguments
        let option = rest.remove(at: index)
        if option == "--host" {
            destination = index < end - 1 ? rest.remove(at: index) : ""
        } else {
            destination = String(option.dropFirst("--host=".count))
        }
        // The other machine would run the command on a third one.
        guard !rest.prefix(while: { $0 != "--" }).contains(where: Self.isOption) else {
            throw Failure(
                .usage, "cannot read the command line", "--host is given twice", remedy: "name one machine")
        }
        self.arguments = rest
        // ssh reads a leading hyphen as an option.
        guard let first = destination.utf8.first, first != UInt8(ascii: "-") else {
            throw Failure(
                .usage, "cannot read the command line", "--host takes a machine",
                remedy: "name one, as in: lifectl --host kim@kitchen list")
        }
    }

    private static func isOption(_ word: String) -> Bool { word == "--host" || word.hasPrefix("--host=") }

    /// The command line of ssh. The shell of the other machine reads the last word, so the words in it are quoted.
    var command: [String] {
        ["ssh", "--", destination, (["lifectl"] + arguments).map(Escaping.shell).joined(separator: " ")]
    }

    /// Executes ssh. The exit status is that of the command on the other machine, or 255.
    func run() throws(Failure) -> Never {
        try Failure.requireText(doing: "cannot run lifectl on \(destination)")
        // SIG_DFL is a macro that Swift cannot import.
        signal(SIGPIPE, nil)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        _ = unsafe execvp("ssh", &words)
        throw Failure(
            .unavailable, "cannot reach \(destination)", "ssh: \(Text.error(errno))", remedy: "install ssh(1)")
    }
}
