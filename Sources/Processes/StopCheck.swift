import CLinux

/// Whether a tree that was asked to stop has.
public enum StopCheck: Hashable, Sendable {
    /// Every process of the tree was seen stopped, and no other was found afterwards. An empty tree counts as stopped.
    case stopped
    /// These may still run.
    case pending([ProcessIdentity])
}

/// Whether a tree that was asked to go on has.
public enum ResumeCheck: Hashable, Sendable {
    case resumed
    /// These are still stopped.
    case pending([ProcessIdentity])
}

extension ProcessStatus {
    /// Whether no thread of the process can run until somebody continues it.
    func isHeld(among members: [ProcessStatus]) -> Bool {
        let threads = threadStates().filter { !$0.isGone && !$0.isHeld }
        guard threads.allSatisfy({ $0 == .uninterruptible }) else { return false }
        return threads.isEmpty || threads.count <= heldVforkChildren(among: members)
    }

    /// Whether a thread of the process may hear of its children. One in an uninterruptible wait is in no waitpid(2), and acts
    /// on a SIGSTOP that it has been sent before it gets to one.
    var mayWaitForChildren: Bool {
        !isZombie && !threadStates().allSatisfy { $0.isGone || $0.isHeld || $0 == .uninterruptible }
    }

    private func threadStates() -> [ProcessState] {
        guard threadCount > 1 else { return [state] }
        return ProcFile.processIDs(in: "/proc/\(pid)/task").compactMap { thread in
            ProcessStatus(ofThread: thread, of: pid)?.state
        }
    }

    /// How many stopped children still use this process's memory.
    ///
    /// A thread in vfork(2), which posix_spawn(3) uses, waits uninterruptibly for its child to execute a program.
    /// When the child is stopped before that, the parent can neither run nor show as stopped.
    private func heldVforkChildren(among members: [ProcessStatus]) -> Int {
        members.count { $0.parent == pid && $0.state.isHeld && linux_share_memory(pid, $0.pid) == 1 }
    }
}
