import CLinux
import Systemd

/// Gives back the memory that the daemon itself has used for a short time: for the start, a configuration or many launches.
///
/// A start executes much code that nothing else does. Code that is unmapped costs the next request about a page fault for each
/// 64 kB that it executes, so it is kept after launches.
final class OwnMemory {
    /// The pause in which clients make their next requests, in microseconds.
    private static let pause: UInt64 = 100_000
    /// The number of launches whose leftovers in the heap are worth the call.
    private static let launchCount = 64

    private let loop: EventLoop
    private let timer: TimerSource
    private var launches = 0
    private var isScheduled = false
    private var releasesCode = false

    init(loop: EventLoop) throws(SystemdError) {
        self.loop = loop
        let owner = Owner<OwnMemory>()
        // After the work that waits for later rounds of the loop.
        let idle = try loop.deferred { owner.object?.release() }
        idle.setPriority(.idle)
        timer = try loop.timer { idle.schedule() }
        owner.object = self
    }

    /// Gives back the memory after a start, or after the configuration was read, when the loop has nothing else to do.
    func noteStart() {
        releasesCode = true
        schedule()
    }

    func noteLaunch() {
        launches += 1
        if launches >= Self.launchCount { schedule() }
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        timer.arm(atMicroseconds: loop.freshNow + Self.pause)
    }

    private func release() {
        linux_release_heap()
        if releasesCode { linux_release_code() }
        (isScheduled, releasesCode, launches) = (false, false, 0)
    }
}
