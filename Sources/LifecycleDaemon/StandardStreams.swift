import Glibc

/// Standard input, output and error of this process.
enum StandardStreams {
    /// Opens /dev/null in the place of those that whoever started the process has closed.
    ///
    /// Otherwise a socket would get one of their numbers, and log entries and the apps' output would go into it.
    static func openMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one: those below it are open by now.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }
}
