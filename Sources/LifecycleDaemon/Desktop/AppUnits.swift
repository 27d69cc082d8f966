import Processes
import Systemd

/// Watches the app units of the user's systemd over the session bus.
///
/// A unit is looked at when its job is done: the processes of a scope are in its group by then, and those of a service run. The
/// kernel tells of the end of a unit, by its group.
final class AppUnits {
    weak var delegate: DesktopApps?

    private let bus: Bus
    private let log: any JournalSink
    private var name: BusName?
    private var owner: String?
    private var matches: [BusSlot?] = []
    /// The units to look at, in the order in which they were found.
    private var waiting: [AppUnitName] = []
    /// The units whose group was asked for.
    private var asked: Set<String> = []
    private var hasReportedCrowd = false
    /// The number of the present owner of the name: replies of an earlier one do not count.
    private var generation = 0

    private static let service = "org.freedesktop.systemd1"
    private static let path = "/org/freedesktop/systemd1"
    private static let manager = "org.freedesktop.systemd1.Manager"
    private static let patterns = ["app-*", "snap.*", "dbus-*"]
    /// The number of calls at the same time, and of units that wait.
    private static let callLimit = 16
    private static let waitingLimit = 1024

    /// Begins to watch, as soon as systemd is on the bus.
    init(bus: Bus, log: any JournalSink) {
        self.bus = bus
        self.log = log
        name = bus.watchName(Self.service) { [weak self] owner in self?.ownerChanged(owner) }
    }

    private func ownerChanged(_ owner: String?) {
        self.owner = owner
        generation += 1
        matches = []
        waiting = []
        asked = []
        guard let owner else { return }
        matches = [
            match("JobRemoved", of: owner) { [weak self] in self?.jobRemoved($0) },
            match("JobNew", of: owner) { [weak self] in self?.jobAdded($0) },
        ]
        bus.call(BusCall(owner, path: Self.path, interface: Self.manager, member: "Subscribe")) { [weak self] reply in
            guard case .failure(let error) = reply else { return }
            self?.log.write(
                .warning, "cannot watch the units of systemd: \(error); leaving the apps of the desktop unmanaged")
        }
        list()
    }

    private func match(_ member: String, of owner: String, then handle: @escaping ([BusValue]) -> Void) -> BusSlot? {
        bus.match(BusMatchRule(sender: owner, path: Self.path, interface: Self.manager, member: member)) {
            handle($0.arguments)
        }
    }

    // MARK: Units

    /// Looks at the units that run, and at those of `Type=oneshot`, which are activating as long as they run.
    func list() {
        guard let owner else { return }
        let call = BusCall(
            owner, path: Self.path, interface: Self.manager, member: "ListUnitsByPatterns",
            arguments: [.texts(["active", "reloading", "activating"]), .texts(Self.patterns)])
        bus.call(call) { [weak self, generation] reply in
            guard let self, generation == self.generation else { return }
            switch reply {
            case .success(let values):
                for unit in values.first?.elements ?? [] {
                    if let name = unit.elements?.first?.text { look(at: name) }
                }
            case .failure(let error):
                log.write(
                    .warning, "cannot list the units of systemd: \(error); leaving the apps of the desktop unmanaged")
            }
        }
    }

    /// Looks at a unit, if it is that of an app.
    func look(at name: String) {
        guard let unit = AppUnitName(name), delegate?.isWanted(unit) ?? false, !waiting.contains(unit) else { return }
        guard waiting.count < Self.waitingLimit else {
            // Once for each crowd: the list of systemd can have any number of units.
            guard !hasReportedCrowd else { return }
            hasReportedCrowd = true
            return log.write(
                .warning,
                "cannot manage the unit \(name): \(Self.waitingLimit) units wait; leaving it and later ones unmanaged")
        }
        waiting.append(unit)
        askNext()
    }

    private func askNext() {
        if waiting.isEmpty { hasReportedCrowd = false }
        while asked.count < Self.callLimit, let owner, let unit = waiting.first {
            waiting.removeFirst()
            guard asked.insert(unit.unit).inserted else { continue }
            get("ControlGroup", of: unit.interface, at: unit.path, from: owner) { [weak self] value in
                guard let self else { return }
                asked.remove(unit.unit)
                // A unit that has ended has no group.
                if let name = value?.text, let group = try? UnitGroup(name) { delegate?.unitRuns(unit, in: group) }
                askNext()
            }
        }
    }

    private func get(
        _ property: String, of interface: String, at path: String, from owner: String,
        then handle: @escaping (BusValue?) -> Void
    ) {
        let call = BusCall(
            owner, path: path, interface: "org.freedesktop.DBus.Properties", member: "Get",
            arguments: [.text(interface), .text(property)])
        bus.call(call) { [weak self, generation] reply in
            guard generation == self?.generation else { return }
            handle(try? reply.get().first)
        }
    }

    // MARK: Jobs

    private func jobRemoved(_ arguments: [BusValue]) {
        guard arguments.count == 4, arguments[3].text == "done", let name = arguments[2].text else { return }
        guard let unit = AppUnitName(name) else { return }
        delegate?.unitStarted(unit)
        look(at: name)
    }

    private func jobAdded(_ arguments: [BusValue]) {
        guard arguments.count == 3, let path = arguments[1].text, let unit = arguments[2].text, let owner,
            delegate?.isManaged(unit) ?? false
        else { return }
        get("JobType", of: "org.freedesktop.systemd1.Job", at: path, from: owner) { [weak self] type in
            if ["stop", "restart"].contains(type?.text) { self?.delegate?.unitStops(unit) }
        }
    }
}
