import Calendar
import Configuration
import Glibc
import LifecycleCore
import Systemd

/// The schedules of all apps: one timer on the wall clock for the earliest.
///
/// The daemon does not wake a sleeping machine. Work that came due during sleep, or without a daemon, is done once. It is
/// recorded before it is done: a daemon that is killed in between leaves it out rather than doing it twice.
final class Schedules {
    private let records: AppRecords
    private let core: any InputHandler
    private var works: [AppID: [ScheduledWork]] = [:]
    private var timer: TimerSource?
    private var isStarted = false

    init(loop: EventLoop, records: AppRecords, core: any InputHandler) throws(SystemdError) {
        self.records = records
        self.core = core
        timer = try loop.timer(on: .wall) { [weak self] in self?.work() }
    }

    /// Replaces the schedules by those of the manifests.
    func apply(_ manifests: [Manifest]) {
        let now = Timestamp.now
        let scheduled = manifests.filter { !$0.schedules.isEmpty }
        for id in Set(works.keys).subtracting(scheduled.map { AppID($0.id) }) {
            works[id] = nil
            records.remove(id)
        }
        for manifest in scheduled { apply(manifest.schedules, of: AppID(manifest.id), now: now) }
        arm()
    }

    private func apply(_ schedules: [Schedule], of id: AppID, now: Timestamp) {
        let before = works[id] ?? []
        let last = before.isEmpty ? recall(id) : Dictionary(uniqueKeysWithValues: before.map { ($0.key, $0.last) })
        var found: [String: ScheduledWork] = [:]
        for schedule in schedules {
            let key = ScheduledWork.key(at: schedule.at.description, kind: schedule.kind)
            found[key] = ScheduledWork(schedule, of: id, last: last[key] ?? now, now: now)
        }
        works[id] = found.values.sorted { $0.key < $1.key }
        if Set(last.keys) != Set(found.keys) { save(id) }
    }

    /// Reads the times up to which work is done, by its key.
    private func recall(_ id: AppID) -> [String: Timestamp] {
        var last: [String: Timestamp] = [:]
        for record in records.read(id) {
            guard let at = record["at"], let kind = record["kind"], let text = record["last"], let time = Int(text),
                time >= 0
            else { continue }
            last[ScheduledWork.key(at: at, kind: kind)] = Timestamp(microseconds: time)
        }
        return last
    }

    private func save(_ id: AppID) { records.write(works[id]?.map(\.saved) ?? [], of: id) }

    func start() {
        isStarted = true
        work()
    }

    func stop() {
        isStarted = false
        timer?.disarm()
    }

    /// Computes all due times again, after the wall clock or the time zone was set.
    func clockChanged() {
        tzset()
        let now = Timestamp.now
        for id in works.keys.sorted() { update(id) { $0.update(id, now: now) } }
        work()
    }

    private func work() {
        guard isStarted else { return }
        let now = Timestamp.now
        for id in works.keys.sorted() {
            let due = works[id]?.filter { $0.isDue(now) } ?? []
            guard !due.isEmpty else { continue }
            update(id) { if $0.isDue(now) { $0.begin(id, now: now) } }
            save(id)
            for work in due { core.handle(.wake(id, kind: work.schedule.kind)) }
        }
        arm()
    }

    private func update(_ id: AppID, _ change: (inout ScheduledWork) -> Void) {
        for index in works[id]?.indices ?? 0..<0 {
            guard var work = works[id]?[index] else { continue }
            change(&work)
            works[id]?[index] = work
        }
    }

    private func arm() {
        guard isStarted else { return }
        let earliest = works.values.lazy.joined().compactMap(\.due).min()
        if let earliest {
            timer?.arm(atMicroseconds: UInt64(clamping: earliest.microseconds))
        } else {
            timer?.disarm()
        }
    }

    func work(of id: AppID) -> [ScheduledWork] { works[id] ?? [] }
}

/// The work of one schedule of an app.
struct ScheduledWork {
    let schedule: Schedule
    /// The time up to which all work is done or left out.
    private(set) var last: Timestamp
    /// The time since which the clock has been far behind ``last``; work after it is due. A machine without a battery for its
    /// clock is behind until its clock is set. Work up to ``last`` was done before.
    private var behindSince: Timestamp?
    /// The time at which work is due; nil for never again.
    private(set) var due: Timestamp?

    /// A clock that is set back by less does not make work due again.
    private static let smallStep = Duration.seconds(60)

    /// - Parameter last: The time up to which work is done; now for a new schedule.
    init(_ schedule: Schedule, of app: AppID, last: Timestamp, now: Timestamp) {
        self.schedule = schedule
        self.last = last
        update(app, now: now)
    }

    /// Computes the due time, after the clock or the time zone was set.
    mutating func update(_ app: AppID, now: Timestamp) {
        if last <= now + Self.smallStep {
            behindSince = nil
        } else if behindSince.map({ $0 > now + Self.smallStep }) ?? true {
            behindSince = now
        }
        let next = schedule.at.next(after: behindSince ?? last, in: LocalClock())
        due = next.map { $0 + Jitter.delay(for: app.name, at: $0, upTo: schedule.jitter) }
    }

    /// Marks all work up to now as done: missed work is done once.
    mutating func begin(_ app: AppID, now: Timestamp) {
        last = now
        update(app, now: now)
    }

    var key: String { Self.key(at: schedule.at.description, kind: schedule.kind) }
    static func key(at: String, kind: String) -> String { "\(kind) \(at)" }

    fileprivate func isDue(_ now: Timestamp) -> Bool { due.map { $0 <= now } ?? false }

    fileprivate var saved: SavedRecord {
        SavedRecord([
            "kind": schedule.kind, "at": schedule.at.description, "last": String(last.microseconds),
        ])
    }
}
