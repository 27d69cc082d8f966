import CLinux

/// Something that happened to a child.
public struct ChildEvent: Hashable, Sendable {
    /// What happened.
    public enum Change: Hashable, Sendable {
        /// It has been reaped: its number is free from now on.
        case ended(ExitStatus)
        case stopped(Signal)
        case continued
    }

    /// The child.
    public let pid: ProcessID
    /// What happened to it.
    public let change: Change
}

extension ChildEvent {
    /// Nil for codes that wait(2) does not have.
    init?(_ event: linux_child_event) {
        pid = event.pid
        switch Int(event.code) {
        case Int(CLD_EXITED): change = .ended(.exited(code: event.status))
        case Int(CLD_KILLED): change = .ended(.killed(by: Signal(rawValue: event.status), dumpedCore: false))
        case Int(CLD_DUMPED): change = .ended(.killed(by: Signal(rawValue: event.status), dumpedCore: true))
        case Int(CLD_STOPPED), Int(CLD_TRAPPED): change = .stopped(Signal(rawValue: event.status))
        case Int(CLD_CONTINUED): change = .continued
        default: return nil
        }
    }
}
