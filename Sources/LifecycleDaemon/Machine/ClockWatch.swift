import CLinux
import Glibc
import Processes
import Systemd

/// Reports significant time changes: the clock was set, the time zone changed, a new day began.
///
/// One timer waits for the next local midnight. The kernel cancels it when the clock is set, and when the machine wakes; a
/// wake alone is no event, but a midnight during sleep is.
@MainActor final class ClockWatch {
    enum Change: Sendable {
        /// The wall clock jumped. Slewing, by which NTP corrects small errors, is no jump.
        case clockSet
        case timeZone
        case midnight
    }

    /// The reason why some changes are not reported, as one sentence.
    private(set) var problem: String?
    private let timer: WallClockTimer
    private let smallestStep: Duration
    private let source: IOSource
    private let zone: TimeZoneWatch?
    private var ahead = Duration.zero
    private var midnight: Int64 = 0

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - smallestStep: The smallest jump that is reported.
    ///   - zoneFile: The link that names the time zone.
    /// - Throws: An error with one sentence if the clock cannot be watched.
    init(
        events: Events, smallestStep: Duration = .milliseconds(500), zoneFile: String = "/etc/localtime"
    ) throws {
        self.smallestStep = smallestStep
        timer = try WallClockTimer()
        source = try events.watch(timer.descriptor.rawValue, for: .readable) { _ in .clockTimer }
        do throws(SystemdError) {
            zone = try TimeZoneWatch(events: events, path: zoneFile)
        } catch {
            zone = nil
            problem = "cannot watch the time zone: \(error); apps get no time-change for it"
        }
        tzset()
        _ = try arm()
        ahead = WallClock.aheadOfBoot
    }

    isolated deinit {
        source.cancel()
    }

    /// Returns the change that has ended the timer; nil for none that counts.
    func timerEnded() -> Change? {
        let reading = timer.read()
        if case .pending = reading { return nil }
        let due = midnight
        let wasCancelledAgain = rearm()
        if reading == .cancelled || wasCancelledAgain, hasBeenSet() { return .clockSet }
        return WallClock.now >= due ? .midnight : nil
    }

    /// Returns the changes that a change in the directory of the time zone means.
    func zoneChanges(in event: InotifyEvent) -> [Change] {
        guard zone?.hasChanged(in: event) == true else { return [] }
        return rearm() && hasBeenSet() ? [.clockSet, .timeZone] : [.timeZone]
    }

    private func hasBeenSet() -> Bool {
        let found = WallClock.aheadOfBoot
        defer { ahead = found }
        let step = found > ahead ? found - ahead : ahead - found
        return step > smallestStep
    }

    /// Arms the timer for the next midnight.
    ///
    /// - Returns: Whether the clock was set, or the machine slept, just before.
    private func arm() throws(Errno) -> Bool {
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
        do throws(Errno) {
            return try arm()
        } catch {
            // No such failure is known for a timer that was armed before; going on would spin.
            source.cancel()
            problem = "cannot watch the clock: \(error); apps get no time-change any more"
            return false
        }
    }
}

/// Reports changes of the machine's time zone: `/etc/localtime` is another link or file.
///
/// The directory is watched, because the link is replaced by rename(2). A process with `TZ` in its environment has that zone,
/// so nothing is watched. New rules for the same zone are not noticed.
final class TimeZoneWatch {
    private let path: String
    private let name: String?
    private var known: Identity
    private var source: InotifySource?

    /// - Throws: `SystemdError` if the directory cannot be watched.
    init(events: Events, path: String) throws(SystemdError) {
        let parts = path.split(separator: "/")
        self.path = path
        name = parts.last.map(String.init)
        known = Identity(of: path)
        guard unsafe getenv("TZ") == nil else { return }
        let directory = "/" + parts.dropLast().joined(separator: "/")
        let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)
        source = try events.watch(directory, for: mask) { .timeZoneDirectory($0) }
    }

    /// Returns whether an event means another zone, which the C library then has read.
    func hasChanged(in event: InotifyEvent) -> Bool {
        guard event.name == name || event.mask & UInt32(IN_Q_OVERFLOW) != 0 else { return false }
        let found = Identity(of: path)
        guard found != known else { return false }
        known = found
        tzset()
        return true
    }

    private struct Identity: Equatable {
        var target: String?
        var device: dev_t = 0
        var inode: ino_t = 0
        var modified: Int = 0

        init(of path: String) {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = unsafe readlink(path, &bytes, bytes.count)
            if length >= 0 {
                target = String(decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return
            }
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return }
            (device, inode, modified) = (status.st_dev, status.st_ino, status.st_mtim.tv_sec)
        }
    }
}
