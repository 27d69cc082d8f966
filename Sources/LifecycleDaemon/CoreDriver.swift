import LifecycleCore
import Systemd

/// Takes what happens outside the core.
protocol InputHandler: AnyObject {
    /// Gives an input to the core. An input that comes while effects are performed waits until they are.
    func handle(_ input: Input)
}

/// Performs the effects that the core asks for.
protocol EffectHandler: AnyObject {
    func perform(_ effect: Effect)
    /// Tells the journal, the history and the subscribers of the transitions. Called when the replies are sent, and before the
    /// loop handles another event.
    func announceTransitions()
}

/// Keeps the core supplied with inputs and the time, saves its state and hands out its effects.
///
/// The core is never entered twice: inputs that come while effects are performed wait in a queue.
final class CoreDriver: InputHandler {
    private(set) var core = Lifecycle()
    weak var effectHandler: (any EffectHandler)?

    private let loop: EventLoop
    private let store: any StateStore
    private var queue: [Input] = []
    private var isDraining = false
    private var timer: TimerSource?
    private var announcement: DeferredSource?
    private var armedFor: Instant?

    /// - Parameter store: Saves what an input has changed before the effects are performed.
    init(loop: EventLoop, store: any StateStore) throws(SystemdError) {
        self.loop = loop
        self.store = store
        timer = try loop.timer { [weak self] in
            self?.armedFor = nil
            self?.handle(.tick)
        }
        announcement = try loop.deferred { [weak self] in self?.effectHandler?.announceTransitions() }
        announcement?.setPriority(.next)
    }

    func restore(_ core: Lifecycle) { self.core = core }
    /// Asks the core in place, without a copy of it.
    func isInForeground(_ id: AppID) -> Bool { core.foreground.contains(id) }

    var now: Instant { Instant(microseconds: loop.freshNow) }

    func handle(_ input: Input) {
        queue.append(input)
        guard !isDraining else { return }
        isDraining = true
        var index = 0
        while index < queue.count {
            while let due = core.nextDeadline, due <= now { step(.tick) }
            step(queue[index])
            index += 1
        }
        queue.removeAll(keepingCapacity: true)
        isDraining = false
        announcement?.schedule()
        arm()
    }

    private func step(_ input: Input) {
        let effects = core.handle(input, at: now)
        store.take(changesOf: &core)
        store.save(announcing: effects)
        for effect in effects { effectHandler?.perform(effect) }
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
