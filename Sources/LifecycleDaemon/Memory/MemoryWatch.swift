import Configuration
import LifecycleCore
import Processes
import Systemd

/// Tells the core how short memory is: when the machine says so, and when the core has done something about it.
final class MemoryWatch {
    private let loop: EventLoop
    private let log: Log
    private let processes: AppProcesses
    private let give: (Input) -> Void
    private var source: MemoryPressureSource?
    private var thresholds: MemoryThresholds?
    private var reserve: ReserveWatch?
    /// What the apps held that are being ended for it.
    private var held: [AppID: Int] = [:]
    private var timer: TimerSource?
    private var awaited: AppID?

    /// How long the machine is given to feel that an app is gone, in microseconds: long enough for waiting to show.
    private static let settlingTime: UInt64 = 200_000

    init(
        loop: EventLoop, log: Log, processes: AppProcesses, give: @escaping (Input) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.log = log
        self.processes = processes
        self.give = give
        timer = try loop.timer { [weak self] in self?.lookNow() }
        reserve = try ReserveWatch(loop: loop) { [weak self] in
            self?.source?.left()
        } handler: { [weak self] in
            self?.tell($0)
        }
    }

    /// Watches the machine with these thresholds. What cannot be watched is said once.
    func use(_ settings: Configuration.Settings.Memory) {
        let wanted = MemoryThresholds(settings)
        guard wanted != thresholds else { return }
        thresholds = wanted
        reserve?.reserve = wanted.reserve
        source = nil
        do throws(MemoryPressureUnavailable) {
            source = try MemoryPressureSource(loop: loop, thresholds: wanted) { [weak self] in
                self?.reserve?.begin()
                self?.tell($0)
            }
            source?.onEnd = { [weak self] in self?.report($0) }
        } catch {
            report(error.description)
        }
    }

    /// An app runs that may need memory.
    func expectUse() { reserve?.begin() }

    private func tell(_ pressure: MemoryPressure) {
        guard pressure.level > .none else { return }
        give(.memoryPressure(MemoryLevel(pressure.level), pressure.description))
    }

    private func report(_ why: String) {
        log.write(LogEntry(priority: .notice, message: "apps are not ended when memory is short: \(why)"))
    }

    /// Takes note of what an app holds.
    func measure(_ id: AppID) { held[id] = processes.tree(of: id)?.ownMemory }

    /// Tells the core how short memory is now that the app is gone.
    func look(after id: AppID, atOnce: Bool) {
        awaited = id
        // What is waited for is counted from here on.
        _ = source?.current()
        if atOnce { return lookNow() }
        timer?.arm(atMicroseconds: loop.freshNow + Self.settlingTime)
    }

    private func lookNow() {
        guard let id = awaited else { return }
        awaited = nil
        let left = processes.tree(of: id)?.ownMemory ?? 0
        let freed = held.removeValue(forKey: id).map { UInt64(max($0 - left, 0)) }
        let pressure = source?.current()
        let level = pressure.map { MemoryLevel($0.level) } ?? .normal
        give(.memoryLookedAt(level, pressure?.description ?? "", freed: freed))
    }
}

extension MemoryLevel {
    init(_ level: MemoryPressure.Level) {
        self =
            switch level {
            case .none: .normal
            case .warning: .warning
            case .critical: .critical
            }
    }
}

nonisolated extension MemoryThresholds {
    /// Apps are warned for what some processes wait, and have to go when all of them do, unless half of the machine's memory is
    /// to be had.
    init(_ settings: Configuration.Settings.Memory) {
        func stall(_ kind: Stall.Kind, percent: Int) -> Stall {
            Stall(kind: kind, stall: settings.window * percent / 100, window: settings.window)
        }
        warning = stall(.some, percent: settings.warning)
        critical = stall(.full, percent: settings.critical)
        floor = UInt64(clamping: settings.floor)
        reserve = Double(settings.reserve) / 100
        plenty = 0.5
    }
}
