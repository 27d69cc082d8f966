import Glibc
import Processes
import Systemd

/// Why nobody can tell when memory is short.
nonisolated struct MemoryPressureUnavailable: Error, CustomStringConvertible {
    /// One sentence.
    let description: String
}

/// Tells when memory becomes short: triggers on the kernel's pressure stall information.
///
/// While nothing waits for memory the kernel does not wake anybody. A trigger fires at most once in its window, for as
/// long as the pressure lasts, so an event is also the occasion to look at `MemAvailable`: the kernel has no notice for
/// that. Memory that runs out is seen by its pressure first, because reclaiming is what tasks wait for, the kernel's
/// own reclaiming thread included; ``ReserveWatch`` is for memory that is filled faster. Without the triggers the daemon
/// says once that it cannot be told, and the kernel's own killer remains.
final class MemoryPressureSource {
    /// The machine's own pressure file.
    nonisolated static let machine = "/proc/pressure/memory"

    /// The pressure file that is watched: the machine's, or `memory.pressure` of a cgroup.
    let file: String

    /// Called when the file can be watched no more, with one sentence; nothing more will come.
    var onEnd: ((String) -> Void)?

    private let loop: EventLoop
    private let thresholds: MemoryThresholds
    private let handler: (MemoryPressure) -> Void
    private var triggers: [Trigger] = []
    private var last: MemoryReading
    private var criticalAt: UInt64?

    /// Begins to watch.
    ///
    /// - Parameter handler: Called with the pressure when a process waits for memory; its level may be none.
    /// - Throws: `MemoryPressureUnavailable` with the kernel's reason.
    init(
        loop: EventLoop, thresholds: MemoryThresholds = MemoryThresholds(), file: String = MemoryPressureSource.machine,
        handler: @escaping (MemoryPressure) -> Void
    ) throws(MemoryPressureUnavailable) {
        self.loop = loop
        self.thresholds = thresholds
        self.file = file
        self.handler = handler
        last = try Self.read(file, at: loop.freshNow)
        // The worse news first, when both come together.
        var stalls = [(MemoryPressure.Level.critical, thresholds.critical), (.warning, thresholds.warning)]
        if thresholds.reserve > 0 { stalls.append((.none, thresholds.notice)) }
        for (level, stall) in stalls {
            let trigger = try Trigger(loop: loop, file: file, stall: stall) { [weak self] isAlive in
                isAlive ? self?.fired(level) : self?.end()
            }
            trigger.source?.setPriority(level == .critical ? .important : .normal)
            triggers.append(trigger)
        }
    }

    /// How short memory is now, compared to `earlier`, or to what was last told or asked.
    ///
    /// Meant for a look after something was done about it. Sooner than `MemoryPressure.shortestLook` after the
    /// reading that it is compared to, it knows no more than what is available. Nil when the file cannot be read.
    func current(since earlier: MemoryReading? = nil) -> MemoryPressure? {
        guard let reading = try? Self.read(file, at: loop.freshNow) else { return nil }
        defer { last = reading }
        return MemoryPressure(since: earlier ?? last, reading: reading, thresholds: thresholds)
    }

    /// What is left of the memory now, whatever has waited; the next look is compared to the same reading as without this one.
    func left() -> MemoryPressure? {
        guard let reading = try? Self.read(file, at: loop.freshNow) else { return nil }
        return MemoryPressure(since: reading, reading: reading, thresholds: thresholds)
    }

    private func fired(_ level: MemoryPressure.Level) {
        // A lower level adds nothing to what was told in the same moment.
        if level < .critical, criticalAt == loop.now { return }
        guard var pressure = current() else { return end() }
        // The kernel's window is not the one between two looks; its word counts.
        pressure.level = pressure.level(toldOf: level, thresholds)
        if level == .critical || pressure.level == .critical { criticalAt = loop.now }
        handler(pressure)
    }

    private func end() {
        guard !triggers.isEmpty else { return }
        triggers = []
        onEnd?("\(file) tells of memory pressure no more")
    }

    private static func read(_ file: String, at instant: UInt64) throws(MemoryPressureUnavailable) -> MemoryReading {
        do throws(Processes.Errno) {
            let pressure = try SmallFile.read(file)
            return MemoryReading(instant: instant, pressure: pressure, meminfo: try? SmallFile.read("/proc/meminfo"))
        } catch {
            throw MemoryPressureUnavailable(error, file: file)
        }
    }
}

/// One trigger, which lasts as long as its descriptor.
@MainActor private final class Trigger {
    private(set) var source: IOSource?
    private let descriptor: Descriptor

    init(
        loop: EventLoop, file: String, stall: MemoryThresholds.Stall, handler: @escaping (_ isAlive: Bool) -> Void
    ) throws(MemoryPressureUnavailable) {
        do throws(Processes.Errno) {
            descriptor = try Self.open(file, stall)
        } catch {
            throw MemoryPressureUnavailable(error, file: file)
        }
        do throws(SystemdError) {
            source = try loop.watch(descriptor: descriptor.rawValue, events: .exceptional) { [weak self] ready in
                // The cgroup is gone, or its accounting was turned off. It would be reported again and again.
                let isAlive = ready.isDisjoint(with: [.error, .hangUp])
                if !isAlive { self?.source?.cancel() }
                handler(isAlive)
            }
        } catch {
            throw MemoryPressureUnavailable(description: error.description)
        }
    }

    isolated deinit {
        // Before the descriptor, whose number may be another's as soon as it is closed.
        source?.cancel()
    }

    private static func open(_ file: String, _ stall: MemoryThresholds.Stall) throws(Processes.Errno) -> Descriptor {
        let number = unsafe Glibc.open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw Processes.Errno(rawValue: errno) }
        let descriptor = Descriptor(owning: number)
        if write(stall.trigger, to: number) { return descriptor }
        // EINVAL, or EPERM before Linux 6.4, for a window that is kept for the privileged.
        guard errno == EINVAL || errno == EPERM, write(stall.forEverybody.trigger, to: number) else {
            throw Processes.Errno(rawValue: errno)
        }
        return descriptor
    }

    private static func write(_ trigger: String, to descriptor: Int32) -> Bool {
        let bytes = Array(trigger.utf8) + [0]
        return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }
}

nonisolated extension MemoryPressureUnavailable {
    fileprivate init(_ error: Processes.Errno, file: String) {
        let reason =
            switch error.rawValue {
            case ENOENT, EOPNOTSUPP: "this kernel has no pressure stall information (CONFIG_PSI, or psi=1 at boot)"
            case EPERM, EACCES: "this kernel lets only root watch it (before Linux 6.4)"
            case EINVAL: "the kernel does not take the configured thresholds"
            default: "\(error)"
            }
        self.init(description: "memory pressure cannot be told from \(file): \(reason)")
    }
}
