import Configuration
import LifecycleCore
import Systemd

/// Tells the user by a notification of the desktop that the daemon has ended an app, and offers to open it again.
///
/// The interface is org.freedesktop.Notifications 1.2. An app has one notification at a time. The session bus is connected to when
/// the first app ends.
final class EndNotifications {
    var isEnabled = false

    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let reopenAction = "reopen"
    /// The number of notifications that wait for the bus, and of those that are remembered.
    private static let limit = 64

    private let session: SessionBus
    private let catalog: AppCatalog
    private let driver: CoreDriver
    private var bus: Bus?
    /// The bus itself, which tells when calls can be made.
    private var busName: BusName?
    /// The service, whose signals count.
    private var serviceName: BusName?
    private var signals: BusSlot?
    private var waiting: [(id: AppID, reason: Reason)] = []
    private var shown: [UInt64: AppID] = [:]

    init(session: SessionBus, catalog: AppCatalog, driver: CoreDriver) {
        self.session = session
        self.catalog = catalog
        self.driver = driver
    }

    func appEnded(_ id: AppID, _ reason: Reason) {
        guard isEnabled, reason.body != nil, waiting.count < Self.limit else { return }
        waiting.append((id, reason))
        if busName == nil { connect() }
        send()
    }

    private func connect() {
        guard let bus = session.connect() else { return waiting.removeAll() }
        self.bus = bus
        busName = bus.watchName("org.freedesktop.DBus") { [weak self] _ in self?.send() }
        serviceName = bus.watchName(Self.service) { [weak self] in self?.listen(to: $0) }
    }

    private func listen(to owner: String?) {
        shown = [:]
        signals = owner.flatMap { owner in
            let rule = BusMatchRule(sender: owner, path: Self.path, interface: Self.service)
            return bus?.match(rule) { [weak self] in self?.handle($0) }
        }
    }

    private func send() {
        guard busName?.owner != nil else { return }
        for (id, reason) in waiting { notify(id, reason) }
        waiting = []
    }

    private func notify(_ id: AppID, _ reason: Reason) {
        guard let bus, let body = reason.body else { return }
        let name = catalog[id]?.name ?? id.name
        let replaced = shown.first { $0.value == id }.map { UInt32(clamping: $0.key) } ?? 0
        let actions = canLaunchAgain(id) ? [Self.reopenAction, "Reopen"] : []
        var call = BusCall(
            Self.service, path: Self.path, interface: Self.service, member: "Notify",
            arguments: [
                .text("lifed"), .unsigned(replaced), .text("dialog-information"), .text("\(name) was closed"),
                .text(body), .texts(actions), .noOptions, .integer(-1),
            ])
        call.startsService = true
        bus.call(call) { [weak self] reply in
            // A session without the service has no notifications.
            guard let self, let number = try? reply.get().first?.unsigned else { return }
            if shown.count >= Self.limit { shown = [:] }
            shown[number] = id
        }
    }

    private func handle(_ message: BusMessage) {
        guard let number = message.arguments.first?.unsigned, let id = shown[number] else { return }
        switch message.member {
        case "NotificationClosed": shown[number] = nil
        case "ActionInvoked" where message.arguments.last?.text == Self.reopenAction:
            // Once: a repeated signal must not launch the app again and again.
            shown[number] = nil
            launchAgain(id)
        default: break
        }
    }

    /// Returns whether an app that has ended can be launched by its id.
    private func canLaunchAgain(_ id: AppID) -> Bool {
        catalog.isDescribed(id) || catalog.entry(of: id) != nil
    }

    /// Launches an app to the foreground for the user, without a client.
    private func launchAgain(_ id: AppID) {
        guard !catalog.definitions.isOccupied(id) else { return }
        if !catalog.isDescribed(id) {
            guard let entry = catalog.entry(of: id) else { return }
            catalog.define(id, entry)
        }
        driver.request(.launch(id, background: false))
    }
}

extension Reason {
    /// The text of the notification; nil for an end that needs none.
    fileprivate var body: String? {
        if self == .reclaimed { return "The machine was short of memory." }
        let isTimeout = self == .backgroundTimeout || self == .taskTimeout || self == .launchTimeout
        return isTimeout ? "It did not answer in time." : nil
    }
}
