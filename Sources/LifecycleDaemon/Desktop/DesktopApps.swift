import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Manages the apps that the desktop starts: one app for each desktop id.
///
/// An app has the processes of all its units, or the process that the session bus has launched and its descendants. It begins in the
/// background, and is not suspended while no client reports which windows are visible: its window could be in use.
final class DesktopApps {
    private let loop: EventLoop
    private let driver: CoreDriver
    private let catalog: AppCatalog
    private let processes: AppProcesses
    private let uses: UseReports
    private let log: any JournalSink
    private var policy = AppUnitPolicy(settings: DaemonSettings.Desktop())
    private var units: AppUnits?
    private var activated: ActivatedApps?
    /// The groups of the units of each app; set while the app runs. An app that the bus has launched has none.
    private var unitsOfApps: [AppID: [String: UnitGroup]] = [:]
    /// The units whose app the user has released, as far as this daemon has seen them. They stay unmanaged until they are started
    /// anew. Their groups are marked for the next daemon.
    private var released: Set<String> = []
    /// The apps that the bus has launched and the user has released, until their names have no owner.
    private var releasedNames: Set<String> = []
    /// The units that were released and are started anew, until their groups are known.
    private var restarted: Set<String> = []
    /// The apps that the daemon releases because the settings have changed.
    private var leaving: Set<AppID> = []
    /// The units that were started while their app was terminating.
    private var laterUnits: [AppID: Set<String>] = [:]
    /// A Boolean value that indicates whether a desktop entry could not be read since the latest settings.
    private var hasReportedFailure = false
    /// The apps whose adoption has begun with the present turn.
    private var begun: Set<AppID> = []
    private let launches: LaunchTimes
    /// The apps that must run because no client reports which windows are visible.
    private var unfollowed: Set<AppID> = []
    private let followTimer: TimerSource

    /// The number of apps, and of the units of one.
    private static let appLimit = 1024
    private static let unitLimit = 64
    /// The processes of a unit that are looked at before it is managed.
    private static let processLimit = 64
    /// The time in which a client that has gone, or that follows the previous daemon, comes back, in microseconds.
    private static let followTime: UInt64 = 3_000_000

    init(
        loop: EventLoop, driver: CoreDriver, catalog: AppCatalog, processes: AppProcesses, uses: UseReports,
        log: any JournalSink
    ) throws(SystemdError) {
        self.loop = loop
        self.driver = driver
        self.catalog = catalog
        self.processes = processes
        self.uses = uses
        self.log = log
        launches = try LaunchTimes(loop: loop, uses: uses)
        let owner = Owner<DesktopApps>()
        followTimer = try loop.timer {
            if let owner = owner.object { owner.setUnfollowed(Set(owner.unitsOfApps.keys)) }
        }
        owner.object = self
    }

    /// Manages the apps of the previous daemon further.
    func begin() {
        for (app, groups) in processes.unitsByApp {
            let id = driver.id(of: app)
            unitsOfApps[id] = [:]
            for group in groups {
                if let name = Self.unitName(of: group) { unitsOfApps[id]?[name] = try? UnitGroup(group) }
            }
        }
        visibleAppsChanged()
    }

    /// Returns the name of a unit, the last part of the name of its group.
    private static func unitName(of group: String) -> String? { group.split(separator: "/").last.map(String.init) }

    // MARK: Settings

    /// Applies the settings: releases apps that are not to be managed any more, and looks for others.
    func apply(_ settings: DaemonSettings.Desktop, launchTime: Duration, bus: () -> Bus?) {
        policy = AppUnitPolicy(settings: settings)
        hasReportedFailure = false
        launches.limit = launchTime.wholeMicroseconds
        for app in unitsOfApps.keys.sorted() where !isManaged(app) {
            leaving.insert(app)
            driver.request(.release(app))
        }
        guard settings.manage != .none else {
            (units, activated) = (nil, nil)
            return
        }
        if let units {
            units.list()
            activated?.list()
            return
        }
        guard let bus = bus() else { return }
        units = AppUnits(bus: bus, log: log)
        units?.delegate = self
        activated = ActivatedApps(bus: bus)
        activated?.delegate = self
    }

