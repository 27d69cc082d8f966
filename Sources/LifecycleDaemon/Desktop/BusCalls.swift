import LifecycleCore
import Processes
import Systemd

/// Resumes a suspended app for as long as a program waits for its reply on the session bus.
///
/// A monitor sees the calls to the connections of apps that are suspended, or are about to be. Of each call, the daemon keeps
/// the addresses and the number until the reply. While no such app has a connection to the bus, there is no monitor.
final class BusCalls {
    /// The state of suspended apps, which `SuspendedApps` knows.
    protocol Source: AnyObject {
        var monitoredApps: Set<AppIndex> { get }
        var hasMonitoredApps: Bool { get }
        func isStopped(_ app: AppIndex) -> Bool
        /// Returns whether the bus has sent the app something that it has not read.
        func hasUnreadMessages(_ app: AppIndex, busPath: String) -> Bool
    }

    weak var source: (any Source)?
    private let loop: EventLoop
    private let processes: AppProcesses
    private let log: any JournalSink
    private let report: (Set<AppIndex>, AnyObject) -> Void
    private let makeBus: () -> Bus?
    private var bus: Bus?
    private var busState: BusName?
    private var connections = BusConnections()
    private var monitor: Monitor?
    private var successor: Monitor?
    private var pending = PendingCalls()
    /// Calls to names whose owner the bus has not told yet.
    private var unresolved: Set<PendingCalls.Key> = []
    /// The apps that are reported as called.
    private var called: Set<AppIndex> = []
    private let update: LaterSource
    private let timer: TimerSource
    private let renewal: TimerSource
    private var renewalDelay = BusCalls.firstRenewal
    private var hasReported = false
    private var isStale = false

    private struct Monitor {
        let connection: BusMonitor
        /// The monitored apps by the unique names of their connections.
        let apps: [String: AppIndex]
    }

    /// - Parameters:
    ///   - makeBus: Returns the session bus when it is first needed; nil without one.
    ///   - report: Called with the apps that are called, and the reporter.
    init(
        loop: EventLoop, processes: AppProcesses, log: any JournalSink, makeBus: @escaping () -> Bus?,
        report: @escaping (Set<AppIndex>, AnyObject) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.processes = processes
        self.log = log
        self.makeBus = makeBus
        self.report = report
        let owner = Owner<BusCalls>()
        update = try loop.later { owner.object?.updateMonitor() }
        timer = try loop.timer { owner.object?.expire() }
        renewal = try loop.timer { owner.object?.updateMonitor() }
        owner.object = self
    }

    /// Handles a change of the set of monitored apps.
    func monitoredAppsChanged() { update.schedule() }

    /// Handles an app that is about to be stopped: a call that it has read and not answered keeps it running.
    func willStop(_ app: AppIndex) { if pending.hasCall(of: app) { reportCalled() } }

    /// Returns the names of the programs that wait for the app, if they are known.
    func callers(of app: AppIndex) -> [String] {
        Set(pending.callers(of: app).compactMap { connections.process(of: $0) }).compactMap {
            (try? ProcessStatus(of: $0))?.name
        }
        .sorted()
    }

    // MARK: The monitor

    /// The apps that `SuspendedApps` names, and those that were resumed to answer.
    private var monitoredApps: Set<AppIndex> { pending.apps.union(source?.monitoredApps ?? []) }

    private func updateMonitor() {
        guard !pending.apps.isEmpty || source?.hasMonitoredApps == true else {
            (monitor, successor) = (nil, nil)
            return
        }
        guard let bus = connectedBus() else { return }
        let hasBegun = connections.refresh(over: bus) { [weak self] in
            self?.renewMonitor()
            if self?.isStale == true { self?.updateMonitor() }
        }
        // An app that came meanwhile may have a connection that the present look does not see.
        isStale = !hasBegun
    }

    private func connectedBus() -> Bus? {
        if let bus { return bus.isConnected ? bus : nil }
        guard let made = makeBus() else { return nil }
        bus = made
        busState = made.watchName("org.freedesktop.DBus") { [weak self] owner in
            self?.connections = BusConnections()
            if owner != nil { self?.update.schedule() }
        }
        return nil
    }

