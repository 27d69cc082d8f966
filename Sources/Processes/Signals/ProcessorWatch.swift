import CLinux
import Glibc

/// The kernel's reports of the switches between processes, kept ready.
///
/// The first report of a machine takes the kernel some 10 to 70 ms; while one exists, others take some microseconds.
public final class SwitchReports {
    private let own: linux_switches

    /// Opens a report about this process. The result is nil where the kernel has no reports, or leaves them to privileged processes:
    /// `kernel.perf_event_paranoid` above 2.
    public init?() {
        var own = linux_switches()
        guard unsafe linux_open_switches(0, &own) == 0 else { return nil }
        self.own = own
    }

    deinit { linux_close_switches(own) }
}

/// Tells through a descriptor when a stopped process runs: the kernel reports a continuation to the parent alone.
///
/// A continued process gets a processor, even if it sleeps again at once. Without ``SwitchReports``, a timer sends a signal when the
/// process has used processor time, which the kernel counts only if the process runs while the clock ticks.
public final class ProcessorWatch {
    /// The signal of the timers, whose value is the number of the process. Any other process can send it as well.
    public static var signal: Int32 { __libc_current_sigrtmin() + 24 }

    private var switches: [linux_switches] = []
    /// By the numbers of the processes.
    private var timers: [ProcessID: Int] = [:]

    /// Watches each process for which the kernel has room.
    ///
    /// - Parameter reports: Nil for timers only.
    public init(of processes: Set<ProcessIdentity>, reports: SwitchReports?) {
        for process in processes {
            var opened = linux_switches()
            if reports != nil, unsafe linux_open_switches(process.pid, &opened) == 0 {
                switches.append(opened)
                continue
            }
            var timer = 0
            guard unsafe linux_watch_processor(process.pid, Self.signal, &timer) == 0 else { continue }
            timers[process.pid] = timer
        }
    }

    deinit {
        for each in switches { linux_close_switches(each) }
        for timer in timers.values { linux_end_processor_watch(timer) }
    }

    /// The descriptors, each of which is ready to be read, and stays so, when a process has run. They stay owned by this value.
    public var descriptors: [Int32] { switches.map { $0.descriptor } }

    /// A Boolean value that indicates whether a process may have run. Nothing tells for those with a timer.
    public var mayHaveRun: Bool { !timers.isEmpty || switches.contains { linux_has_switched($0) } }

    /// Returns whether a timer watches the process that has a number.
    public func hasTimer(for pid: ProcessID) -> Bool { timers[pid] != nil }
}
