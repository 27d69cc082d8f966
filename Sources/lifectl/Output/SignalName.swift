/// Names of signals that end processes, as the journal has them. The numbers are those of x86, ARM and RISC-V (signal(7)).
enum SignalName {
    private static let numbers: [String: Int64] = [
        "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8,
        "SIGKILL": 9, "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15,
        "SIGXCPU": 24, "SIGXFSZ": 25, "SIGSYS": 31,
    ]

    /// The number of a name, or of `signal 40` for one without a name.
    static func number(_ name: String) -> Int64? {
        numbers[name] ?? name.split(separator: " ").last.flatMap { Int64($0) }
    }

    /// The name of a number.
    static func name(_ number: Int64) -> String {
        numbers.first { $0.value == number }?.key ?? "signal \(number)"
    }
}