    private func isManaged(_ app: AppID) -> Bool {
        guard let units = unitsOfApps[app] else { return false }
        // An app is managed further if its entry cannot be read for now.
        if units.isEmpty { return managedApps(among: [app.name])?.isEmpty != true }
        return units.contains { name, group in AppUnitName(name).map { isManaged($0, group) ?? true } ?? false }
    }

    /// Returns whether a unit is to be managed; nil if that cannot be told for now.
    private func isManaged(_ unit: AppUnitName, _ group: UnitGroup) -> Bool? {
        decision(about: unit, isAutostarted: unit.isAutostarted || Self.isAutostarted(group)).map { $0 == .manage }
    }

    /// Returns whether the session manager of GNOME has started a unit, for an entry in an autostart directory. Its scopes have the
    /// names of those that the user starts.
    private static func isAutostarted(_ group: UnitGroup) -> Bool {
        guard let main = group.processIDs().first.flatMap({ try? ProcessStatus(of: $0) }) else { return false }
        return (try? ProcessStatus(of: main.parent))?.name.hasPrefix("gnome-session") ?? false
    }

    private func decision(about unit: AppUnitName, isAutostarted: Bool) -> AppUnitPolicy.Decision? {
        reading { () throws(LoadFailure) in
            try policy.decision(id: unit.id, isAutostarted: isAutostarted, isBusService: unit.isBusService) {
                id throws(LoadFailure) in try catalog.entries?.facts(of: id)
            }
        }
    }

    /// Returns the result of a look at desktop entries; nil if one cannot be read for now.
    private func reading<Found>(_ look: () throws(LoadFailure) -> Found) -> Found? {
        do throws(LoadFailure) {
            return try look()
        } catch {
            guard !hasReportedFailure else { return nil }
            hasReportedFailure = true
            log.write(
                .warning,
                "cannot read \(error.file): \(Errno(rawValue: error.error)); leaving apps of the desktop as they are until a reload"
            )
            return nil
        }
    }

    // MARK: Adoption

    private func adopt(_ unit: AppUnitName, _ group: UnitGroup) {
        guard let main = main(of: group, of: unit) else { return }
        adopt(AppID(unit.id), main, units: [unit.unit: group])
    }

    /// - Parameter units: The unit of the app; empty for an app that the bus has launched.
    private func adopt(_ id: AppID, _ main: RunningProcess, units: [String: UnitGroup]) {
        guard unitsOfApps.count < Self.appLimit, let process = try? PinnedProcess.pin(main.identity.pid) else { return }
        // The process that is held is the one that was looked at.
        guard process.lives, (try? ProcessStatus(of: main.identity.pid))?.identity == main.identity else { return }
        guard catalog.defineUnit(id, found: main) else { return }
        unitsOfApps[id] = units
        begun.insert(id)
        if !uses.isReported(.visible) { setUnfollowed(unfollowed.union([id])) }
        processes.hold(AdoptionCandidate(process, unit: units.values.first), for: id)
        driver.request(.launch(id, background: true))
    }

    /// Ends what has begun: an app may have ended before it was managed.
    func inputsHandled() {
        for id in begun {
            if driver.isRunning(id) {
                launches.begin(id)
            } else {
                unitsOfApps[id] = nil
                setUnfollowed(unfollowed.subtracting([id]))
            }
        }
        begun = []
    }

    /// Adds a unit to the app that has the id, or whose processes are in it.
    ///
    /// - Returns: False if the app has the unit already.
    private func join(_ unit: AppUnitName, _ group: UnitGroup, to app: AppID) -> Bool {
        guard let units = unitsOfApps[app], units.count < Self.unitLimit, let index = driver.index(of: app),
            processes.add(group, to: index)
        else { return false }
        unitsOfApps[app]?[unit.unit] = group
        return true
    }

    /// Returns the app whose processes a unit has: a program may move itself to a unit of its own, as Chromium does, and leave its
    /// children behind.
    private func relative(of unit: AppUnitName, _ group: UnitGroup) -> AppID? {
        let members = group.processIDs().prefix(Self.processLimit)
        for process in members + [Self.missingMain(of: unit, group)].compactMap(\.self) {
            if case .app(let id) = processes.owner(of: process), unitsOfApps[id] != nil { return id }
        }
        return unitsOfApps.first { _, units in
            units.contains { name, other in
                AppUnitName(name).flatMap { Self.missingMain(of: $0, other) }.map(members.contains) ?? false
            }
        }?.key
    }

