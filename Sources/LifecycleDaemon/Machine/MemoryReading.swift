/// What the kernel says of memory at one instant: its pressure stall information, and what is left.
nonisolated struct MemoryReading: Hashable, Sendable {
    /// How long tasks have waited for memory.
    struct Stall: Hashable, Sendable {
        /// The percentage of the last ten seconds.
        var average10 = 0.0
        /// Since the machine started, or since the cgroup was made.
        var total = Duration.zero
    }

    /// CLOCK_MONOTONIC, in microseconds.
    var instant: UInt64

    /// While at least one task waited.
    var some = Stall()

    /// While all tasks that could have run waited.
    var full = Stall()

    /// `MemAvailable` of proc_meminfo(5) in bytes: what can be had without swapping. Nil where it cannot be read.
    var available: UInt64?

    /// `MemTotal` in bytes: what the machine has. Nil where it cannot be read.
    var total: UInt64?

    /// `SwapFree` in bytes. Nil where it cannot be read.
    var freeSwap: UInt64?
}

nonisolated extension MemoryReading {
    /// Reads a pressure file, as the kernel's document "PSI" describes it, and `/proc/meminfo`. Fields that are missing
    /// or that nobody understands are left as they are.
    init(instant: UInt64, pressure: String, meminfo: String?) {
        self.instant = instant
        for line in pressure.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let kind = fields.first, let stall = Stall(fields.dropFirst()) else { continue }
            if kind == "some" { some = stall }
            if kind == "full" { full = stall }
        }
        available = meminfo.flatMap { Self.bytes("MemAvailable:", in: $0) }
        total = meminfo.flatMap { Self.bytes("MemTotal:", in: $0) }
        freeSwap = meminfo.flatMap { Self.bytes("SwapFree:", in: $0) }
    }

    private static func bytes(_ name: String, in meminfo: String) -> UInt64? {
        guard let line = meminfo.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
        let words = line.split(separator: " ")
        guard words.count == 3, words[2] == "kB", let kibibytes = UInt64(words[1]) else { return nil }
        return kibibytes.multipliedReportingOverflow(by: 1024).partialValue
    }
}

nonisolated extension MemoryReading.Stall {
    fileprivate init?(_ fields: ArraySlice<Substring>) {
        var values: [Substring: Substring] = [:]
        for field in fields {
            let parts = field.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        guard let average = values["avg10"].flatMap({ Double($0) }), let total = values["total"].flatMap({ Int64($0) })
        else { return nil }
        self.init(average10: average, total: .microseconds(total))
    }
}
