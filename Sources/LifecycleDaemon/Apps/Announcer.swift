import LifecycleCore
import Processes

/// Tells what has happened, in its order, after the replies: resources, reclaims and watches follow the transitions, and the journal and
/// the history are told of them.
struct Announcer {
    let driver: CoreDriver
    let catalog: AppCatalog
    let processes: AppProcesses
    let resources: StateResources
    let memory: MemoryWatch
    let trimmer: MemoryTrimmer
    let suspensions: SuspendedApps
    /// Nil in the system instance.
    let desktop: DesktopSession?
    let interruptions: Interruptions
    let history: History
    let log: any JournalSink
    /// What is not announced yet.
    private(set) var reports: [Report] = []
    /// True while entries of announced transitions wait to be written.
    private(set) var hasUnwrittenTransitions = false

    /// What has happened, with what would be different when it is announced.
    struct Report {
        let announcement: Announcement
        let app: AppIndex?
        /// The main process of the app at that time.
        let pid: ProcessID?
        let instant: Instant
    }

    mutating func keep(_ announcements: [Announcement]) {
        for announcement in announcements {
            let app = announcement.app.flatMap { driver.index(of: $0) }
            let pid = processes.lastPID(of: app)
            reports.append(Report(announcement: announcement, app: app, pid: pid, instant: driver.now))
        }
    }

    /// Announces what is kept. Called when the replies are sent: none waits for it.
    ///
    /// - Parameter isRestored: Whether the transitions are those of the previous daemon, which resources and watches follow already.
    /// - Returns: What the subscribers are told next.
    @discardableResult
    mutating func announce(isRestored: Bool = false) -> [Announcement] {
        let pending = reports
        reports = []
        if !isRestored { follow(pending) }
        suspensions.inputsHandled()
        for report in pending { tell(report) }
        return pending.map(\.announcement)
    }

    private func follow(_ reports: [Report]) {
        let transitions: [(app: AppIndex, state: AppState)] = reports.compactMap { report in
            guard case .app(let step) = report.announcement, let app = report.app else { return nil }
            return (app, step.to)
        }
        for (index, (app, state)) in transitions.enumerated() {
            // A state that the app has left already needs nothing; the end of a launch does.
            if state != .notRunning, transitions[(index + 1)...].contains(where: { $0.app == app }) { continue }
            resources.enter(state, app)
            trimmer.end(app)
            suspensions.entered(state, app)
            switch state {
            case .inactive, .active:
                memory.expectUse()
                desktop?.appCameToForeground(app)
            case .suspended:
                if catalog.isReclaimedWhenSuspended(driver.id(of: app)) { trimmer.begin(app) }
            case .background, .terminating, .notRunning: break
            }
        }
        resources.raise()
    }

    private mutating func tell(_ report: Report) {
        let pid = report.pid
        switch report.announcement {
        case .app(let step):
            hasUnwrittenTransitions = true
            let member = catalog.member(behind: step.app)
            history.append(step, pid: pid, member: member)
            log.write(step, pid: pid, member: member)
            if step.to == .notRunning { desktop?.appEnded(step.app, step.reason) }
        case .scene(let step):
            hasUnwrittenTransitions = true
            log.write(step, pid: pid, member: catalog.member(behind: step.app))
        case .decision(let decision, _):
            let member = member(behind: decision)
            history.append(decision, pid: pid, member: member, at: report.instant)
            log.write(decision, pid: pid, member: member)
        }
    }

    private func member(behind decision: Decision) -> UInt32? {
        switch decision {
        case .interruptionBegan(let name), .interruptionEnded(let name): interruptions.bound.member(of: name)
        default: decision.app.flatMap { catalog.member(behind: $0) }
        }
    }

    /// Notes that no entry waits to be written: the next daemon need not announce the transitions.
    mutating func entriesWritten() {
        guard hasUnwrittenTransitions, reports.isEmpty else { return }
        hasUnwrittenTransitions = false
        driver.store.noteAnnounced()
    }
}