    private func renewMonitor() {
        guard let bus else { return }
        let apps = connections.apps(among: monitoredApps, processes)
        if apps.isEmpty {
            (monitor, successor) = (nil, nil)
            return
        }
        dropEndedMonitors()
        if let current = successor ?? monitor, apps.allSatisfy({ current.apps[$0.key] == $0.value }) { return }
        do throws(SystemdError) {
            let connection = try BusMonitor(
                loop: loop, address: bus.address, rules: Self.rules(for: apps.keys.sorted())
            ) {
                [weak self] in
                self?.monitorChanged($0)
            } onMessage: { [weak self] in
                self?.handle($0)
            }
            // The former monitor goes on until the new one sees messages.
            successor = Monitor(connection: connection, apps: apps)
        } catch {
            reportOnce(error.description)
        }
    }

    /// Drops the monitors whose connection has ended. A monitor that the bus has refused stays: the next one would be
    /// refused, too.
    private func dropEndedMonitors() {
        if monitor?.connection.hasEnded == true { monitor = nil }
        if successor?.connection.hasEnded == true { successor = nil }
    }

    /// Returns one rule for the calls to each connection, and two for its answers.
    private static func rules(for names: [String]) -> [String] {
        names.flatMap { name in
            [
                "type='method_call',destination='\(name)'", "type='method_return',sender='\(name)'",
                "type='error',sender='\(name)'",
            ]
        }
    }

    private func monitorChanged(_ state: Result<Void, BusError>) {
        switch state {
        case .success:
            guard let successor, successor.connection.isReady else { return }
            // Dropped in a later round: it may be the present caller's.
            let former = monitor
            monitor = successor
            self.successor = nil
            update.schedule()
            extendLifetime(former)
            renewalDelay = Self.firstRenewal
            let seen = former?.connection.isReady == true ? former?.apps.values ?? [:].values : [:].values
            findMissedCalls(for: Set(successor.apps.values).subtracting(seen))
        case .failure(let error):
            reportOnce(error.description)
            guard monitor?.connection.hasEnded == true || successor?.connection.hasEnded == true else { return }
            renewal.arm(atMicroseconds: loop.freshNow + renewalDelay)
            renewalDelay = min(renewalDelay * 2, Self.longestRenewal)
        }
    }

    /// The times after which a monitor that the bus has closed is replaced, in microseconds.
    private static let firstRenewal: UInt64 = 500_000
    private static let longestRenewal: UInt64 = 60_000_000

    /// Looks at apps that were stopped before the monitor saw their calls. The kind of an unread message is not known.
    private func findMissedCalls(for apps: Set<AppIndex>) {
        guard let source, let path = bus?.socketPath else { return }
        for app in apps where source.isStopped(app) && source.hasUnreadMessages(app, busPath: path) {
            note(PendingCalls.Key(caller: "", serial: pending.nextNumber()), for: app, time: Self.notificationTime)
        }
    }

    private func reportOnce(_ problem: String) {
        guard !hasReported else { return }
        hasReported = true
        log.write(
            .notice, "cannot monitor the session bus: \(problem); callers of a suspended app wait until it is resumed")
    }

    // MARK: Calls

    /// The time after which callers give up, and the time for a call without a reply, in microseconds.
    private static let replyTime: UInt64 = 25_000_000
    private static let notificationTime: UInt64 = 500_000
    private static let unresolvedLimit = 256

    private func handle(_ header: BusHeader) {
        switch header.kind {
        case .reply(let serial):
            let key = PendingCalls.Key(caller: header.destination, serial: serial)
            unresolved.remove(key)
            guard pending.remove(key, by: header.sender) else { return }
            reportCalled()
            update.schedule()
        case .call(let expectsReply):
            if header.destination.utf8.first == UInt8(ascii: ":") {
                noteCall(header, to: header.destination, expectsReply)
            } else if let bus {
                // Some are calls to names that have no owner.
                if unresolved.count >= Self.unresolvedLimit { unresolved = [] }
                let key = PendingCalls.Key(caller: header.sender, serial: header.serial)
                unresolved.insert(key)
                connections.withOwner(of: header.destination, over: bus) { [weak self] owner in
                    guard let self, unresolved.remove(key) != nil else { return }
                    noteCall(header, to: owner, expectsReply)
                }
            }
        }
    }

