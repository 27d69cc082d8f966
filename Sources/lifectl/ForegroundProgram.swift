import CLinux

/// A program that has the terminal while lifectl waits for it. The signals that would end lifectl are blocked from the
/// initializer on, and go to the program.
struct ForegroundProgram {
    private var before = sigset_t()
    private var blocked = sigset_t()

    init() {
        unsafe sigemptyset(&blocked)
        for signal in [SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP] { unsafe sigaddset(&blocked, signal) }
        unsafe sigprocmask(SIG_BLOCK, &blocked, &before)
    }

    /// Runs a command, and waits until it has ended.
    ///
    /// - Returns: The exit status as a shell has it.
    func run(_ command: [String]) throws(Failure) -> Int32 {
        let process = try start(command)
        var waited = blocked
        while true {
            var information = unsafe siginfo_t()
            let signal = unsafe sigwaitinfo(&waited, &information)
            var status: Int32 = 0
            if signal == SIGCHLD, unsafe waitpid(process, &status, WNOHANG) == process {
                return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
            }
            // A signal of the terminal has reached the command by itself: it is in the same process group.
            if signal > 0, signal != SIGCHLD, unsafe information.si_code <= 0 { kill(process, signal) }
        }
    }

    private func start(_ command: [String]) throws(Failure) -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (mask, defaults) = (before, sigset_t())
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var number: pid_t = 0
        let result = unsafe posix_spawnp(&number, command[0], nil, &attributes, &words, linux_environment())
        guard result == 0 else {
            throw Failure(
                .launchFailed, "cannot run \(Text.printable(command[0]))", Text.error(result),
                remedy: "name a program of PATH, or its path")
        }
        return number
    }
}
