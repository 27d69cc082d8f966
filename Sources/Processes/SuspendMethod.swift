/// How the processes of a tree are kept from running.
public enum SuspendMethod: Hashable, Sendable {
    /// SIGSTOP to each. Parents, shells and debuggers see it, and anybody who may send SIGCONT can undo it.
    case signal
    /// The cgroup freezer (Linux 5.2), which no process notices. Without a cgroup the same as `signal`.
    case freezer
    /// Both: neither SIGCONT nor thawing alone makes anything run.
    case both
}
