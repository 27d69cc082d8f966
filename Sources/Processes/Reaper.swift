import CLinux

/// Makes this process the parent of its descendants' orphans, and hears of all its children.
public enum Reaper {
    /// From now on orphaned descendants become children of this process instead of process 1's.
    ///
    /// It is not inherited by children, and survives execve(2).
    public static func adoptOrphans() throws(Errno) {
        let result = linux_set_child_subreaper(true)
        guard result == 0 else { throw Errno(rawValue: -result) }
    }

    /// The next event of any child, or nil when there is none. It never blocks; a child that ended is reaped.
    static func next() -> ChildEvent? { next(LINUX_WAIT_ANY, 0) }

    /// The next event of one child, or nil when there is none or it is no child.
    static func next(of pid: ProcessID) -> ChildEvent? { next(LINUX_WAIT_PID, pid) }

    private static func next(_ target: linux_wait_target, _ number: Int32) -> ChildEvent? {
        var event = linux_child_event()
        while unsafe linux_wait(target, number, &event) == 1 {
            if let known = ChildEvent(event) { return known }
        }
        return nil
    }
}
