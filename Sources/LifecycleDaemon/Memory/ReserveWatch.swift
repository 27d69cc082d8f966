import LifecycleCore
import Systemd

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

    init(events: Events) throws(SystemdError) {
        loop = events.loop
        timer = try events.timer(.reserveCheckDue)
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

    /// Checks the available memory.
    ///
    /// - Parameter read: Reads the pressure; nil if it cannot be read.
    /// - Returns: A pressure of level critical; nil if there is none.
    func check(_ read: () -> MemoryPressure?) -> MemoryPressure? {
        isArmed = false
        guard hasThreshold, let pressure = read() else { return nil }
        let isCritical = pressure.level == .critical
        let pause =
            isCritical
            ? Self.pauseAfterShortage
            : Self.pause(pressure.reading, reserve: reserve, minimumAvailable: minimumAvailable)
        next = loop.now + pause
        armIfDue()
        return isCritical ? pressure : nil
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
