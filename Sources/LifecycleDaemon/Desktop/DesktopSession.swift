import Configuration
import LifecycleCore
import Systemd

/// The session bus of the user. It is connected to as soon as a part of the daemon needs it.
final class SessionBus {
    private let loop: EventLoop
    private let log: any JournalSink
    private var connection: Bus?

    init(loop: EventLoop, log: any JournalSink) {
        self.loop = loop
        self.log = log
    }

    /// Returns the bus; nil if the process has no address of one, or the kernel has no descriptors left.
    func connect() -> Bus? {
        if let connection { return connection }
        guard let address = Bus.sessionAddress else { return nil }
        do throws(SystemdError) {
            let bus = try Bus(loop: loop, address: address) { [log] in Self.report($0, log) }
            connection = bus
            return bus
        } catch {
            Self.report(error.description, log)
            return nil
        }
    }

    private static func report(_ problem: String, _ log: any JournalSink) {
        log.write(.notice, "cannot use the session bus: \(problem); leaving the apps of the desktop unmanaged")
    }
}

/// The desktop session of a user, as the user's daemon sees it over the session bus. Without a bus the parts wait, at no cost.
final class DesktopSession {
    private let bus: SessionBus
    private let driver: CoreDriver
    private let apps: DesktopApps
    private let notifications: EndNotifications

    init(
        bus: SessionBus, loop: EventLoop, driver: CoreDriver, catalog: AppCatalog, processes: AppProcesses,
        uses: UseReports, log: any JournalSink
    ) throws(SystemdError) {
        self.bus = bus
        self.driver = driver
        apps = try DesktopApps(
            loop: loop, driver: driver, catalog: catalog, processes: processes, uses: uses, log: log)
        notifications = EndNotifications(session: bus, catalog: catalog, driver: driver)
    }

    /// Begins with the apps of the previous daemon.
    func begin(_ settings: DaemonSettings) {
        apps.begin()
        apply(settings)
    }

    /// Applies the settings, at the start and after a reload.
    func apply(_ settings: DaemonSettings) {
        apps.apply(settings.desktop, launchTime: settings.timeouts.launch, bus: bus.connect)
        notifications.isEnabled = settings.desktop.notifications
    }
}

extension DesktopSession {
    /// Handles the end of an app: it has no processes any more, or none that the daemon manages.
    func appEnded(_ id: AppID, _ reason: Reason) {
        apps.appEnded(id, reason)
        notifications.appEnded(id, reason)
    }

    /// Handles an app that has entered a state in the foreground.
    func appCameToForeground(_ app: AppIndex) { apps.appCameToForeground(driver.id(of: app)) }

    /// Handles a change of the reports of clients about visible apps: their apps, or whether there is a report.
    func visibleAppsChanged() { apps.visibleAppsChanged() }

    func inputsHandled() { apps.inputsHandled() }
}
