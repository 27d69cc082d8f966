import LifecycleCore

/// The uses of apps that clients and parts of the daemon have reported. An app is used while one of them reports it; the report of a
/// client holds while it is connected.
final class UseReports {
    private var reports: [ObjectIdentifier: [Use: Set<AppID>]] = [:]
    private var hasVisibleChanged = false
    private let driver: CoreDriver

    init(driver: CoreDriver) { self.driver = driver }

    /// Replaces the apps that a client or a part of the daemon has reported for a use.
    func report(_ use: Use, of ids: Set<AppID>, by reporter: AnyObject) {
        reports[ObjectIdentifier(reporter), default: [:]][use] = ids
        tellCore(of: use)
    }

    /// Ends all reports of a reporter.
    func end(by reporter: AnyObject) {
        for use in (reports.removeValue(forKey: ObjectIdentifier(reporter)) ?? [:]).keys { tellCore(of: use) }
    }

    private func tellCore(of use: Use) {
        if use == .visible { hasVisibleChanged = true }
        driver.append(.setUses(use, apps(use)))
    }

    /// Returns whether the reports about visible apps have changed since the last call.
    func takeVisibleChange() -> Bool {
        defer { hasVisibleChanged = false }
        return hasVisibleChanged
    }

    /// Returns whether a client reports the use, of any number of apps.
    func isReported(_ use: Use) -> Bool { reports.values.contains { $0[use] != nil } }

    func apps(_ use: Use) -> Set<AppID> {
        reports.values.reduce(into: []) { $0.formUnion($1[use] ?? []) }
    }
}
