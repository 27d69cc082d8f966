import AppChannel
import LifecycleCore
import Processes
import Systemd

extension AppManager: EffectHandler {
    /// The transitions of a change of the foreground app. There is room for them before a client waits.
    private static let usualTransitionCount = 8

    func perform(_ effects: Span<Effect>) {
        var order = EffectOrder()
        while let position = order.next(in: effects) {
            switch effects[position] {
            case .transition: performTransition(in: effects, at: position)
            case .stop(let app): stop(app)
            case .resume(let app): resume(app)
            case .reply(let id, let reply): end(id, with: reply)
            case .spawn, .terminate, .kill, .deliver, .answerAssertion, .tellTimeLeft, .expireTask, .measureMemory,
                .checkMemory, .sceneTransition, .decision, .forgotten, .finished:
                perform(effects[position])
            }
        }
    }

    // Within the loop, the accesses of all effects would be made for each input.
    @inline(never) private func perform(_ effect: Effect) {
        switch effect {
        case .transition, .stop, .resume, .reply: break
        case .spawn(let app):
            spawn(driver.id(of: app), app)
            ownMemory.noteLaunch()
        case .terminate(let app): terminate(driver.id(of: app), app)
        case .kill(let app): processes.kill(app)
        case .deliver(let app, let delivery): deliver(delivery, to: app)
        case .answerAssertion(let app, let number, let refusal): answer(number, of: app, refusal)
        case .tellTimeLeft(let app, let end):
            channels.send(.timeLeft(milliseconds: end.map(millisecondsLeft)), to: app)
        case .expireTask(let app, let number, let deadline):
            let time = deadline.duration(since: driver.now).wholeMilliseconds
            channels.send(.expireTask(AssertionID(number), deadlineMilliseconds: time), to: app)
        case .measureMemory(let app): memory.measure(app)
        case .checkMemory(let app, let atOnce): memory.assess(after: app, atOnce: atOnce)
        case .sceneTransition(let transition):
            report(.announcement(.scene(transition)), of: transition.index)
        case .decision(let decision, let app): record(decision, of: app)
        case .forgotten(let app, let exit, let reclaimed): forget(driver.id(of: app), app, exit, reclaimed)
        case .finished:
            announceTransitions()
            store.end()
            exits.ended.write()
            loop.exit(code: 0)
        }
    }

    @inline(never) private func end(_ request: RequestID, with reply: LifecycleCore.Reply) {
        if !ownRequests.isEmpty, let done = ownRequests.removeValue(forKey: request) {
            done()
        } else {
            observer?.requestEnded(request, with: reply)
        }
    }

    @inline(never) private func stop(_ app: AppIndex) {
        suspensions?.willStop(app)
        if isRestoring { processes.stopSoon(app) } else { processes.stop(app) }
    }

    @inline(never) private func resume(_ app: AppIndex) {
        trimmer.end(app)
        processes.resume(app)
    }

    /// Performs a transition, which is copied into the list of announcements only: as an argument, it would be copied for the call.
    @inline(never) private func performTransition(in effects: Span<Effect>, at position: Int) {
        guard case .transition(let transition) = effects[position], let app = transition.index else { return }
        if transition.to == .notRunning {
            channels.close(app)
            if let app = self.app(app) { exits.record(app) }
            endAdoption(of: transition.app, app)
        }
        report(.announcement(.app(transition)), of: app)
    }

    /// Lets resources, reclaims and watches follow the transitions. No reply waits for them.
    private func followTransitions() {
        // An app that ends may lead to inputs, and so to further transitions.
        while followedCount < reports.count {
            var transitions: [(app: AppIndex, state: AppState)] = []
            for report in reports[followedCount...] {
                guard case .announcement(let announcement) = report.subject else { continue }
                if let app = report.app, let state = announcement.state { transitions.append((app, state)) }
            }
            followedCount = reports.count
            follow(transitions)
        }
    }

    private func follow(_ transitions: [(app: AppIndex, state: AppState)]) {
        for (index, (app, state)) in transitions.enumerated() {
            // A state that the app has left already needs nothing; the end of a launch does.
            if state != .notRunning, transitions[(index + 1)...].contains(where: { $0.app == app }) { continue }
            resources.enter(state, app)
            trimmer.end(app)
            suspensions?.entered(state, app)
            switch state {
            case .inactive, .active:
                memory.expectUse()
                desktop?.appCameToForeground(app)
            case .suspended:
                if catalog[driver.id(of: app)]?.reclaimWhenSuspended ?? trimsWhenSuspended { trimmer.begin(app) }
            case .background, .terminating, .notRunning: break
            }
        }
    }

    func inputsHandled() {
        announceTransitions()
        observer?.inputsHandled()
    }

    /// Tells the journal, the history and the subscribers what has happened.
    func announceTransitions() {
        driver.repliesSent()
        processes.repliesSent()
        followTransitions()
        suspensions?.inputsHandled()
        guard !reports.isEmpty else { return }
        let pending = reports
        reports = []
        reports.reserveCapacity(Self.usualTransitionCount)
        followedCount = 0
        for report in pending {
            if case .announcement(let announcement) = report.subject { unwritten.append(announcement) }
        }
        for report in pending { announce(report) }
    }

    private func announce(_ report: Report) {
        switch report.subject {
        case .announcement(.app(let transition)):
            history.append(transition, pid: report.pid)
            log.write(transition, pid: report.pid)
            observer?.stateChanged(transition)
            if transition.to == .notRunning, let app = report.app {
                desktop?.appEnded(transition.app, app, transition.reason)
            }
        case .announcement(.scene(let transition)):
            log.write(transition, pid: report.pid)
            observer?.sceneStateChanged(transition)
        case .decision(let decision, let instant):
            history.append(decision, pid: report.pid, at: instant)
            log.write(decision, pid: report.pid)
        }
    }

    private func record(_ decision: Decision, of app: AppIndex?) {
        if case .launchFailed(let id, let why) = decision, let app {
            channels.close(app)
            endAdoption(of: id, app)
            exits.recordFailedLaunch(of: id, catalog[id], why, at: driver.now)
        }
        if case .reclaimed(let id, let account) = decision { exits.ended.record(account, of: id) }
        report(.decision(decision, at: driver.now), of: app)
    }

    private func report(_ subject: Report.Subject, of app: AppIndex?) {
        reports.append(Report(subject: subject, app: app, pid: processes.lastPID(of: app)))
    }
}

extension AppManager: LogDelegate {
    func entriesWritten() {
        guard !unwritten.isEmpty, reports.isEmpty else { return }
        unwritten = []
        driver.saveAnnounced()
    }
}

/// A transition or decision that the journal, the history and the subscribers are told of when the replies are sent.
struct Report {
    enum Subject {
        case announcement(Announcement)
        indirect case decision(Decision, at: Instant)
    }

    let subject: Subject
    let app: AppIndex?
    /// The main process of the app at that time.
    let pid: ProcessID?
}
