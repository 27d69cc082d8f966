/// A limit for the processes and threads of an app, as `TasksMax=` of systemd.resource-control(5).
public enum ProcessLimit: Hashable, Sendable {
    /// At most so many.
    case number(Int)
    /// A share of what the machine can have, in percent.
    case percent(Int)
    /// As many as the machine can have.
    case unlimited

    /// Returns the number for `pids.max`; nil for no limit.
    ///
    /// - Parameter possible: The most that the machine can have.
    public func number(of possible: Int) -> Int? {
        switch self {
        case .number(let number): number
        // A machine with a tiny limit still runs one process an app.
        case .percent(let percent): max(possible / 100 * percent + possible % 100 * percent / 100, 1)
        case .unlimited: nil
        }
    }

    /// The most processes and threads that this machine, or the container that this process is in, can have.
    public static func possibleProcesses() -> Int {
        let limits = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max", "/sys/fs/cgroup/pids.max"]
        return limits.compactMap { path in
            ProcFile.read(path, limit: 32).flatMap { Int(String(decoding: $0, as: UTF8.self).filter { $0 != "\n" }) }
        }.min() ?? Int(Int32.max)
    }
}
