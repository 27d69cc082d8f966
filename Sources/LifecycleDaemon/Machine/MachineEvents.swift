import LifecycleCore
import Systemd

/// What logind and the clock tell, on its way to the apps.
///
/// Nothing of it is needed: without a bus or a logind the session is always seen and the machine never sleeps, and
/// "lifectl simulate" does what they would do.
final class MachineEvents {
    /// Told when the wall clock shows something else than it would have shown.
    var onClockChange: () -> Void = {}

    private let manager: AppManager
    private let loop: EventLoop
    private var bus: Bus?
    private var session: LoginSession?
    private var clock: ClockWatch?
    private var sleep: SleepDelay?
    private var latestSleep: TimerSource?

    init(loop: EventLoop, manager: AppManager, choice: SessionChoice, log: Log) {
        self.loop = loop
        self.manager = manager
        follow(choice, log: log)
        do {
            clock = try ClockWatch(loop: loop) { [weak self] _ in self?.clockChanged() }
            if let problem = clock?.problem { log.write(LogEntry(priority: .warning, message: problem)) }
        } catch {
            log.write(LogEntry(priority: .warning, message: "changes of the clock cannot be told: \(error)"))
        }
    }

    private func follow(_ choice: SessionChoice, log: Log) {
        do throws(SystemdError) {
            latestSleep = try loop.timer { [weak self] in self?.letSleep() }
            let bus = try Bus(loop: loop)
            bus.onProblem = {
                log.write(
                    LogEntry(priority: .notice, message: "lock, sleep and switches of the session are not told: \($0)"))
            }
            // A daemon before may have told the apps already what logind is asked for now.
            let session = LoginSession(
                bus: bus, choice: choice, told: manager.core.concealments, before: manager.session
            ) { [weak self] in self?.take($0) }
            session.onChange = { [weak self] in self?.manager.session = $0 }
            session.onFollow = { log.write(LogEntry(priority: .debug, message: "follows session \($0)")) }
            (self.bus, self.session) = (bus, session)
        } catch {
            log.write(
                LogEntry(priority: .notice, message: "lock, sleep and switches of the session are not told: \(error)"))
        }
    }

    private func take(_ event: LoginSession.Event) {
        switch event {
        case .locked: manager.tell(.lock)
        case .unlocked: manager.tell(.unlock)
        case .switchedAway: manager.tell(.switchAway)
        case .switchedBack: manager.tell(.switchBack)
        case .willSleep(let delay): willSleep(delay)
        case .didWake:
            letSleep()
            manager.tell(.wake)
        }
    }

    /// The machine waits until the apps are asleep, and not so long that logind would complain of it.
    private func willSleep(_ delay: SleepDelay) {
        sleep = delay
        if let longest = delay.longest {
            let margin = min(longest / 5, .milliseconds(500))
            let time = UInt64(clamping: (longest - margin).wholeMicroseconds)
            latestSleep?.arm(atMicroseconds: loop.freshNow + time)
        }
        manager.tell(.sleep) { [weak self] in if self?.sleep === delay { self?.letSleep() } }
    }

    private func letSleep() {
        latestSleep?.disarm()
        sleep?.release()
        sleep = nil
    }

    private func clockChanged() {
        onClockChange()
        manager.tell(.timeChange)
    }
}

extension LoginSession {
    /// Goes on from what the apps were told before.
    convenience init(
        bus: Bus, choice: SessionChoice, told: some Sequence<Concealment>, before: FollowedSession,
        handler: @escaping (Event) -> Void
    ) {
        let told = Set(told)
        var state = SessionState()
        state.hint = told.contains(.locked) && before.hint
        state.wasAsked = told.contains(.locked) && !before.hint
        state.isActive = !told.contains(.switchedAway)
        self.init(
            bus: bus, choice: choice, told: state, path: before.path, isAsleep: told.contains(.asleep), handler: handler
        )
    }
}
