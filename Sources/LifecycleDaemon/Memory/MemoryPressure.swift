import LifecycleCore

/// The shortage of memory between two readings.
nonisolated struct MemoryPressure: Hashable, Sendable {
    var level: MemoryLevel
    var reading: MemoryReading
    /// The waiting of tasks since the earlier reading, and the time since then.
    var some = Duration.zero
    var full = Duration.zero
    var elapsed = Duration.zero

    /// The shortest period in which waiting counts. Below it only the available memory does.
    static let shortestPeriod = Duration.milliseconds(100)

    init(since earlier: MemoryReading, reading: MemoryReading, thresholds: MemoryThresholds) {
        self.reading = reading
        // The counters of a cgroup that was made anew begin at zero.
        some = max(reading.some.total - earlier.some.total, .zero)
        full = max(reading.full.total - earlier.full.total, .zero)
        elapsed = .microseconds(reading.instant - min(earlier.instant, reading.instant))
        level = .normal
        if isReached(thresholds.warning) { level = .warning }
        if isReached(thresholds.critical) { level = hasPlenty(thresholds) ? .warning : .critical }
        if isBelowFloor(thresholds) || isBelowReserve(thresholds) { level = .critical }
    }

    /// Returns the level after the kernel has reported the waiting of a level.
    func level(toldOf told: MemoryLevel, _ thresholds: MemoryThresholds) -> MemoryLevel {
        if isBelowFloor(thresholds) || isBelowReserve(thresholds) { return .critical }
        return told == .critical && hasPlenty(thresholds) ? .warning : told
    }

    private func isReached(_ stall: MemoryThresholds.Stall) -> Bool {
        guard elapsed >= Self.shortestPeriod else { return false }
        return stall.isReached(by: stall.kind == .some ? some : full, in: elapsed)
    }

    private func hasPlenty(_ thresholds: MemoryThresholds) -> Bool {
        guard let share = thresholds.plenty, let available = reading.available, let total = reading.total else {
            return false
        }
        return Double(available) > share * Double(total)
    }

    private func isBelowFloor(_ thresholds: MemoryThresholds) -> Bool {
        reading.available.map { $0 < thresholds.minimumAvailable } ?? false
    }

    private func isBelowReserve(_ thresholds: MemoryThresholds) -> Bool {
        guard let available = reading.available, let total = reading.total else { return false }
        return Double(available) + Double(reading.freeSwap ?? 0) < thresholds.reserve * Double(total)
    }
}

nonisolated extension MemoryPressure {
    /// The level and the numbers of the reading, for the core.
    var shortage: MemoryShortage {
        MemoryShortage(
            level, someWaited: reading.some.average10, allWaited: reading.full.average10, available: reading.available)
    }
}

/// The kernel's pressure stall information and the available memory at one instant.
nonisolated struct MemoryReading: Hashable, Sendable {
    /// The waiting of tasks for memory.
    struct Stall: Hashable, Sendable {
        /// The share of the last ten seconds, in hundredths of a percent.
        var average10: UInt64 = 0
        /// The total since the machine was booted, or since the cgroup was made.
        var total = Duration.zero
    }

    /// CLOCK_MONOTONIC, in microseconds.
    var instant: UInt64
    /// The time in which at least one task waited.
    var some = Stall()
    /// The time in which all tasks waited that could have run.
    var full = Stall()
    /// `MemAvailable` of proc_meminfo(5), in bytes: the memory to be had without swapping. Nil if it cannot be read.
    var available: UInt64?
    /// `MemTotal`, in bytes; nil if it cannot be read.
    var total: UInt64?
    /// `SwapFree`, in bytes; nil if it cannot be read.
    var freeSwap: UInt64?
}

