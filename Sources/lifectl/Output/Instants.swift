import Glibc

/// Instants and durations, in microseconds, as text.
enum Instants {
    /// The instants up to the end of the year 9999. Differences and sums with other ones overflow.
    static let range: ClosedRange<Int64> = 0...253_402_300_799_999_999

    /// The time since the epoch.
    static var now: Int64 { clock(CLOCK_REALTIME) }

    /// The time of the monotonic clock.
    static var monotonic: Int64 { clock(CLOCK_MONOTONIC) }

    private static func clock(_ id: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(id, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Returns the local time of day with milliseconds: `12:04:05.678`.
    static func timeOfDay(_ microseconds: Int64) -> String {
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000 / 1000
        return "\(clock(microseconds)).\(padded(fraction, 3))"
    }

    /// Returns the local time of day: `12:04:05`.
    static func clock(_ microseconds: Int64) -> String { format(microseconds, "%H:%M:%S") }

    /// Returns an instant on a scale of some length: the time of day, the day, or both.
    static func label(_ microseconds: Int64, scale length: Int64) -> String {
        let day: Int64 = 86_400_000_000
        return switch length {
        case ...day: clock(microseconds)
        case ...(30 * day): format(microseconds, "%m-%d %H:%M")
        default: self.day(microseconds)
        }
    }

    static func day(_ microseconds: Int64) -> String { format(microseconds, "%Y-%m-%d") }

    static func date(_ microseconds: Int64) -> String { format(microseconds, "%a %Y-%m-%d %H:%M:%S") }

    static func dateAndAge(_ microseconds: Int64, now: Int64) -> String {
        "\(format(microseconds, "%Y-%m-%d %H:%M:%S")) (\(age(now &- microseconds)) ago)"
    }

    /// Returns a duration in its two largest units: `3 d 4 h`, `5 min 6 s`, `7.8 s`.
    static func age(_ microseconds: Int64) -> String {
        let seconds = max(0, microseconds) / 1_000_000
        switch seconds {
        case ..<60: return "\(seconds).\(max(0, microseconds) % 1_000_000 / 100_000) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86400: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(seconds / 86400) d \(seconds % 86400 / 3600) h"
        }
    }

    /// Returns processor time with hundredths, as top(1) does: `0:07.35`.
    static func processorTime(_ microseconds: Int64) -> String {
        let seconds = max(0, microseconds) / 1_000_000
        let hundredths = max(0, microseconds) % 1_000_000 / 10_000
        return "\(seconds / 60):\(padded(seconds % 60, 2)).\(padded(hundredths, 2))"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        Text.leading(String(number), width: width, with: "0")
    }

    private static func format(_ microseconds: Int64, _ pattern: String) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "?" }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = unsafe buffer.withMemoryRebound(to: CChar.self) {
                guard let base = $0.baseAddress else { return 0 }
                return unsafe strftime(base, $0.count, pattern, &parts)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
