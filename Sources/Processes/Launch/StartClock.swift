import Synchronization

/// The start time of a new child, by the clock, which takes less time than to open a file of the child.
///
/// A child starts between two readings of the clock, mostly in one tick of 10 ms. Programs that stand in for the kernel may count
/// otherwise, so the clock counts when it has agreed with /proc once.
enum StartClock {
    private static let hasAgreed = Atomic<Bool>(false)

    /// Returns the start time of a child; nil if it cannot be read.
    ///
    /// - Parameters:
    ///   - pid: The number of a child that has not been reaped.
    ///   - tick: The tick in which it was started; nil if that may be one of two.
    static func startTime(of pid: ProcessID, tick: UInt64?) -> UInt64? {
        if let tick, hasAgreed.load(ordering: .relaxed) { return tick }
        let start = ProcessStatus(of: pid)?.startTime
        if let tick, start == tick { hasAgreed.store(true, ordering: .relaxed) }
        return start
    }
}
