import CLinux

/// A process that is held by a descriptor while it is looked at, so that its number cannot become another's unnoticed.
public struct HeldProcess: ~Copyable {
    /// The number of the process.
    public let pid: ProcessID
    private let descriptor: Descriptor

    private init(pid: ProcessID, descriptor: consuming Descriptor) {
        self.pid = pid
        self.descriptor = descriptor
    }

    /// Holds the process that has a number now; nil when there is none, or when the number is that of a thread.
    ///
    /// - Throws: Why it cannot be held, mostly for want of a descriptor.
    public static func hold(_ pid: ProcessID) throws(Errno) -> HeldProcess? {
        let number = linux_pidfd_open(pid)
        guard number < 0 else { return HeldProcess(pid: pid, descriptor: Descriptor(owning: number)) }
        // A thread that is not the first is EINVAL, or ENOENT since Linux 6.9.
        guard [ESRCH, EINVAL, ENOENT].contains(-number) else { throw Errno(rawValue: -number) }
        return nil
    }

    /// Gives the descriptor away, a pidfd of the process.
    consuming func takeDescriptor() -> Descriptor { descriptor }

    /// Whether it has not ended: then whatever was found under its number so far was about it.
    public var lives: Bool { linux_pidfd_has_ended(descriptor.rawValue) == 0 }
}
