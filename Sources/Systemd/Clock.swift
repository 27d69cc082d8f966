import Glibc

/// CLOCK_MONOTONIC at this very moment, in microseconds: the clock that the loop, its timers and the service manager
/// share.
func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    // Fails only for a clock that does not exist.
    guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
}
