import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

extension AppManager {
    func perform(_ ready: Ready) {
        for announcement in ready.announcements { perform(announcement) }
        replies += ready.replies
        for message in ready.messages { send(message) }
        for operation in ready.operations { perform(operation) }
        for app in ready.forgotten { forget(driver.id(of: app.app), app.app, app.exit, app.reclaimed) }
        // The account of a reclaim belongs to the record of the end, which the same input may have made.
        for case .decision(.reclaimed(let id, let account), _) in ready.announcements {
            removeOutput(of: exits.ended.record(account, of: id))
        }
        guard ready.isFinished else { return }
        exits.ended.write()
        loop.exit(code: 0)
    }

    private func perform(_ announcement: Announcement) {
        switch announcement {
        case .app(let step):
            if step.to == .notRunning, let app = step.index {
                channels.close(app)
                if let app = driver.app(app) { exits.record(app) }
                catalog.endAdoption(of: step.app)
            }
            report(announcement, of: step.index)
        case .scene(let step): report(announcement, of: step.index)
        case .decision(let decision, let app):
            if case .launchFailed(let id, let why) = decision, let app {
                channels.close(app)
                catalog.endAdoption(of: id)
                removeOutput(of: exits.recordFailedLaunch(of: id, catalog[id], why.ofLaunch, at: driver.now))
            }
            report(announcement, of: app)
        }
    }

    private func send(_ message: Ready.Message) {
        switch message {
        case .deliver(let app, let delivery): deliver(delivery, to: app)
        case .answerAssertion(let app, let number, let refusal): answer(number, of: app, refusal)
        case .tellTimeLeft(let app, let end):
            channels.send(.timeLeft(milliseconds: end.map(millisecondsLeft)), to: app)
        case .expireTask(let app, let number, let deadline):
            let time = deadline.duration(since: driver.now).wholeMilliseconds
            channels.send(.expireTask(AssertionID(number), deadlineMilliseconds: time), to: app)
        }
    }

    private func perform(_ operation: Ready.Operation) {
        switch operation {
        case .spawn(let app): spawn(driver.id(of: app), app)
        case .stop(let app): stop(app)
        case .resume(let app): resume(app)
        case .terminate(let app): terminate(driver.id(of: app), app)
        case .kill(let app): processes.kill(app)
        case .measureMemory(let app):
            if let size = processes.tree(of: app)?.ownMemory {
                driver.append(.outcome(app, .memoryMeasured(UInt64(clamping: size))))
            }
        case .markMemory: memory.mark()
        case .readMemory: memory.read()
        }
    }

    /// Takes the replies that are to be sent.
    func takeReplies() -> [Ready.Answer] {
        defer { replies = [] }
        return replies
    }

    private func stop(_ app: AppIndex) {
        suspensions.willStop(app)
        if isRestoring { processes.stopLater(app) } else { processes.stop(app) }
    }

    private func resume(_ app: AppIndex) {
        trimmer.end(app)
        processes.resume(app)
    }

    /// Keeps what is to be announced, with what would be different by then.
    func report(_ announcement: Announcement, of app: AppIndex?) {
        let pid = processes.lastPID(of: app)
        reports.append(Report(announcement: announcement, app: app, pid: pid, instant: driver.now))
    }

    /// Lets resources, reclaims and watches follow the transitions. No reply waits for them.
    private func followTransitions() {
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

    /// Tells the journal and the history of the transitions and decisions in their order. Called when the replies are sent.
    ///
    /// - Parameter isRestored: Whether the transitions are those of the previous daemon, which resources and watches follow already.
    /// - Returns: What the subscribers are told next.
    @discardableResult
    func announce(isRestored: Bool = false) -> [Announcement] {
        if !isRestored { followTransitions() }
        suspensions.inputsHandled()
        let pending = reports
        reports = []
        for report in pending { tell(report) }
        return pending.map(\.announcement)
    }

    private func tell(_ report: Report) {
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

    /// Notes that no entry waits to be written: the next daemon need not announce the transitions.
    func entriesWritten() {
        guard hasUnwrittenTransitions, reports.isEmpty else { return }
        hasUnwrittenTransitions = false
        store.noteAnnounced()
    }

    private func member(behind decision: Decision) -> UInt32? {
        if case .interruptionBegan(let name) = decision { return interruptions.bound.member(of: name) }
        if case .interruptionEnded(let name) = decision { return interruptions.bound.member(of: name) }
        return decision.app.flatMap { catalog.member(behind: $0) }
    }
}

/// What is performed and not announced.
struct Report {
    let announcement: Announcement
    let app: AppIndex?
    /// The main process of the app at that time.
    let pid: ProcessID?
    let instant: Instant
}
