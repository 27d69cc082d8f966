import Glibc
import Testing

/// An app that runs, with its end of the channel as descriptor 3 and its standard output in a test's hands.
final class AppProcess {
    struct Hang: Error {}

    let pid: pid_t
    private let output: Int32
    private var text = ""
    private var isReaped = false

    /// Starts a program. It gets the environment given, and the variables of the channel if there is one, which is closed here.
    init(_ command: [String], channel: Int32?, environment: [String: String] = [:]) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        defer {
            close(ends[1])
            if let channel { close(channel) }
        }
        output = ends[0]
        var variables = environment
        variables["PATH"] = "/usr/bin:/bin"
        for name in ["PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        if let channel {
            var status = stat()
            try #require(unsafe fstat(channel, &status) == 0)
            variables["LIFECYCLE_FD"] = "3"
            variables["LIFECYCLE_CHANNEL"] = "\(status.st_dev):\(status.st_ino)"
        }
        pid = try Self.spawn(command, variables.map { "\($0)=\($1)" }, output: ends[1], channel: channel)
    }

    deinit {
        if !isReaped {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        close(output)
    }

    func signal(_ number: Int32) throws {
        try #require(kill(pid, number) == 0)
    }

    /// Stops the process, and returns when it is stopped.
    func stop() throws {
        try signal(SIGSTOP)
        var status: Int32 = 0
        try #require(unsafe waitpid(pid, &status, WUNTRACED) == pid)
        try #require(status & 0xFF == 0x7F, "stopped, not ended")
    }

    /// Returns whether the main thread comes to rest: it sleeps whenever it is looked at. A thread that is always at work
    /// is known by the processor time that it takes, so that a slow machine makes no difference.
    func sleeps() throws -> Bool {
        let ticksOfOneAtWork = try mainThread().ticks + 50
        var looks = 0
        while looks < 20 {
            let (state, ticks) = try mainThread()
            try #require("RSD".contains(state), "it runs")
            if ticks >= ticksOfOneAtWork { return false }
            looks = state == "S" ? looks + 1 : 0
            sched_yield()
        }
        return true
    }

    /// The state of the main thread, a letter as in proc_pid_stat(5), and the processor time that it has had.
    private func mainThread() throws -> (state: Substring, ticks: Int) {
        let file = unsafe open("/proc/\(pid)/task/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &bytes, bytes.count)
        // The name of the program, in parentheses, may have spaces.
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        return (fields[0], try #require(Int(fields[11])) + #require(Int(fields[12])))
    }

    /// The next line of output, or nil after the last.
    func line() throws -> String? {
        while true {
            if let end = text.firstIndex(of: "\n") {
                defer { text.removeSubrange(...end) }
                return String(text[..<end])
            }
            var item = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&item, 1, FakeDaemon.guardMilliseconds) == 1 else { throw Hang() }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(output, &piece, piece.count)
            guard count > 0 else { return nil }
            text += String(decoding: piece.prefix(count), as: UTF8.self)
        }
    }

    /// The rest of the output, until its end.
    func remainingLines() throws -> [String] {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        return lines
    }

    /// The status of `wait(2)`, once the process has ended; its output has.
    func status() throws -> Int32 {
        var status: Int32 = 0
        try #require(unsafe waitpid(pid, &status, 0) == pid)
        isReaped = true
        return status
    }

    private static func spawn(
        _ command: [String], _ variables: [String], output: Int32, channel: Int32?
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if let channel { unsafe posix_spawn_file_actions_adddup2(&actions, channel, 3) }

        // As the daemon starts apps: nothing blocked, nothing ignored.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        let arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        let environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let error = unsafe posix_spawnp(&pid, command[0], &actions, &attributes, arguments, environment)
        try #require(error == 0, "cannot run \(command[0]): errno \(error)")
        return pid
    }
}
