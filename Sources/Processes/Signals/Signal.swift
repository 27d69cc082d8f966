import CLinux
import Glibc

/// A signal, printed by its usual name.
public struct Signal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in signal(7).
    public let rawValue: Int32

    /// Takes any number; the kernel refuses those it does not have.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// SIGSTOP, which no process can catch.
    public static let stop = Signal(rawValue: SIGSTOP)
    /// SIGCONT, which continues a stopped process even if it ignores the signal.
    public static let resume = Signal(rawValue: SIGCONT)
    /// SIGTERM, which a process can catch or ignore.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// SIGKILL, which no process can catch.
    public static let kill = Signal(rawValue: SIGKILL)

    /// A Boolean value that indicates whether the signal stops or continues processes, as in signal(7).
    public var changesStops: Bool { [SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU].contains(rawValue) }

    /// The name, such as `SIGTERM`.
    public var description: String {
        guard let name = unsafe linux_signal_name(rawValue) else { return "signal \(rawValue)" }
        return unsafe "SIG" + String(cString: name)
    }
}

/// Signals for processes that may vanish, and whose numbers may be reused, at any time.
enum SignalDelivery {
    /// Sends a signal to exactly this process; nil when it was delivered, the process is gone, or it is not to get it.
    ///
    /// - Parameter mayReach: Judges the process that has the number while a pidfd holds it.
    static func send(
        _ signal: Signal, to process: ProcessIdentity, if mayReach: (ProcessID) throws(Errno) -> Bool = { _ in true }
    ) -> Errno? {
        guard process.pid > 1, process.pid != getpid() else { return Errno(rawValue: EPERM) }
        let pidfd = linux_pidfd_open(process.pid)
        guard pidfd >= 0 || pidfd == -ENOSYS else { return failure(-pidfd) }
        let descriptor = pidfd >= 0 ? Descriptor(owning: pidfd) : nil
        do throws(Errno) {
            // The descriptor holds whichever process had the number; the start time identifies it.
            guard try mayReach(process.pid), try process.exists() else { return nil }
        } catch {
            return error
        }
        // Before Linux 5.3, the number could be reused between the two calls, which nothing can prevent there.
        let isSent = pidfd >= 0 ? linux_pidfd_send_signal(pidfd, signal.rawValue) : kill(process.pid, signal.rawValue)
        let error = pidfd >= 0 ? -isSent : errno
        extendLifetime(descriptor)
        return isSent == 0 ? nil : failure(error)
    }

    /// Sends a signal to the process that a pidfd stands for; nil when it was delivered or the process is gone.
    static func send(_ signal: Signal, through descriptor: Int32) -> Errno? {
        failure(-linux_pidfd_send_signal(descriptor, signal.rawValue))
    }

    /// Sends a signal to the process group that a process has made, if nothing stands in the way: the process must not
    /// have been reaped, and the kernel must be able to (Linux 6.9).
    ///
    /// - Returns: Whether the group has got it.
    static func send(_ signal: Signal, toGroupLedBy leader: ProcessIdentity) -> Bool {
        guard leader.pid > 1, leader.pid != getpgrp(), let descriptor = ProcessDescriptor.open(leader.pid),
            (try? leader.exists()) == true
        else { return false }
        return linux_pidfd_signal_group(descriptor.rawValue, signal.rawValue) == 0
    }

    private static func failure(_ error: Int32) -> Errno? {
        error <= 0 || error == ESRCH ? nil : Errno(rawValue: error)
    }
}
