import LifecycleCore
import Systemd

/// Keeps the core supplied with inputs and the time, and hands out its effects.
///
/// Inputs that come while effects are being done wait in a queue, so that the core is never entered twice.
final class CoreDriver {
    private(set) var core = Lifecycle()
    private let loop: EventLoop
    private var queue: [Input] = []
    private var isDraining = false
    private var timer: TimerSource?
    private var armedFor: Instant?

    /// Does one effect. Set before the first input.
    var perform: (Effect) -> Void = { _ in }

    /// Told which apps an input has changed, before the effects are done.
    var keep: ([AppID], Lifecycle) -> Void = { _, _ in }

    init(loop: EventLoop) throws(SystemdError) {
        self.loop = loop
        timer = try loop.timer { [weak self] in
            self?.armedFor = nil
            self?.give(.tick)
        }
    }

    /// Goes on with a core that was saved. Before the first input.
    func restore(_ core: Lifecycle) { self.core = core }

    /// The time that the core would be told now.
    var now: Instant { Instant(microseconds: loop.freshNow) }

    func give(_ input: Input) {
        queue.append(input)
        guard !isDraining else { return }
        isDraining = true
        var index = 0
        while index < queue.count {
            while let due = core.nextDeadline, due <= now { handle(.tick) }
            handle(queue[index])
            index += 1
        }
        queue.removeAll(keepingCapacity: true)
        isDraining = false
        arm()
    }

    private func handle(_ input: Input) {
        let effects = core.handle(input, at: now)
        keep(core.takeChangedApps(), core)
        for effect in effects { perform(effect) }
    }

    private func arm() {
        guard core.nextDeadline != armedFor else { return }
        armedFor = core.nextDeadline
        if let deadline = armedFor {
            timer?.arm(atMicroseconds: deadline.microseconds)
        } else {
            timer?.disarm()
        }
    }
}
