import LifecycleCore
import Systemd

/// Passes the events of logind and of the clock on to the apps.
///
/// The daemon needs none of them: without a bus or logind the session is always seen and the machine never sleeps.
final class MachineEvents {
    private let driver: CoreDriver
    private let log: any JournalSink
    private let choice: LoginSessionChoice
    private let clock: ClockWatch?
    private let latestSleep: TimerSource
    private var bus: Bus?
    private var login: LoginSession?
    /// Saved when the inputs are handled that have led to it.
    private var session = FollowedLoginSession()
    private var savedSession = FollowedLoginSession()
    /// The delay of the sleep that the machine is about to begin, and the request that the apps are suspended for it.
    private var sleep: (delay: SleepDelay, request: RequestID)?

    init(driver: CoreDriver, choice: LoginSessionChoice, log: any JournalSink) throws(SystemdError) {
        self.driver = driver
        self.choice = choice
        self.log = log
        latestSleep = try driver.events.timer(.latestSleep)
        do {
            clock = try ClockWatch(events: driver.events)
            if let problem = clock?.problem { log.write(.warning, problem) }
        } catch {
            clock = nil
            log.write(.warning, "cannot watch the clock: \(error); apps get no time-change")
        }
    }

    /// Begins to follow the session, from what the previous daemon has saved of it.
    func begin() {
        if let record = driver.store.state[.session] { session.restore(record) }
        savedSession = session
        do throws(SystemdError) {
            let bus = try Bus(loop: driver.events.loop) { [weak self] in self?.reportProblem($0) }
            login = LoginSession(
                bus: bus, choice: choice, reported: driver.core.foregroundBlockers, before: session
            ) { [weak self] in self?.handle($0) }
            self.bus = bus
        } catch {
            reportProblem(error.description)
        }
    }

    /// Saves the session that is followed. Called when the inputs are handled that have led to it.
    func saveSession() {
        guard session != savedSession else { return }
        savedSession = session
        driver.store.save(.session, session.saved)
    }

    private func reportProblem(_ problem: String) {
        log.write(.notice, "cannot follow the login session: \(problem); ignoring lock, sleep and switches")
    }

    func noticeClock() { if clock?.timerEnded() != nil { driver.request(.machine(.timeChange)) } }

    func noticeTimeZone(_ event: InotifyEvent) {
        for _ in clock?.zoneChanges(in: event) ?? [] { driver.request(.machine(.timeChange)) }
    }

    private func handle(_ event: LoginSession.Event) {
        switch event {
        case .locked: driver.request(.machine(.lock))
        case .unlocked: driver.request(.machine(.unlock))
        case .switchedAway: driver.request(.machine(.switchAway))
        case .switchedBack: driver.request(.machine(.switchBack))
        case .willSleep(let delay): willSleep(delay)
        case .didWake:
            letSleep()
            driver.request(.machine(.wake))
        case .followed(let identifier): log.write(.debug, "lifed follows session \(identifier)")
        case .changed(let session): self.session = session
        }
    }

    /// Delays the sleep until the apps are suspended, but less than logind tolerates.
    private func willSleep(_ delay: SleepDelay) {
        if let longest = delay.longest {
            let margin = min(longest / 5, .milliseconds(500))
            let time = UInt64(clamping: (longest - margin).wholeMicroseconds)
            latestSleep.arm(afterMicroseconds: time)
        }
        sleep = (delay, driver.request(.machine(.sleep)))
    }

    func letSleep() {
        latestSleep.disarm()
        sleep?.delay.release()
        sleep = nil
    }

    /// Handles the reply to a request of the daemon's own.
    func noteReply(to request: RequestID) { if request == sleep?.request { letSleep() } }
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