    private func noteCall(_ header: BusHeader, to owner: String, _ expectsReply: Bool) {
        guard let app = monitor?.apps[owner] ?? successor?.apps[owner], monitoredApps.contains(app) else { return }
        // The calls of the app to itself.
        guard monitor?.apps[header.sender] != app, header.sender != owner else { return }
        let key = PendingCalls.Key(caller: header.sender, serial: header.serial)
        let time = expectsReply ? Self.replyTime : Self.notificationTime
        // The bus is asked only about callers that count: a flood must not become one of questions.
        if note(key, for: app, owner, time: time), let bus { connections.learn(header.sender, over: bus) }
    }

    /// - Returns: False for a call that was noted before, or one too many.
    @discardableResult
    private func note(_ key: PendingCalls.Key, for app: AppIndex, _ owner: String = "", time: UInt64) -> Bool {
        guard pending.insert(key, PendingCalls.Call(app: app, owner: owner, end: loop.freshNow + time)) else {
            return false
        }
        arm()
        reportCalled()
        return true
    }

    private func expire() {
        if pending.removeExpired(at: loop.now) {
            reportCalled()
            update.schedule()
        }
        arm()
    }

    private func arm() {
        if let end = pending.nextEnd { timer.arm(atMicroseconds: end) } else { timer.disarm() }
    }

    /// Reports the apps that are called. A running app answers by itself: it counts only if it was about to be stopped
    /// meanwhile.
    private func reportCalled() {
        let apps = pending.apps.filter { called.contains($0) || source?.isStopped($0) == true }
        guard apps != called else { return }
        called = apps
        report(apps, self)
    }
}

/// The calls that are not answered, of all monitored apps.
struct PendingCalls {
    /// The unique name of the caller, and its number for the call.
    struct Key: Hashable {
        let caller: String
        let serial: UInt64
    }

    struct Call {
        let app: AppIndex
        /// The unique name of the connection that is to answer.
        let owner: String
        /// The instant at which the call times out at the caller.
        let end: UInt64
    }

    private var calls: [Key: Call] = [:]
    private var counts: [AppIndex: Int] = [:]
    private var count: UInt64 = 0

    /// The number of calls of all apps.
    private static let limit = 1024
    /// The number of calls of one app. With so many, the app is running already; the calls of others count nevertheless.
    private static let appLimit = 16

    var apps: Set<AppIndex> { Set(counts.keys) }
    func hasCall(of app: AppIndex) -> Bool { counts[app] != nil }
    var nextEnd: UInt64? { calls.values.map(\.end).min() }
    func callers(of app: AppIndex) -> [String] { calls.filter { $0.value.app == app }.map(\.key.caller) }

    /// Returns a number for a call of which no header was seen.
    mutating func nextNumber() -> UInt64 {
        count += 1
        return count
    }

    /// - Returns: False for a call that was seen before, or too many calls.
    mutating func insert(_ key: Key, _ call: Call) -> Bool {
        guard calls.count < Self.limit, counts[call.app, default: 0] < Self.appLimit, calls[key] == nil else {
            return false
        }
        calls[key] = call
        counts[call.app, default: 0] += 1
        return true
    }

    mutating func remove(_ key: Key, by owner: String) -> Bool {
        guard calls[key]?.owner == owner else { return false }
        remove(key)
        return true
    }

    mutating func removeExpired(at now: UInt64) -> Bool {
        let expired = calls.filter { $0.value.end <= now }.keys
        for key in expired { remove(key) }
        return !expired.isEmpty
    }

    private mutating func remove(_ key: Key) {
        guard let app = calls.removeValue(forKey: key)?.app, let count = counts[app] else { return }
        counts[app] = count > 1 ? count - 1 : nil
    }
}
