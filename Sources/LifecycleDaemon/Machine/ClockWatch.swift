import Glibc
import Processes
import Systemd

/// Tells of significant time changes: the clock was set, the time zone changed, a new day began.
///
/// One timer waits for the next local midnight and is cancelled by the kernel when the clock is set. The kernel cancels
/// it too when the machine wakes from sleep; that alone is no event, but a midnight that was slept through is.
@MainActor final class ClockWatch {
    enum Change: Sendable {
        /// The wall clock jumped. Slewing, by which NTP corrects small errors, is no jump.
        case clockSet
        /// The local time zone is another.
        case timeZone
        /// A new day has begun in the local time zone.
        case midnight
    }

    /// Why changes of the time zone cannot be told, if so: one sentence.
    private(set) var problem: String?

    private let timer: WallClockTimer
    private let smallestStep: Duration
    private let handler: (Change) -> Void
    private var source: IOSource?
    private var zone: TimeZoneWatch?
    private var ahead = Duration.zero
    private var midnight: Int64 = 0

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - smallestStep: Below this a jump of the clock is nothing that anybody would see.
    ///   - zoneFile: The link that names the time zone.
    /// - Throws: An error with one sentence when the clock cannot be watched.
    init(
        loop: EventLoop, smallestStep: Duration = .milliseconds(500), zoneFile: String = "/etc/localtime",
        handler: @escaping (Change) -> Void
    ) throws {
        self.smallestStep = smallestStep
        self.handler = handler
        timer = try WallClockTimer()
        tzset()
        _ = try arm()
        ahead = WallClock.aheadOfBoot
        source = try loop.watch(descriptor: timer.descriptor.rawValue, events: .readable) { [weak self] _ in
            self?.look()
        }
        do throws(SystemdError) {
            zone = try TimeZoneWatch(loop: loop, path: zoneFile) { [weak self] in self?.zoneChanged() }
        } catch {
            problem = "changes of the time zone cannot be told: \(error)"
        }
    }

    isolated deinit {
        source?.cancel()
    }

    private func look() {
        let reading = timer.read()
        if case .pending = reading { return }
        let due = midnight
        let wasCancelledAgain = rearm()
        if reading == .cancelled || wasCancelledAgain, hasBeenSet() {
            handler(.clockSet)
        } else if WallClock.now >= due {
            handler(.midnight)
        }
    }

    private func zoneChanged() {
        if rearm(), hasBeenSet() { handler(.clockSet) }
        handler(.timeZone)
    }

    /// Whether the wall clock has jumped since the last time this was asked.
    private func hasBeenSet() -> Bool {
        let found = WallClock.aheadOfBoot
        defer { ahead = found }
        let step = found > ahead ? found - ahead : ahead - found
        return step > smallestStep
    }

    /// Waits for the next midnight. Returns whether the clock was set, or the machine asleep, just before.
    private func arm() throws(Processes.Errno) -> Bool {
        var wasCancelled = false
        midnight = WallClock.nextMidnight(after: WallClock.now)
        // The day may be another now.
        while try !timer.arm(at: midnight) {
            wasCancelled = true
            midnight = WallClock.nextMidnight(after: WallClock.now)
        }
        return wasCancelled
    }

    private func rearm() -> Bool {
        do throws(Processes.Errno) {
            return try arm()
        } catch {
            // No such failure is known for a timer that was armed before; going on would spin.
            source?.cancel()
            problem = "changes of the clock cannot be told any more: \(error)"
            return false
        }
    }
}