    /// Returns the process that a unit was made for, if it has left the unit and its children have not.
    private static func missingMain(of unit: AppUnitName, _ group: UnitGroup) -> ProcessID? {
        guard let process = unit.process else { return nil }
        let members = group.processIDs().prefix(processLimit)
        guard !members.contains(process), members.contains(where: { (try? ProcessStatus(of: $0))?.parent == process })
        else {
            return nil
        }
        return process
    }

    /// Returns the main process of a unit, the oldest; nil if the unit is to be left alone.
    private func main(of group: UnitGroup, of unit: AppUnitName) -> RunningProcess? {
        let numbers = group.processIDs().prefix(Self.processLimit)
        let members = numbers.compactMap { RunningProcess(of: $0, memory: processes.memory) }
        guard let main = members.first, main.users.allSatisfy({ $0 == geteuid() }) else { return nil }
        for process in members {
            if let cause = Self.objection(to: process) ?? relation(of: process) {
                log.write(
                    .notice,
                    "cannot manage the unit \(unit.unit): process \(process.identity.pid) \(cause); leaving it unmanaged"
                )
                return nil
            }
        }
        return main
    }

    private static func objection(to process: RunningProcess) -> String? {
        if ["lifed", "lifectl"].contains(process.name) { return "is a part of lifed" }
        if process.isServiceManager { return "is a service manager" }
        return process.ledLoginSession.map { "leads the login session \($0)" }
    }

    private func relation(of process: RunningProcess) -> String? {
        switch processes.owner(of: process.identity.pid) {
        case .app(let id): "belongs to the app \(id)"
        case .unknown: "is left over from an app that has ended"
        case .noApp: nil
        }
    }

    // MARK: Followers

    private func setUnfollowed(_ apps: Set<AppID>) {
        guard apps != unfollowed else { return }
        unfollowed = apps
        uses.report(.unfollowed, of: apps, by: self)
    }

    private var runningApps: Set<AppID> {
        Set(unitsOfApps.keys.filter { driver.app($0).map { !$0.isStoppedOrStopping } ?? false })
    }
}

extension DesktopApps {
    /// Returns whether the group of a unit is of interest.
    func isWanted(_ unit: AppUnitName) -> Bool {
        guard !released.contains(unit.unit) else { return false }
        // A unit of any name may have processes of an app.
        return !unitsOfApps.isEmpty || decision(about: unit, isAutostarted: unit.isAutostarted) == .manage
    }

    /// Returns whether the end of a unit is of interest.
    func isManaged(_ unit: String) -> Bool { unitsOfApps.values.contains { $0[unit] != nil } }

    /// Handles a unit that systemd has started anew.
    func unitStarted(_ unit: AppUnitName) {
        if released.remove(unit.unit) != nil, restarted.count < Self.appLimit { restarted.insert(unit.unit) }
    }

    /// Handles a unit that runs, with its processes in the group. Called again for the same unit after systemd or the
    /// bus was away.
    func unitRuns(_ unit: AppUnitName, in group: UnitGroup) {
        if restarted.remove(unit.unit) != nil { group.removeReleaseMark() }
        guard isWanted(unit), !driver.core.isShuttingDown else { return }
        // Released by the previous daemon.
        guard !group.isReleased else { return noteReleased([unit.unit]) }
        if let owner = relative(of: unit, group) {
            if join(unit, group, to: owner) {
                log.write(.info, "the unit \(unit.unit) has processes of \(owner), and joins it")
            }
            return
        }
        guard isManaged(unit, group) == true else { return }
        let id = AppID(unit.id)
        guard let app = driver.app(id), app.isRunning else { return adopt(unit, group) }
        // The processes of the unit are not to be killed with those of the app.
        if app.state == .terminating {
            return postpone(unit.unit, of: id)
        }
        guard let units = unitsOfApps[id] else { return launches.begin(id) }
        let isNew = main(of: group, of: unit) != nil && join(unit, group, to: id)
        if isNew || units[unit.unit] == nil { launches.begin(id) }
    }

    private func postpone(_ unit: String, of app: AppID) {
        var others = laterUnits[app] ?? []
        guard others.count < Self.unitLimit else { return }
        others.insert(unit)
        laterUnits[app] = others
    }

