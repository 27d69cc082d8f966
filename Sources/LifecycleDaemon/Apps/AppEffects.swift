import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

extension AppManager {
    func perform(_ effects: [Effect]) {
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .transition(let transition): perform(transition)
        case .stop(let app): stop(app)
        case .resume(let app): resume(app)
        case .reply(let id, let reply): replies.append((id, reply))
        case .spawn(let app): spawn(driver.id(of: app), app)
        case .terminate(let app): terminate(driver.id(of: app), app)
        case .kill(let app): processes.kill(app)
        case .deliver(let app, let delivery): deliver(delivery, to: app)
        case .answerAssertion(let app, let number, let refusal): answer(number, of: app, refusal)
        case .tellTimeLeft(let app, let end):
            channels.send(.timeLeft(milliseconds: end.map(millisecondsLeft)), to: app)
        case .expireTask(let app, let number, let deadline):
            let time = deadline.duration(since: driver.now).wholeMilliseconds
            channels.send(.expireTask(AssertionID(number), deadlineMilliseconds: time), to: app)
        case .measureMemory(let app):
            if let size = processes.tree(of: app)?.ownMemory {
                driver.append(.outcome(app, .memoryMeasured(UInt64(clamping: size))))
            }
        case .markMemory: memory.mark()
        case .readMemory: memory.read()
        case .sceneTransition(let transition):
            announcements.append((.scene(transition), transition.index, processes.lastPID(of: transition.index)))
        case .decision(let decision, let app): record(decision, of: app)
        case .forgotten(let app, let exit, let reclaimed): forget(driver.id(of: app), app, exit, reclaimed)
        case .finished:
            exits.ended.write()
            loop.exit(code: 0)
        }
    }

    /// Takes the replies that are to be sent.
    func takeReplies() -> [(RequestID, Reply)] {
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

    private func perform(_ transition: Transition) {
        guard let app = transition.index else { return }
        if transition.to == .notRunning {
            channels.close(app)
            if let app = driver.app(app) { exits.record(app) }
            catalog.endAdoption(of: transition.app)
        }
        announcements.append((.app(transition), app, processes.lastPID(of: app)))
    }

    /// Lets resources, reclaims and watches follow the transitions. No reply waits for them.
    private func follow(_ announcements: [(Announcement, AppIndex?, ProcessID?)]) {
        let transitions = announcements.compactMap { announcement, app, _ in
            announcement.state.flatMap { state in app.map { (app: $0, state: state) } }
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
    /// - Returns: The transitions, which the subscribers are told next.
    @discardableResult
    func announce(isRestored: Bool = false) -> [Announcement] {
        if !isRestored { follow(announcements) }
        suspensions.inputsHandled()
        guard !announcements.isEmpty || !decisions.isEmpty else { return [] }
        let pending = announcements
        var pendingDecisions = decisions[...]
        decisions = []
        announcements = []
        for (announcement, _, _) in pending { unwritten.append(announcement) }
        for (position, (announcement, _, pid)) in pending.enumerated() {
            while let first = pendingDecisions.first, first.position <= position {
                tell(pendingDecisions.removeFirst())
            }
            switch announcement {
            case .app(let transition):
                let member = catalog.member(behind: transition.app)
                history.append(transition, pid: pid, member: member)
                log.write(transition, pid: pid, member: member)
                if transition.to == .notRunning { desktop?.appEnded(transition.app, transition.reason) }
            case .scene(let transition): log.write(transition, pid: pid, member: catalog.member(behind: transition.app))
            }
        }
        for report in pendingDecisions { tell(report) }
        return pending.map { $0.0 }
    }

    /// Notes that no entry waits to be written: the next daemon need not announce the transitions.
    func entriesWritten() {
        guard !unwritten.isEmpty, announcements.isEmpty else { return }
        unwritten = []
        store.noteAnnounced()
    }

    private func tell(_ report: DecisionReport) {
        let member = member(behind: report.decision)
        history.append(report.decision, pid: report.pid, member: member, at: report.instant)
        log.write(report.decision, pid: report.pid, member: member)
    }

    private func member(behind decision: Decision) -> UInt32? {
        if case .interruptionBegan(let name) = decision { return interruptions.bound.member(of: name) }
        if case .interruptionEnded(let name) = decision { return interruptions.bound.member(of: name) }
        return decision.app.flatMap { catalog.member(behind: $0) }
    }

    private func record(_ decision: Decision, of app: AppIndex?) {
        if case .launchFailed(let id, let why) = decision, let app {
            channels.close(app)
            catalog.endAdoption(of: id)
            removeOutput(of: exits.recordFailedLaunch(of: id, catalog[id], why.ofLaunch, at: driver.now))
        }
        if case .reclaimed(let id, let account) = decision { removeOutput(of: exits.ended.record(account, of: id)) }
        decisions.append(
            DecisionReport(
                decision: decision, instant: driver.now, pid: processes.lastPID(of: app), position: announcements.count)
        )
    }
}

/// A decision that is made and not announced.
struct DecisionReport {
    let decision: Decision
    let instant: Instant
    /// The main process of its app at that time.
    let pid: ProcessID?
    /// The number of transitions that were not announced, and come before it.
    let position: Int
}
