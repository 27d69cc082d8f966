import Systemd

/// Looks at what memory is left while an app may be filling it: for ten seconds after each occasion.
///
/// On a machine without swap, an app can fill the memory before any process has waited long enough for the kernel to tell of
/// it. The time between two looks is what the fastest app needs to get to the reserve. An idle machine is not woken.
final class ReserveWatch {
    /// How long an occasion counts, in microseconds.
    private nonisolated static let duration: UInt64 = 10_000_000
    /// The shortest time between two looks, in microseconds.
    nonisolated static let shortestPause: UInt64 = 50_000
    /// The time before a look after memory was found to be short, in microseconds.
    private static let pauseAfterShortage: UInt64 = 500_000
    /// The memory that an app fills in a microsecond at most, in bytes.
    private nonisolated static let fillRate = 1024.0

    private let loop: EventLoop
    private let look: () -> MemoryPressure?
    private let handler: (MemoryPressure) -> Void
    private var timer: TimerSource?
    /// When the latest occasion no longer counts.
    private var end: UInt64 = 0
    /// Before this instant no app can have got to the reserve.
    private var next: UInt64 = 0
    private var isArmed = false

    /// The share of the machine's memory that is kept; 0 for none.
    var reserve = 0.0

    /// - Parameters:
    ///   - look: Reads how short memory is; nil if it cannot be read.
    ///   - handler: Called with a pressure of level critical.
    init(
        loop: EventLoop, look: @escaping () -> MemoryPressure?, handler: @escaping (MemoryPressure) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.look = look
        self.handler = handler
        timer = try loop.timer { [weak self] in self?.lookNow() }
    }

    /// Begins to look, or goes on for longer.
    func begin() {
        guard reserve > 0 else { return }
        end = loop.now + Self.duration
        next = max(next, loop.now + Self.shortestPause)
        armIfDue()
    }

    private func armIfDue() {
        guard !isArmed, next < end else { return }
        isArmed = true
        timer?.arm(atMicroseconds: next)
    }

    private func lookNow() {
        isArmed = false
        guard reserve > 0, let pressure = look() else { return }
        var pause = Self.pauseAfterShortage
        if pressure.level == .critical { handler(pressure) } else { pause = Self.pause(pressure.reading, reserve) }
        next = loop.now + pause
        armIfDue()
    }

    /// Returns the time in which the fastest app gets to the reserve, in microseconds.
    nonisolated static func pause(_ reading: MemoryReading, _ reserve: Double) -> UInt64 {
        guard let available = reading.available, let total = reading.total else { return duration }
        let left = Double(available) + Double(reading.freeSwap ?? 0) - reserve * Double(total)
        return max(UInt64(max(left, 0) / fillRate), shortestPause)
    }
}