    /// Handles a unit that systemd stops: it has sent SIGTERM, or is about to.
    func unitStops(_ unit: String) {
        // Otherwise the app would be stopped again before it has handled SIGTERM.
        for (app, units) in unitsOfApps where units[unit] != nil { driver.request(.resume(app)) }
    }
}

extension DesktopApps {
    /// Returns the names that are ids of apps to be managed; nil if that cannot be told for now.
    func managedApps(among names: [String]) -> Set<String>? {
        let found = reading { () throws(LoadFailure) in
            try catalog.entries?.activatableFacts(among: names) ?? [:]
        }
        guard let facts = found else { return nil }
        let managed = facts.keys.filter { id in
            policy.decision(id: id, isAutostarted: false, isBusService: true) { facts[$0] } == .manage
        }
        return Set(managed)
    }

    /// Handles a process that owns the name of the app. It is the app's if it is managed already, or the bus has
    /// launched it.
    func activatedAppRuns(_ name: String, process: ProcessID, bus: ProcessID) {
        guard !releasedNames.contains(name), !driver.core.isShuttingDown else { return }
        let id = AppID(name)
        if processes.owner(of: process) == .app(id) { return keepRestored(id) }
        guard RunningProcess.isLaunched(process, byBusDaemon: bus, memory: processes.memory),
            driver.app(id)?.isRunning != true,
            let main = RunningProcess(of: process, memory: processes.memory), main.users.allSatisfy({ $0 == geteuid() })
        else { return }
        if let cause = Self.objection(to: main) ?? relation(of: main) {
            return log.write(
                .notice, "cannot manage \(id): its process \(process) \(cause); leaving it unmanaged")
        }
        adopt(id, main, units: [:])
    }

    /// Manages an app of the previous daemon further.
    private func keepRestored(_ id: AppID) {
        guard unitsOfApps[id] == nil, catalog[id]?.isAdopted == true else { return }
        unitsOfApps[id] = [:]
        catalog.keepAsUnit(id)
        if !uses.isReported(.visible) { setUnfollowed(unfollowed.union([id])) }
    }

    /// Handles a name of an app that has no owner any more: the app is ending, or the bus has gone.
    func activatedAppLeaves(_ name: String) {
        releasedNames.remove(name)
        let id = AppID(name)
        // It ends soon, perhaps by a signal that it has to handle.
        guard let app = driver.app(id), unitsOfApps[id]?.isEmpty == true, app.isStoppedOrStopping else {
            return
        }
        driver.request(.resume(id))
    }
}

extension DesktopApps {
    func appEnded(_ app: AppID, _ reason: Reason) {
        launches.end(app)
        setUnfollowed(unfollowed.subtracting([app]))
        for unit in laterUnits.removeValue(forKey: app) ?? [] { units?.look(at: unit) }
        guard let ended = unitsOfApps.removeValue(forKey: app) else { return }
        if leaving.remove(app) == nil, reason == .release {
            if ended.isEmpty { releasedNames.insert(app.name) } else { release(ended) }
        }
        // The bus may have launched it anew while it was ending.
        activated?.look(at: app.name)
    }

    /// Leaves the units of an app alone that the user has released.
    private func release(_ units: [String: UnitGroup]) {
        noteReleased(units.keys)
        for (unit, group) in units {
            do throws(Errno) {
                try group.markReleased()
            } catch  where error.rawValue != ENOENT {
                log.write(
                    .notice,
                    "cannot mark the unit \(unit) as released: setxattr: \(error); managing it again after a restart of lifed"
                )
            } catch {}
        }
    }

    private func noteReleased(_ units: some Collection<String>) {
        if released.count < Self.appLimit { released.formUnion(units) }
    }

    func appCameToForeground(_ app: AppID) { launches.end(app) }

    /// Keeps the apps that run from being suspended. The suspended ones run again unless the client, or the next one, is back
    /// soon.
    func visibleAppsChanged() {
        launches.visibleAppsChanged()
        if uses.isReported(.visible) {
            followTimer.disarm()
            setUnfollowed([])
        } else {
            setUnfollowed(unfollowed.union(runningApps))
            followTimer.arm(atMicroseconds: loop.freshNow + Self.followTime)
        }
    }
}
