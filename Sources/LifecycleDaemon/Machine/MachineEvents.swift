import LifecycleCore
import Systemd

/// Passes the events of logind and of the clock on to the apps.
///
/// The daemon needs none of them: without a bus or logind the session is always seen and the machine never sleeps.
final class MachineEvents {
    private let manager: AppManager
    private let log: any JournalSink
    private var bus: Bus?
    private var session: LoginSession?
    private let clock: ClockWatch?
    private var sleep: SleepDelay?
    private var latestSleep: TimerSource?

    init(events: Events, manager: AppManager, choice: LoginSessionChoice, log: any JournalSink) {
        self.manager = manager
        self.log = log
        do {
            clock = try ClockWatch(events: events)
            if let problem = clock?.problem { log.write(.warning, problem) }
        } catch {
            clock = nil
            log.write(.warning, "cannot watch the clock: \(error); apps get no time-change")
        }
        follow(choice, events)
    }

    private func follow(_ choice: LoginSessionChoice, _ events: Events) {
        do throws(SystemdError) {
            latestSleep = try events.timer(.latestSleep)
            let bus = try Bus(loop: events.loop) { [weak self] in self?.reportProblem($0) }
            session = LoginSession(
                bus: bus, choice: choice, reported: manager.core.foregroundBlockers, before: manager.session
            ) { [weak self] in self?.handle($0) }
            self.bus = bus
        } catch {
            reportProblem(error.description)
        }
    }

    private func reportProblem(_ problem: String) {
        log.write(.notice, "cannot follow the login session: \(problem); ignoring lock, sleep and switches")
    }

    func noticeClock() { if clock?.timerEnded() != nil { manager.handle(.timeChange) } }

    func noticeTimeZone(_ event: InotifyEvent) {
        for _ in clock?.zoneChanges(in: event) ?? [] { manager.handle(.timeChange) }
    }

    private func handle(_ event: LoginSession.Event) {
        switch event {
        case .locked: manager.handle(.lock)
        case .unlocked: manager.handle(.unlock)
        case .switchedAway: manager.handle(.switchAway)
        case .switchedBack: manager.handle(.switchBack)
        case .willSleep(let delay): willSleep(delay)
        case .didWake:
            letSleep()
            manager.handle(.wake)
        case .followed(let identifier): log.write(.debug, "lifed follows session \(identifier)")
        case .changed(let session): manager.session = session
        }
    }

    /// Delays the sleep until the apps are suspended, but less than logind tolerates.
    private func willSleep(_ delay: SleepDelay) {
        sleep = delay
        if let longest = delay.longest {
            let margin = min(longest / 5, .milliseconds(500))
            let time = UInt64(clamping: (longest - margin).wholeMicroseconds)
            latestSleep?.arm(afterMicroseconds: time)
        }
        manager.handle(.sleep) { [weak self] in if self?.sleep === delay { self?.letSleep() } }
    }

    func letSleep() {
        latestSleep?.disarm()
        sleep?.release()
        sleep = nil
    }
}

extension LoginSession {
    /// Continues with the state that the apps know from the previous daemon.
    fileprivate convenience init(
        bus: Bus, choice: LoginSessionChoice, reported: some Sequence<ForegroundBlocker>, before: FollowedLoginSession,
        handler: @escaping (Event) -> Void
    ) {
        let reported = Set(reported)
        var state = LoginSessionState()
        state.hint = reported.contains(.locked) && before.hint
        state.wasAsked = reported.contains(.locked) && !before.hint
        state.isActive = !reported.contains(.switchedAway)
        self.init(
            bus: bus, choice: choice, reported: state, path: before.path, isAsleep: reported.contains(.asleep),
            handler: handler)
    }
}
