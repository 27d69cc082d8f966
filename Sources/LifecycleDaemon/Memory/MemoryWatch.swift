import Configuration
import LifecycleCore
import Processes
import Systemd

/// Tells the core how short memory is: when the machine reports pressure, and after an app was ended for it.
final class MemoryWatch {
    /// A check of the memory after an app was ended; nil for an app that is not known any more.
    private struct Check {
        let app: AppIndex?
    }

    private let loop: EventLoop
    private let log: any JournalSink
    private let processes: AppProcesses
    private let core: any InputHandler
    private var source: MemoryPressureSource?
    /// The thresholds of the settings.
    private var wanted: MemoryThresholds?
    /// The thresholds that are watched; nil if none are.
    private var thresholds: MemoryThresholds?
    private let reserve: ReserveWatch
    /// The memory of apps that are being ended for it, in bytes.
    private var memoryBefore: [AppIndex: Int] = [:]
    private let timer: TimerSource
    /// The check that the core waits for.
    private var pending: Check?
    private let retry: TimerSource
    /// The pause before another attempt to watch, in microseconds.
    var retryDelay: UInt64 = 5_000_000
    /// The path of the file of memory pressure; tests set another one.
    var file = MemoryPressureSource.machine

    /// The pause before memory is read again after an app has ended, in microseconds: long enough for pressure to show.
    private static let settlingTime: UInt64 = 200_000

    init(
        loop: EventLoop, log: any JournalSink, processes: AppProcesses, core: any InputHandler
    ) throws(SystemdError) {
        self.loop = loop
        self.log = log
        self.processes = processes
        self.core = core
        let owner = Owner<MemoryWatch>()
        timer = try loop.timer { owner.object?.check() }
        retry = try loop.timer { owner.object?.tryAgain() }
        reserve = try ReserveWatch(loop: loop) {
            owner.object?.source?.left()
        } handler: {
            owner.object?.report($0)
        }
        owner.object = self
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
            retry.arm(atMicroseconds: loop.freshNow + retryDelay)
        }
    }

    /// A Boolean value that indicates whether the kernel reports memory pressure to this watch.
    var isWatching: Bool { source != nil }

    private func watch(_ thresholds: MemoryThresholds) throws(DaemonError) {
        source = try MemoryPressureSource(loop: loop, thresholds: thresholds, file: file) { [weak self] in
            self?.handle($0)
        }
        self.thresholds = thresholds
    }

    private func tryAgain() {
        guard source == nil, let wanted else { return }
        do throws(DaemonError) {
            try watch(wanted)
            log.write(.info, "lifed watches memory pressure again")
        } catch {
            guard error.isTransient else { return reportUnavailable(error.description) }
            retry.arm(atMicroseconds: loop.freshNow + retryDelay)
        }
    }

    private func handle(_ event: MemoryPressureSource.Event) {
        switch event {
        case .pressure(let pressure):
            reserve.begin()
            report(pressure)
        case .ended(let reason):
            thresholds = nil
            reportUnavailable(reason)
        }
    }

    func expectUse() { reserve.begin() }

    private func report(_ pressure: MemoryPressure) {
        guard pressure.level != .normal else { return }
        core.handle(.memoryPressure(pressure.level, pressure.description))
    }

    private func reportUnavailable(_ reason: String) {
        log.write(.notice, "cannot watch memory pressure: \(reason); ending no apps for memory")
    }

    /// Measures the memory of an app that is about to be ended for it.
    func measure(_ app: AppIndex) { memoryBefore[app] = processes.tree(of: app)?.ownMemory }

    /// Reads how short memory is now that the app has ended, and tells the core.
    ///
    /// - Parameter app: The app; nil if it is not known any more.
    func assess(after app: AppIndex?, atOnce: Bool) {
        pending = Check(app: app)
        // The next reading is compared to this one.
        _ = source?.current()
        if atOnce { return check() }
        timer.arm(atMicroseconds: loop.freshNow + Self.settlingTime)
    }

    private func check() {
        guard let check = pending else { return }
        pending = nil
        let left = processes.tree(of: check.app)?.ownMemory ?? 0
        let freed = check.app.flatMap { memoryBefore.removeValue(forKey: $0) }.map { UInt64(max($0 - left, 0)) }
        let pressure = source?.current()
        let level = pressure?.level ?? .normal
        core.handle(.memoryChecked(level, pressure?.description ?? "", freed: freed))
    }
}

