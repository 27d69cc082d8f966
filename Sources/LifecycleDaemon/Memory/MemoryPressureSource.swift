import Glibc
import LifecycleCore
import Processes
import Systemd

/// Reports when memory becomes short: triggers on the kernel's pressure stall information.
///
/// A trigger fires at most once in its interval while the pressure lasts. Each event also reads `MemAvailable`:
/// the kernel sends no events for that. ``ReserveWatch`` finds memory that is filled faster than pressure shows.
final class MemoryPressureSource {
    enum Event {
        /// Some process waits for memory. The level may be none.
        case pressure(MemoryPressure)
        /// The file can be watched no more, for this reason. Nothing follows.
        case ended(String)
    }

    /// The machine's pressure file.
    nonisolated static let machine = "/proc/pressure/memory"

    private let file: String
    private let loop: EventLoop
    private let thresholds: MemoryThresholds
    private var triggers: [Trigger] = []
    private(set) var last: MemoryReading
    private var criticalAt: UInt64?

    /// Begins to watch.
    ///
    /// - Parameter file: The machine's pressure file, or `memory.pressure` of a cgroup.
    /// - Throws: A ``DaemonError`` with the kernel's reason.
    init(
        events: Events, thresholds: MemoryThresholds = MemoryThresholds(), file: String = MemoryPressureSource.machine
    ) throws(DaemonError) {
        loop = events.loop
        self.thresholds = thresholds
        self.file = file
        last = try Self.read(file, at: loop.freshNow)
        // The most critical first, if several fire together.
        var stalls = [(MemoryLevel.critical, thresholds.critical), (.warning, thresholds.warning)]
        if thresholds.reserve > 0 || thresholds.minimumAvailable > 0 { stalls.append((.normal, thresholds.notice)) }
        for (level, stall) in stalls {
            let trigger = try Trigger(events: events, file: file, stall: stall, level: level)
            trigger.source.setPriority(level == .critical ? .important : .normal)
            triggers.append(trigger)
        }
    }

    /// Returns how short memory is now, compared to an earlier reading or to the last; nil if the file cannot be read.
    ///
    /// Sooner than ``MemoryPressure/shortestPeriod`` after the earlier reading, only the available memory counts.
    func current(since earlier: MemoryReading? = nil) -> MemoryPressure? {
        guard let reading = try? Self.read(file, at: loop.freshNow) else { return nil }
        defer { last = reading }
        return MemoryPressure(since: earlier ?? last, reading: reading, thresholds: thresholds)
    }

    /// Returns the available memory alone. The next reading is compared to the same as without this one.
    func left() -> MemoryPressure? {
        let instant = loop.freshNow
        guard let text = try? SmallFile.read("/proc/meminfo") else { return nil }
        let memory = MemoryReading(instant: instant, pressure: "", meminfo: text)
        let pressure = MemoryPressure(since: memory, reading: memory, thresholds: thresholds)
        // The waiting is read for the words of a report.
        guard pressure.level == .critical, let reading = try? Self.read(file, at: instant) else { return pressure }
        return MemoryPressure(since: reading, reading: reading, thresholds: thresholds)
    }

    /// Returns what a report of the kernel means; nil for nothing new.
    func event(_ level: MemoryLevel, _ ready: IOEvents) -> Event? {
        guard ready.isDisjoint(with: [.error, .hangUp]) else {
            // The cgroup is gone, or its accounting is off. The kernel would report that again and again.
            triggers = []
            return .ended("\(file) reports no more")
        }
        // A lower level adds nothing to an event of the same moment.
        if level != .critical, criticalAt == loop.now { return nil }
        // For want of a descriptor or of memory, the file cannot be read when it matters most: the report counts alone.
        let unread = MemoryReading(instant: loop.freshNow)
        var pressure = current() ?? MemoryPressure(since: unread, reading: unread, thresholds: thresholds)
        // The interval of the kernel is not the time between two readings; its level counts.
        pressure.level = pressure.level(toldOf: level, thresholds)
        if level == .critical || pressure.level == .critical { criticalAt = loop.now }
        return .pressure(pressure)
    }

    private static func read(_ file: String, at instant: UInt64) throws(DaemonError) -> MemoryReading {
        do throws(Errno) {
            let pressure = try SmallFile.read(file)
            return MemoryReading(instant: instant, pressure: pressure, meminfo: try? SmallFile.read("/proc/meminfo"))
        } catch {
            throw DaemonError(pressureFile: file, error)
        }
    }
}

/// A trigger, which lasts as long as its descriptor.
@MainActor private final class Trigger {
    let source: IOSource
    private let descriptor: Descriptor

    init(
        events: Events, file: String, stall: MemoryThresholds.Stall, level: MemoryLevel
    ) throws(DaemonError) {
        do throws(Errno) {
            descriptor = try Self.open(file, stall)
        } catch {
            throw DaemonError(pressureFile: file, error)
        }
        do throws(SystemdError) {
            source = try events.watch(descriptor.rawValue, for: .exceptional) { .memoryPressure(level, $0) }
        } catch {
            throw DaemonError(.memoryPressure, error.description)
        }
    }

    isolated deinit {
        // Before the descriptor, whose number may be reused as soon as it is closed.
        source.cancel()
    }

    private static func open(_ file: String, _ stall: MemoryThresholds.Stall) throws(Errno) -> Descriptor {
        let number = unsafe Glibc.open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw Errno(rawValue: errno) }
        let descriptor = Descriptor(owning: number)
        if write(stall.trigger, to: number) { return descriptor }
        // EINVAL, or EPERM before Linux 6.4, for an interval that is reserved for the privileged.
        guard errno == EINVAL || errno == EPERM, write(stall.forEverybody.trigger, to: number) else {
            throw Errno(rawValue: errno)
        }
        return descriptor
    }

    private static func write(_ trigger: String, to descriptor: Int32) -> Bool {
        let bytes = Array(trigger.utf8) + [0]
        return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }
}

nonisolated extension DaemonError {
    fileprivate init(pressureFile file: String, _ error: Errno) {
        let reason: String? =
            switch error.rawValue {
            case ENOENT, EOPNOTSUPP: "this kernel has no pressure stall information (CONFIG_PSI, or psi=1 at boot)"
            case EPERM, EACCES: "this kernel lets only root watch it (before Linux 6.4)"
            case EINVAL: "the kernel refuses the configured thresholds"
            default: nil
            }
        if let reason {
            self.init(.memoryPressure, "\(file): \(reason)")
        } else {
            self.init(.memoryPressure, file, errno: error)
        }
    }
}

/// A file of the kernel, which is short and made anew for each reader.
enum SmallFile {
    static func read(_ path: String) throws(Errno) -> String {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Errno(rawValue: errno) }
        let file = Descriptor(owning: number)
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while content.count < 8192 {
            let count = unsafe Glibc.read(file.rawValue, &chunk, chunk.count)
            guard count >= 0 else { throw Errno(rawValue: errno) }
            if count == 0 { break }
            content += chunk.prefix(count)
        }
        return String(decoding: content, as: UTF8.self)
    }
}
