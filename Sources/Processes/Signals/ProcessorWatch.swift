import CLinux

/// Sends a signal to this process when a stopped process runs. The kernel reports a continuation to the parent alone, but a process
/// that runs takes processor time.
///
/// A process that sleeps again before the kernel's clock ticks is not noticed.
public final class ProcessorWatch {
    /// The signal, whose value is the number of the process. Any other process can send it as well.
    public static var signal: Int32 { __libc_current_sigrtmin() + 24 }

    /// By the numbers of the processes.
    private var timers: [ProcessID: Int] = [:]

    /// Watches each process for which the kernel has room.
    public init(of processes: Set<ProcessIdentity>) {
        for process in processes {
            var timer = 0
            guard unsafe linux_watch_processor(process.pid, Self.signal, &timer) == 0 else { continue }
            timers[process.pid] = timer
        }
    }

    deinit {
        for timer in timers.values { linux_end_processor_watch(timer) }
    }

    /// Returns whether the process that has a number is watched.
    public func includes(_ pid: ProcessID) -> Bool { timers[pid] != nil }
}
