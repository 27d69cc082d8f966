import Configuration
import LifecycleCore
import Systemd

/// Tells the core how short memory is, when the machine reports pressure and when the core asks.
final class MemoryWatch {
    private let log: any JournalSink
    private let core: CoreDriver
    private var source: MemoryPressureSource?
    /// The reading that the next one is compared to. A report of the kernel in between must not count as that.
    private var marked: MemoryReading?
    /// The thresholds of the settings.
    private var wanted: MemoryThresholds?
    /// The thresholds that are watched; nil if none are.
    private var thresholds: MemoryThresholds?
    private let reserve: ReserveWatch
    private let retry: TimerSource
    /// The pause before another attempt to watch, in microseconds.
    var retryDelay: UInt64 = 5_000_000
    /// The path of the file of memory pressure; tests set another one.
    var file = MemoryPressureSource.machine

    init(core: CoreDriver, log: any JournalSink) throws(SystemdError) {
        self.core = core
        self.log = log
        retry = try core.events.timer(.memoryRetryDue)
        reserve = try ReserveWatch(events: core.events)
    }

    func apply(_ settings: DaemonSettings.Memory) {
        let wanted = MemoryThresholds(settings)
        guard wanted != thresholds else { return }
        let isChange = self.wanted != nil
        self.wanted = wanted
        thresholds = nil
        reserve.reserve = wanted.reserve
        reserve.minimumAvailable = wanted.minimumAvailable
        source = nil
        // The memory may be below a new threshold already.
        if isChange { reserve.begin() }
        do throws(DaemonError) {
            try watch(wanted)
        } catch {
            guard error.isTransient else { return reportUnavailable(error.description) }
            log.write(
                .warning, "cannot watch memory pressure: \(error); trying again, ending no apps for memory until then")
            retry.arm(afterMicroseconds: retryDelay)
        }
    }

    /// True while the kernel reports memory pressure.
    var isWatching: Bool { source != nil }

    private func watch(_ thresholds: MemoryThresholds) throws(DaemonError) {
        source = try MemoryPressureSource(events: core.events, thresholds: thresholds, file: file)
        self.thresholds = thresholds
    }

    func tryAgain() {
        guard source == nil, let wanted else { return }
        do throws(DaemonError) {
            try watch(wanted)
            log.write(.info, "lifed watches memory pressure again")
        } catch {
            guard error.isTransient else { return reportUnavailable(error.description) }
            retry.arm(afterMicroseconds: retryDelay)
        }
    }

    /// Handles a report of the kernel.
    func handle(_ level: MemoryLevel, _ ready: IOEvents) {
        switch source?.event(level, ready) {
        case nil: break
        case .pressure(let pressure):
            reserve.begin()
            report(pressure)
        case .ended(let reason):
            thresholds = nil
            reportUnavailable(reason)
        }
    }

    func expectUse() { reserve.begin() }

    func checkReserve() {
        if let pressure = reserve.check({ source?.left() }) { report(pressure) }
    }

    private func report(_ pressure: MemoryPressure) {
        if pressure.level != .normal { core.append(.memory(pressure.shortage)) }
    }

    private func reportUnavailable(_ reason: String) {
        log.write(.notice, "cannot watch memory pressure: \(reason); ending no apps for memory")
    }

    /// Lets the next reading be about the waiting from now on.
    func mark() {
        _ = source?.current()
        marked = source?.last
    }

    /// Tells the core how short memory is now; not short, if that cannot be read.
    func read() { core.append(.memory(source?.current(since: marked)?.shortage ?? MemoryShortage(.normal))) }
}

nonisolated extension MemoryThresholds {
    /// Apps are warned when some processes wait, and must go when all wait, unless half of the machine's memory is available.
    init(_ settings: DaemonSettings.Memory) {
        func stall(_ kind: Stall.Kind, percent: Int) -> Stall {
            Stall(kind: kind, stall: settings.window * percent / 100, interval: settings.window)
        }
        warning = stall(.some, percent: settings.warning)
        critical = stall(.full, percent: settings.critical)
        minimumAvailable = UInt64(clamping: settings.minimumAvailable)
        reserve = Double(settings.reserve) / 100
        plenty = 0.5
    }
}