nonisolated extension MemoryReading {
    /// Reads a pressure file, as the kernel's document "PSI" describes it, and `/proc/meminfo`. Ignores missing and unknown
    /// fields.
    init(instant: UInt64, pressure: String, meminfo: String?) {
        self.instant = instant
        for line in pressure.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard let kind = fields.first, let stall = Stall(fields.dropFirst()) else { continue }
            if kind.elementsEqual("some".utf8) { some = stall }
            if kind.elementsEqual("full".utf8) { full = stall }
        }
        for line in (meminfo ?? "").split(separator: "\n") {
            // For example "MemTotal:       24683520 kB".
            let words = line.split(separator: " ")
            guard words.count == 3, words[2] == "kB", let kibibytes = UInt64(words[1]) else { continue }
            switch words[0] {
            case "MemAvailable:": available = kibibytes &* 1024
            case "MemTotal:": total = kibibytes &* 1024
            case "SwapFree:": freeSwap = kibibytes &* 1024
            default: break
            }
        }
    }
}

nonisolated extension MemoryReading.Stall {
    fileprivate init?(_ fields: ArraySlice<Substring.UTF8View>) {
        func value(of name: String) -> Substring? {
            fields.last { $0.starts(with: name.utf8) }.map { Substring($0.dropFirst(name.utf8.count)) }
        }
        guard let average = value(of: "avg10=").flatMap({ Double($0) }), (0...100).contains(average),
            let total = value(of: "total=").flatMap({ Int64($0) })
        else { return nil }
        self.init(average10: UInt64((average * 100).rounded()), total: .microseconds(total))
    }
}

/// The thresholds of memory pressure.
nonisolated struct MemoryThresholds: Hashable, Sendable {
    /// An amount of waiting within an interval: a trigger of the kernel.
    struct Stall: Hashable, Sendable {
        enum Kind: String, Sendable {
            /// The time in which at least one task waited.
            case some
            /// The time in which all tasks waited, and no work was done.
            case full
        }

        var kind: Kind
        var stall: Duration
        /// Half a second to ten seconds; for an unprivileged process a multiple of two seconds.
        var interval: Duration
    }

    /// Apps are warned.
    var warning = Stall(kind: .some, stall: .milliseconds(150), interval: .seconds(1))
    /// Apps are ended.
    var critical = Stall(kind: .full, stall: .milliseconds(100), interval: .seconds(1))
    /// `MemAvailable` in bytes below which memory is short without pressure; zero for none.
    var minimumAvailable: UInt64 = 64 << 20
    /// The share of `MemTotal` in `MemAvailable` and `SwapFree` below which memory is short without pressure; zero for none.
    var reserve = 0.0
    /// The waiting after which ``reserve`` and ``minimumAvailable`` are checked. On a machine without swap the kernel kills an app that fills the
    /// memory before the waiting is enough for a warning.
    var notice = Stall(kind: .some, stall: .milliseconds(5), interval: .milliseconds(500))
    /// The share of `MemTotal` in `MemAvailable` above which no waiting is critical; nil for none. A virtual machine that
    /// stood still has such waiting, and a cgroup at a limit of its own; ending an app would not help.
    var plenty: Double?
}

nonisolated extension MemoryThresholds.Stall {
    /// The text to write to a pressure file.
    var trigger: String { "\(kind.rawValue) \(stall.microseconds) \(interval.microseconds)" }

    /// The same share of an interval that the kernel accepts from a process without CAP_SYS_RESOURCE (Linux 6.4): a multiple
    /// of two seconds. It reports the same pressure that much later.
    var forEverybody: Self {
        let step: Int64 = 2_000_000
        let length = max(interval.microseconds, 1)
        let rounded = min(max((length + step - 1) / step, 1), 5) * step
        let (scaled, overflow) = stall.microseconds.multipliedReportingOverflow(by: rounded)
        let share = overflow ? rounded : min(scaled / length, rounded)
        return Self(kind: kind, stall: .microseconds(max(share, 1)), interval: .microseconds(rounded))
    }

    func isReached(by stalled: Duration, in elapsed: Duration) -> Bool {
        stalled > .zero && stalled / elapsed >= stall / interval
    }
}

nonisolated extension Duration {
    /// Whole microseconds, clamped.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : scaled + attoseconds / 1_000_000_000_000
    }
}
