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
    /// The apps that have schedules, in the order of their ids.
    private var apps: [ScheduledApp] = []
    private let timer: TimerSource
    private var isStarted = false
    /// The time after which the work of an app that was about to end is looked at again, in microseconds.
    var retryDelay = 5_000_000

    init(loop: EventLoop, records: AppRecords, core: any InputHandler) throws(SystemdError) {
        self.records = records
        self.core = core
        let owner = Owner<Schedules>()
        timer = try loop.timer(on: .wall) { owner.object?.work() }
        owner.object = self
    }

    /// Replaces the schedules by those of the manifests.
    func apply(_ manifests: [Manifest]) {
        let now = Timestamp.now
        let scheduled = manifests.filter { !$0.schedules.isEmpty }
        // Also those of manifests that were removed while no daemon ran: work that returns later is not overdue.
        for name in (records.names ?? []).subtracting(scheduled.map(\.id)) { records.remove(AppID(name)) }
        apps = scheduled.map { app($0, now: now) }.sorted { $0.id < $1.id }
        arm()
    }

    private func app(_ manifest: Manifest, now: Timestamp) -> ScheduledApp {
        let id = AppID(manifest.id)
        let before = work(of: id)
        let last = before.isEmpty ? recall(id) : Dictionary(uniqueKeysWithValues: before.map { ($0.key, $0.last) })
        var found: [String: ScheduledWork] = [:]
        for schedule in manifest.schedules {
            let key = ScheduledWork.key(at: schedule.at.description, kind: schedule.kind)
            found[key] = ScheduledWork(schedule, of: id, last: last[key] ?? now, now: now)
        }
        let app = ScheduledApp(id: id, works: found.values.sorted { $0.key < $1.key })
        if Set(last.keys) != Set(found.keys) { save(app) }
        return app
    }

    /// Reads the times up to which work is done, by its key.
    private func recall(_ id: AppID) -> [String: Timestamp] {
        var last: [String: Timestamp] = [:]
        for record in records.read(id) {
            var run = SavedRun()
            run.restore(record)
            guard let at = run.at, let kind = run.kind, let time = run.last.flatMap({ Int(exactly: $0) }) else {
                continue
            }
            last[ScheduledWork.key(at: at, kind: kind)] = Timestamp(microseconds: time)
        }
        return last
    }

    private func save(_ app: ScheduledApp) { records.write(app.works.map { SavedRun($0).saved() }, of: app.id) }

    func start() {
        isStarted = true
        work()
    }

    func stop() {
        isStarted = false
        timer.disarm()
    }

    /// Computes all due times again, after the wall clock or the time zone was set.
    func clockChanged() {
        tzset()
        let now = Timestamp.now
        for index in apps.indices { apps[index].update { $0.update($1, now: now) } }
        work()
    }

    private func work() {
        guard isStarted else { return }
        let now = Timestamp.now
        var due: [(id: AppID, kind: String)] = []
        for index in apps.indices {
            apps[index].retry = nil
            let works = apps[index].works.filter { $0.isDue(now) }
            guard !works.isEmpty else { continue }
            // The work does not cancel the end, and is not lost by it.
            if core.isEndRequested(of: apps[index].id) {
                apps[index].retry = Timestamp(microseconds: now.microseconds + retryDelay)
                continue
            }
            apps[index].update { if $0.isDue(now) { $0.begin($1, now: now) } }
            save(apps[index])
            for work in works { due.append((apps[index].id, work.schedule.kind)) }
        }
        for (id, kind) in due { core.handle(.wake(id, kind: kind)) }
        arm()
    }

    private func arm() {
        guard isStarted else { return }
        if let earliest = apps.lazy.compactMap(\.next).min() {
            timer.arm(atMicroseconds: UInt64(clamping: earliest.microseconds))
        } else {
            timer.disarm()
        }
    }

    func work(of id: AppID) -> [ScheduledWork] { apps.first { $0.id == id }?.works ?? [] }
}

/// An app with the work of its schedules.
private struct ScheduledApp {
    let id: AppID
    private(set) var works: [ScheduledWork]
    /// The time at which due work is looked at again, which waits because the app is about to end; nil if none waits.
    var retry: Timestamp?

    /// The time of the next look at the work; nil for never again.
    var next: Timestamp? { works.lazy.compactMap(\.due).min().map { max($0, retry ?? $0) } }

    mutating func update(_ change: (inout ScheduledWork, AppID) -> Void) {
        for index in works.indices { change(&works[index], id) }
    }
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
}

/// The time up to which the work of a schedule is done, as it is saved.
private struct SavedRun: SavedTable {
    var kind: String?
    var at: String?
    /// In microseconds since the epoch.
    var last: UInt64?

    init() {}

    init(_ work: ScheduledWork) {
        kind = work.schedule.kind
        at = work.schedule.at.description
        last = UInt64(exactly: work.last.microseconds)
    }

    mutating func code(with coder: inout some SavedCoder) {
        coder.text("kind", &kind)
        coder.text("at", &at)
        coder.number("last", &last)
    }
}
