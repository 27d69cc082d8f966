import Calendar
import Configuration
import Glibc
import LifecycleCore
import Systemd

/// The schedules of all apps: one timer on the wall clock for the earliest of them, and none where there is none.
///
/// A machine that sleeps is not woken. What came due while it slept, or while there was no daemon, is done once when
/// there is one again, however often it would have been. What is about to be done is written down before, so that a
/// daemon that is killed in the middle leaves it out rather than doing it twice.
final class Schedules {
    private let records: AppRecords
    private let wake: (AppID, _ kind: String) -> Void
    private var works: [AppID: [ScheduledWork]] = [:]
    private var timer: TimerSource?
    private var isStarted = false

    /// - Parameter wake: Wakes an app for work.
    init(loop: EventLoop, records: AppRecords, wake: @escaping (AppID, _ kind: String) -> Void) throws(SystemdError) {
        self.records = records
        self.wake = wake
        timer = try loop.timer(on: .wall) { [weak self] in self?.work() }
    }

    /// Takes the schedules of the manifests, in the place of those before.
    func take(_ manifests: [Manifest]) {
        let now = Timestamp.now
        let scheduled = manifests.filter { !$0.schedules.isEmpty }
        for id in Set(works.keys).subtracting(scheduled.map { AppID($0.id) }) {
            works[id] = nil
            records.remove(id)
        }
        for manifest in scheduled { take(manifest.schedules, of: AppID(manifest.id), now: now) }
        arm()
    }

    private func take(_ schedules: [Schedule], of id: AppID, now: Timestamp) {
        let before = works[id] ?? []
        let last = before.isEmpty ? recalled(id) : Dictionary(uniqueKeysWithValues: before.map { ($0.key, $0.last) })
        var found: [String: ScheduledWork] = [:]
        for schedule in schedules {
            let key = ScheduledWork.key(at: schedule.at.description, kind: schedule.kind)
            found[key] = ScheduledWork(schedule, of: id, last: last[key] ?? now, now: now)
        }
        works[id] = found.values.sorted { $0.key < $1.key }
        if Set(last.keys) != Set(found.keys) { keep(id) }
    }

    /// Up to when the work of an app is done, by its key.
    private func recalled(_ id: AppID) -> [String: Timestamp] {
        var last: [String: Timestamp] = [:]
        for record in records.read(id) {
            guard let at = record["at"], let kind = record["kind"], let text = record["last"], let time = Int(text),
                time >= 0
            else { continue }
            last[ScheduledWork.key(at: at, kind: kind)] = Timestamp(microseconds: time)
        }
        return last
    }

    private func keep(_ id: AppID) { records.write(works[id]?.map(\.saved) ?? [], of: id) }

    /// Begins to wake apps; first for what was missed.
    func start() {
        isStarted = true
        work()
    }

    /// Wakes nobody any more. What comes due from now on is for the next daemon.
    func stop() {
        isStarted = false
        timer?.disarm()
    }

    /// The wall clock was set, or the time zone is another one.
    func clockChanged() {
        tzset()
        let now = Timestamp.now
        for id in works.keys.sorted() { update(id) { $0.update(id, now: now) } }
        work()
    }

    /// Does what is due.
    private func work() {
        guard isStarted else { return }
        let now = Timestamp.now
        for id in works.keys.sorted() {
            let due = works[id]?.filter { $0.isDue(now) } ?? []
            guard !due.isEmpty else { continue }
            update(id) { if $0.isDue(now) { $0.begin(id, now: now) } }
            keep(id)
            for work in due { wake(id, work.schedule.kind) }
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

    /// The work of an app, and when it is due.
    func work(of id: AppID) -> [ScheduledWork] { works[id] ?? [] }
}

extension ScheduledWork {
    fileprivate func isDue(_ now: Timestamp) -> Bool { due.map { $0 <= now } ?? false }
}
