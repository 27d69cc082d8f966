import LifecycleCore
import Systemd

/// Keeps an app running that the desktop has just launched, or launched once more, until it shows a window.
///
/// A launch ends when a window of the app is visible or has the focus, or when its time is over.
final class LaunchTimes {
    /// The longest time of a launch, in microseconds.
    var limit: UInt64 = 20_000_000

    private let loop: EventLoop
    private unowned let manager: AppManager
    /// The ends of the present launches.
    private var ends: [AppIndex: UInt64] = [:]
    private let timer: TimerSource

    init(loop: EventLoop, manager: AppManager) throws(SystemdError) {
        self.loop = loop
        self.manager = manager
        let owner = Owner<LaunchTimes>()
        timer = try loop.timer { owner.object?.endOverdue() }
        owner.object = self
    }

    func begin(_ app: AppIndex) {
        ends[app] = loop.freshNow + limit
        report()
    }

    func end(_ app: AppIndex) {
        if ends.removeValue(forKey: app) != nil { report() }
    }

    /// Ends the launches of the apps that a client reports as visible.
    func visibleAppsChanged() {
        guard !ends.isEmpty else { return }
        let visible = manager.indexes(of: manager.reportedApps(.visible))
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
        manager.report(.relaunched, of: manager.ids(of: ends.keys), by: self)
        if let next = ends.values.min() { timer.arm(atMicroseconds: next) } else { timer.disarm() }
    }
}
