import LifecycleCore
import Processes
import Systemd

/// Watches the apps that dbus-daemon launches for a call to their name (`DBusActivatable=true` in the desktop entry).
///
/// Such an app has no unit: its processes are in the control group of the bus, beside those of other services. The owner of the name is
/// its process, if the bus has launched it. dbus-broker lets systemd launch each app in a unit, which ``AppUnits`` finds.
final class ActivatedApps {
    weak var delegate: DesktopApps?

    private let bus: Bus
    private var busState: BusName?
    private var changes: BusSlot?
    private var names: [String: BusName] = [:]
    /// The names whose owner's process was asked for: a name that changes hands without end must not lead to as many questions.
    private var asked: Set<String> = []

    private static let busName = "org.freedesktop.DBus"
    /// The number of watched names. Each is a match rule on the bus; a session has some dozens.
    private static let limit = 256

    /// Begins to watch, as soon as the bus is there.
    init(bus: Bus) {
        self.bus = bus
        busState = bus.watchName(Self.busName) { [weak self] owner in self?.busChanged(isThere: owner != nil) }
    }

    private func busChanged(isThere: Bool) {
        changes = nil
        asked = []
        guard isThere else { return }
        let rule = BusMatchRule(
            sender: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
            member: "ActivatableServicesChanged")
        changes = bus.match(rule) { [weak self] _ in self?.list() }
        list()
    }

    /// Watches the apps of the present settings and desktop entries.
    func list() {
        bus.call(.bus("ListActivatableNames")) { [weak self] reply in
            guard let self, let listed = try? reply.get().first?.elements,
                let ids = delegate?.managedApps(among: listed.compactMap(\.text))
            else { return }
            names = names.filter { ids.contains($0.key) }
            for id in ids.sorted() where names[id] == nil && names.count < Self.limit {
                names[id] = bus.watchName(id) { [weak self] owner in
                    if owner == nil { self?.delegate?.activatedAppLeaves(id) } else { self?.look(at: id) }
                }
            }
        }
    }

    /// Looks at the owner of an app's name.
    func look(at id: String) {
        guard let owner = names[id]?.owner, asked.insert(id).inserted else { return }
        bus.processID(of: owner) { [weak self] process in
            self?.bus.processID(of: Self.busName) { [weak self] bus in
                guard let self else { return }
                asked.remove(id)
                // As long as the name has its owner, the process has its number.
                guard names[id]?.owner == owner else { return look(at: id) }
                guard let process, let bus, process > 1, bus > 1 else { return }
                delegate?.activatedAppRuns(id, process: process, bus: bus)
            }
        }
    }
}

/// Keeps an app running that the desktop has just launched, or launched once more, until it shows a window.
///
/// A launch ends when a window of the app is visible or has the focus, or when its time is over.
final class LaunchTimes {
    /// The longest time of a launch, in microseconds.
    var limit: UInt64 = 20_000_000

    private let loop: EventLoop
    private let uses: UseReports
    /// The ends of the present launches.
    private var ends: [AppID: UInt64] = [:]
    private let timer: TimerSource

    init(loop: EventLoop, uses: UseReports) throws(SystemdError) {
        self.loop = loop
        self.uses = uses
        let owner = Owner<LaunchTimes>()
        timer = try loop.timer { owner.object?.endOverdue() }
        owner.object = self
    }

    func begin(_ app: AppID) {
        ends[app] = loop.freshNow + limit
        report()
    }

    func end(_ app: AppID) {
        if ends.removeValue(forKey: app) != nil { report() }
    }

    /// Ends the launches of the apps that a client reports as visible.
    func visibleAppsChanged() {
        guard !ends.isEmpty else { return }
        let visible = uses.apps(.visible)
        guard ends.keys.contains(where: visible.contains) else { return }
        ends = ends.filter { !visible.contains($0.key) }
        report()
    }

    private func endOverdue() {
        let now = loop.freshNow
        ends = ends.filter { $0.value > now }
        report()
    }

    private func report() {
        uses.report(.relaunched, of: Set(ends.keys), by: self)
        if let next = ends.values.min() { timer.arm(atMicroseconds: next) } else { timer.disarm() }
    }
}
