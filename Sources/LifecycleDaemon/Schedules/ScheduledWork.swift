import Calendar
import Configuration
import LifecycleCore

/// One schedule of an app: when it was due last, and when it is due next.
struct ScheduledWork {
    let schedule: Schedule
    /// Up to when everything is done or left out.
    private(set) var last: Timestamp
    /// Since when the clock has been far behind that: what comes after this is to be done. A machine without a battery for its
    /// clock is behind until somebody tells it the time, and then everything up to `last` is done, as it was before.
    private var behindSince: Timestamp?
    /// When it is due; nil for never again.
    private(set) var due: Timestamp?

    /// A wall clock that was set back by less than this does not bring back what was done already.
    private static let smallStep = Duration.seconds(60)

    /// - Parameter last: Up to when everything is done; for a schedule that is new, the time now.
    init(_ schedule: Schedule, of app: AppID, last: Timestamp, now: Timestamp) {
        self.schedule = schedule
        self.last = last
        update(app, now: now)
    }

    /// Works out when it is due, after the clock or the time zone was set.
    mutating func update(_ app: AppID, now: Timestamp) {
        if last <= now + Self.smallStep {
            behindSince = nil
        } else if behindSince.map({ $0 > now + Self.smallStep }) ?? true {
            behindSince = now
        }
        let next = schedule.at.next(after: behindSince ?? last, in: LocalClock())
        due = next.map { $0 + Jitter.delay(for: app.name, at: $0, upTo: schedule.jitter) }
    }

    /// It is being done. Whatever else was missed meanwhile is left out: once is enough to catch up.
    mutating func begin(_ app: AppID, now: Timestamp) {
        last = now
        update(app, now: now)
    }

    /// What tells it from the others of its app.
    var key: String { Self.key(at: schedule.at.description, kind: schedule.kind) }
}

extension ScheduledWork {
    static func key(at: String, kind: String) -> String { "\(kind) \(at)" }

    var saved: SavedRecord {
        var record = SavedRecord()
        record.add("kind", schedule.kind)
        record.add("at", schedule.at.description)
        record.add("last", String(last.microseconds))
        return record
    }
}