/// Reads the available memory while an app may be filling it: for ten seconds after each occasion.
///
/// On a machine without swap, an app can fill the memory before any process has waited long enough for the kernel to report
/// it. The pause between readings is the time in which the fastest app reaches a threshold. An idle machine is not woken.
final class ReserveWatch {
    /// The duration of an occasion, in microseconds.
    private nonisolated static let duration: UInt64 = 10_000_000
    /// The shortest pause between readings, in microseconds.
    nonisolated static let shortestPause: UInt64 = 50_000
    /// The pause after a shortage, in microseconds.
    private static let pauseAfterShortage: UInt64 = 500_000
    /// The most that an app fills, in bytes a microsecond.
    private nonisolated static let fillRate = 1024.0

    private let loop: EventLoop
    private let read: () -> MemoryPressure?
    private let handler: (MemoryPressure) -> Void
    private let timer: TimerSource
    private var end: UInt64 = 0
    /// No app can have reached a threshold before this instant.
    private var next: UInt64 = 0
    private var isArmed = false

    /// The reserved share of the machine's memory; 0 for none.
    var reserve = 0.0
    /// The least available memory in bytes; 0 for none.
    var minimumAvailable: UInt64 = 0
    private var hasThreshold: Bool { reserve > 0 || minimumAvailable > 0 }

    /// - Parameters:
    ///   - read: Reads the pressure; nil if it cannot be read.
    ///   - handler: Called with a pressure of level critical.
    init(
        loop: EventLoop, read: @escaping () -> MemoryPressure?, handler: @escaping (MemoryPressure) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.read = read
        self.handler = handler
        let owner = Owner<ReserveWatch>()
        timer = try loop.timer { owner.object?.check() }
        owner.object = self
    }

    func begin() {
        guard hasThreshold else { return }
        end = loop.now + Self.duration
        next = max(next, loop.now + Self.shortestPause)
        armIfDue()
    }

    private func armIfDue() {
        guard !isArmed, next < end else { return }
        isArmed = true
        timer.arm(atMicroseconds: next)
    }

    private func check() {
        isArmed = false
        guard hasThreshold, let pressure = read() else { return }
        var pause = Self.pauseAfterShortage
        if pressure.level == .critical {
            handler(pressure)
        } else {
            pause = Self.pause(pressure.reading, reserve: reserve, minimumAvailable: minimumAvailable)
        }
        next = loop.now + pause
        armIfDue()
    }

    /// Returns the time in which the fastest app reaches the nearer threshold, in microseconds.
    nonisolated static func pause(_ reading: MemoryReading, reserve: Double, minimumAvailable: UInt64) -> UInt64 {
        guard let available = reading.available, let total = reading.total else { return duration }
        var left = Double(available) + Double(reading.freeSwap ?? 0) - reserve * Double(total)
        // Memory that can be swapped out counts for the reserve alone.
        if minimumAvailable > 0 { left = min(left, Double(available) - Double(minimumAvailable)) }
        return max(UInt64(max(left, 0) / fillRate), shortestPause)
    }
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

/// Reclaims the memory of suspended apps in small steps, while the loop is idle.
final class MemoryTrimmer {
    private let log: LifecycleLog
    private let processes: AppProcesses
    private let core: any InputHandler
    private var waiting: [AppIndex: MemoryReclaim] = [:]
    private let idle: LaterSource
    private var hasReported = false

    init(
        loop: EventLoop, log: LifecycleLog, processes: AppProcesses, core: any InputHandler
    ) throws(SystemdError) {
        self.log = log
        self.processes = processes
        self.core = core
        let owner = Owner<MemoryTrimmer>()
        idle = try loop.later { owner.object?.step() }
        idle.setPriority(.idle)
        owner.object = self
    }

    func begin(_ app: AppIndex) {
        guard let tree = processes.tree(of: app) else { return }
        do throws(FeatureUnavailable) {
            waiting[app] = try MemoryReclaim(tree)
            idle.schedule()
        } catch {
            guard !hasReported else { return }
            hasReported = true
            log.sink.write(.notice, "cannot reclaim the memory of suspended apps: \(error); leaving it to them")
        }
    }

    /// Ends with an app that is resumed or ends. The rest of its memory stays.
    func end(_ app: AppIndex) {
        if !waiting.isEmpty { waiting[app] = nil }
    }

    private func step() {
        guard let app = waiting.keys.min(by: { $0.value < $1.value }), var work = waiting.removeValue(forKey: app)
        else { return }
        switch work.step() {
        case .more: waiting[app] = work
        case .done(let outcome): log.write(outcome, by: work.method, of: core.id(of: app))
        }
        if !waiting.isEmpty { idle.schedule() }
    }
}
