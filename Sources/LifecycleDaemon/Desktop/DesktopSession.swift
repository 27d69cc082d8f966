import Configuration
import LifecycleCore
import Systemd

/// The desktop session of a user, as the user's daemon sees it over the session bus.
///
/// The bus is connected to as soon as a part of the daemon needs it. Without a bus the parts wait, at no cost.
final class DesktopSession {
    private let loop: EventLoop
    private let log: any JournalSink
    private let manager: AppManager
    private let apps: DesktopApps
    private var connection: Bus?
    private lazy var notifications = EndNotifications(session: self, manager: manager)

    init(loop: EventLoop, manager: AppManager, log: any JournalSink) throws(SystemdError) {
        self.loop = loop
        self.manager = manager
        self.log = log
        apps = try DesktopApps(loop: loop, manager: manager, log: log)
        manager.desktop = self
    }

    /// Returns the session bus; nil if the process has no address of one, or the kernel has no descriptors left.
    func bus() -> Bus? {
        if let connection { return connection }
        guard let address = Bus.sessionAddress else { return nil }
        do throws(SystemdError) {
            let bus = try Bus(loop: loop, address: address) { [weak self] in self?.report($0) }
            connection = bus
            return bus
        } catch {
            report(error.description)
            return nil
        }
    }

    /// Applies the settings, at the start and after a reload.
    func apply(_ settings: DaemonSettings) {
        apps.apply(settings.desktop, launchTime: settings.timeouts.launch, bus: bus)
        notifications.isEnabled = settings.desktop.notifications
    }

    private func report(_ problem: String) {
        log.write(.notice, "cannot use the session bus: \(problem); leaving the apps of the desktop unmanaged")
    }
}

extension DesktopSession {
    /// Handles the end of an app: it has no processes any more, or none that the daemon manages.
    func appEnded(_ id: AppID, _ app: AppIndex, _ reason: Reason) {
        apps.appEnded(id, app, reason)
        notifications.appEnded(id, reason)
    }

    /// Handles an app that has entered a state in the foreground.
    func appCameToForeground(_ app: AppIndex) { apps.appCameToForeground(app) }

    /// Handles a change of the reports of clients about visible apps: their apps, or whether there is a report.
    func visibleAppsChanged() { apps.visibleAppsChanged() }
}
