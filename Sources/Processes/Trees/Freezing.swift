/// A way to keep the processes of a tree from running.
public enum SuspendMethod: String, CaseIterable, Hashable, Sendable {
    /// SIGSTOP to each. Parents, shells and debuggers see it, and any process that may send SIGCONT can undo it.
    case signal
    /// The cgroup freezer (Linux 5.2), which no process notices. Without a cgroup the same as `signal`.
    case freezer
    /// Both: neither SIGCONT nor thawing alone makes anything run.
    case both
}

extension ProcessTree {
    /// A reason why the control group of a tree is frozen.
    public enum FreezeReason: Hashable, Sendable {
        /// Its ``SuspendMethod`` wants it.
        case method
        /// Its processes are no children of this one, so the kernel does not tell of a SIGCONT from another program.
        case notChild
        /// This process may not signal these.
        case refused([ProcessIdentity])
    }

    /// The reason why the control group is frozen; nil if it is not.
    public var freezeReason: FreezeReason? {
        guard desiredState == .stopped, isFreezing else { return nil }
        if suspendMethod != .signal { return .method }
        return refused.isEmpty ? .notChild : .refused(refused.map { $0.process })
    }
}
