import CLinux

/// The result of a request to stop a tree.
public enum StopCheck: Hashable, Sendable {
    /// Every process of the tree was seen stopped, and no other was found afterwards. An empty tree counts as stopped.
    case stopped
    /// These may still run.
    case pending([ProcessIdentity])
}

extension ProcessStatus {
    /// Returns whether no thread of the process can run until it, or a child that it waits for, is continued.
    func isHeld(among members: [ProcessStatus]) -> Bool {
        let threads = threads().filter { !$0.state.isGone && !$0.state.isHeld }
        guard threads.allSatisfy({ $0.state == .uninterruptible }) else { return false }
        return threads.isEmpty || threads.count <= heldVforkChildren(of: threads, among: members)
    }

    /// A Boolean value that indicates whether a thread of the process may learn of a change of its children. A thread
    /// in an uninterruptible wait is in no waitpid(2), and acts on a pending SIGSTOP before it gets to one.
    var mayWaitForChildren: Bool {
        !isZombie && !threads().allSatisfy { $0.state.isGone || $0.state.isHeld || $0.state == .uninterruptible }
    }

    private func threads() -> [ProcessStatus] {
        guard threadCount > 1 else { return [self] }
        return ProcFile.processIDs(in: "/proc/\(pid)/task").compactMap { ProcessStatus(ofThread: $0, of: pid) }
    }

    /// Returns the number of stopped processes that some of its threads may wait for.
    ///
    /// A thread in vfork(2), which posix_spawn(3) uses, waits uninterruptibly for its child to execute a program.
    /// When the child is stopped before that, the parent can neither run nor show as stopped.
    private func heldVforkChildren(of threads: [ProcessStatus], among members: [ProcessStatus]) -> Int {
        let children = members.filter { $0.parent == pid && $0.state.isHeld }
        let sharers = children.count { linux_share_memory(pid, $0.pid) == 1 }
        guard sharers < threads.count, threads.allSatisfy({ ProcFile.waitsForChild($0.pid, of: pid) }) else {
            return sharers
        }
        // With clone(2) it may have memory of its own, and may be its maker's sibling.
        return members.count { $0.state.isHeld && [pid, parent].contains($0.parent) && $0.pid != pid }
    }
}

extension ProcFile {
    /// Returns whether a thread is in a system call that lasts until its child has executed a program; false if the
    /// kernel does not tell.
    fileprivate static func waitsForChild(_ thread: ProcessID, of process: ProcessID) -> Bool {
        // A number and, in hexadecimal, its arguments: "56 0x4011 …".
        let text = read("/proc/\(process)/task/\(thread)/syscall", limit: 256)
        let words = text.map { $0.split(separator: UInt8(ascii: " "), maxSplits: 2) } ?? []
        guard words.count > 1, let number = Int(ascii: words[0]),
            let argument = UInt(String(decoding: words[1].dropFirst(2), as: UTF8.self), radix: 16)
        else { return false }
        return linux_waits_for_child(number, argument)
    }
}
