/// When memory is short.
nonisolated struct MemoryThresholds: Hashable, Sendable {
    /// An amount of waiting within a window of time: what the kernel calls a trigger.
    struct Stall: Hashable, Sendable {
        /// Whose waiting counts.
        enum Kind: String, Sendable {
            /// The time in which at least one task waited.
            case some
            /// The time in which all tasks waited, and no work was done.
            case full
        }

        var kind: Kind
        /// The waiting that is too much.
        var stall: Duration
        /// The kernel takes half a second to ten seconds; multiples of two seconds from everybody.
        var window: Duration
    }

    /// The apps should give up what they can do without.
    var warning = Stall(kind: .some, stall: .milliseconds(150), window: .seconds(1))

    /// Apps have to go.
    var critical = Stall(kind: .full, stall: .milliseconds(100), window: .seconds(1))

    /// `MemAvailable` in bytes below which any pressure is critical. Zero for no floor.
    var floor: UInt64 = 64 << 20

    /// The share of `MemTotal` in `MemAvailable` and `SwapFree` below which memory is short, whatever waits. Zero for none.
    var reserve = 0.0

    /// The least waiting that is an occasion to look at ``reserve``: an app that fills the memory of a machine without swap is
    /// killed by the kernel before the waiting is enough for a warning.
    var notice = Stall(kind: .some, stall: .milliseconds(5), window: .milliseconds(500))

    /// The share of `MemTotal` in `MemAvailable` above which no waiting is critical, because no app that goes would end it: a
    /// virtual machine that stood still looks like that, and a control group at a limit of its own. Nil for any.
    var plenty: Double?
}

nonisolated extension MemoryThresholds.Stall {
    /// What is written to a pressure file.
    var trigger: String { "\(kind.rawValue) \(stall.microseconds) \(window.microseconds)" }

    /// The same share of a window that the kernel takes from a process without CAP_SYS_RESOURCE (Linux 6.4): one of a
    /// whole number of two seconds. It notices the same pressure up to that much later.
    var forEverybody: Self {
        let step: Int64 = 2_000_000
        let length = max(window.microseconds, 1)
        let rounded = min(max((length + step - 1) / step, 1), 5) * step
        let (scaled, overflow) = stall.microseconds.multipliedReportingOverflow(by: rounded)
        let share = overflow ? rounded : min(scaled / length, rounded)
        return Self(kind: kind, stall: .microseconds(max(share, 1)), window: .microseconds(rounded))
    }

    /// Whether that much waiting in that much time is too much.
    func isReached(by stalled: Duration, in elapsed: Duration) -> Bool {
        stalled > .zero && stalled / elapsed >= stall / window
    }
}

nonisolated extension Duration {
    /// Whole microseconds, as many as fit.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : scaled + attoseconds / 1_000_000_000_000
    }
}
