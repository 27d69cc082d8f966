import LifecycleCore
import Systemd

/// Takes what happens outside the core.
protocol InputHandler: AnyObject {
    /// Gives an input to the core. An input that comes while effects are performed waits until they are.
    func handle(_ input: Input)
    func id(of app: AppIndex) -> AppID
}

/// Performs the effects that the core asks for.
protocol EffectHandler: AnyObject {
    /// Performs the effects of an input, which are in the order of ``EffectOrder``.
    func perform(_ effects: [Effect])
    /// Announces the transitions, and begins what has waited until the effects were performed. Called when the replies are sent,
    /// and before the loop handles another event.
    func inputsHandled()
}

/// Keeps the core supplied with inputs and the time, saves its state and hands out its effects.
///
/// The core is never entered twice: inputs that come while effects are performed wait in a queue.
final class CoreDriver: InputHandler {
    private(set) var core = Engine()
    /// Performs the effects, and owns the driver. Set before the first input.
    unowned var effectHandler: (any EffectHandler)?

    private let loop: EventLoop
    private let store: StateLog
    private var queue: [Input] = []
    /// The effects of the steps that are performed and not saved.
    private var unsaved: [[Effect]] = []
    /// A Boolean value that indicates whether an input is handled, or its effects are performed.
    private(set) var isPerforming = false
    /// A Boolean value that indicates whether inputs were handled whose transitions are not announced.
    private(set) var hasHandledInputs = false
    private var hasUnsavedStep: Bool { !unsaved.isEmpty }
    /// Saves the steps after the journal entries of a round, with one write for all of it.
    private let saving: IdleSource
    private let timer: TimerSource
    private let announcement: LaterSource
    private var armedFor: Instant?

    /// - Parameter store: Saves what an input has changed before the effects are performed.
    init(loop: EventLoop, store: StateLog) throws(SystemdError) {
        self.loop = loop
        self.store = store
        let owner = Owner<CoreDriver>()
        timer = try loop.timer {
            owner.object?.armedFor = nil
            owner.object?.handle(.tick)
        }
        saving = try loop.idle(isLast: true) { owner.object?.saveUnsaved() }
        announcement = try loop.followUp { owner.object?.performer.inputsHandled() }
        owner.object = self
    }

    /// The handler of effects: the effects of a saved step must not vanish.
    private var performer: any EffectHandler {
        guard let effectHandler else { preconditionFailure("the driver has no handler of effects") }
        return effectHandler
    }

    func restore(_ core: Engine) { self.core = core }

    /// Returns whether an app runs with this policy, and so need not be defined.
    func isRunning(_ app: AppID, with policy: Policy) -> Bool { core.isRunning(app, with: policy) }

    func id(of app: AppIndex) -> AppID { core.latestID(of: app) }
    /// Returns the index of an app that is known, or is about to be forgotten.
    func index(of id: AppID) -> AppIndex? { core.latestIndex(of: id) }
    /// Returns the app of this index; nil if it is not known any more.
    func app(_ app: AppIndex) -> AppMachine? { core.machine(of: app) }

    var now: Instant { Instant(microseconds: loop.freshNow) }

    func handle(_ input: Input) {
        guard !isPerforming else { return queue.append(input) }
        isPerforming = true
        hasHandledInputs = true
        let performer = performer
        handleInTime(input, performer)
        finishInputs(performer)
    }

    /// Gives the core inputs that happened before the deadlines that are due. What they cause comes after all of them.
    func handleOverdue(_ inputs: [Input]) {
        guard !inputs.isEmpty else { return }
        isPerforming = true
        hasHandledInputs = true
        let performer = performer
        for input in inputs { handleOne(input, performer) }
        finishInputs(performer)
    }

    private func finishInputs(_ performer: any EffectHandler) {
        var index = 0
        while index < queue.count {
            handleInTime(queue[index], performer)
            index += 1
        }
        if index > 0 { queue.removeAll(keepingCapacity: true) }
        isPerforming = false
        announcement.schedule()
        arm()
    }

    private func handleInTime(_ input: Input, _ performer: any EffectHandler) {
        while let due = core.nextDeadline, due <= now { handleOne(.tick, performer) }
        handleOne(input, performer)
    }

    private func handleOne(_ input: Input, _ performer: any EffectHandler) {
        let effects = core.handle(input, at: now)
        if Self.canSaveLater(input, effects) { unsaved.append(effects) } else { save(effects) }
        performer.perform(EffectOrder.ordered(effects))
    }

    // MARK: Saving

    /// True if the next daemon takes the step again from the record before it: it stops or resumes the app
    /// once more, which changes nothing, and gets the same outcome. The reply to a change of the foreground does not wait for the
    /// record. The reply to a stop does: the next daemon may look at the processes after its first answers.
    private nonisolated static func canSaveLater(_ input: Input, _ effects: [Effect]) -> Bool {
        guard case .outcome(_, let outcome) = input else { return false }
        switch outcome {
        case .stopped: return effects.allSatisfy { $0.isTransition }
        case .resumed: return effects.allSatisfy { $0.isTransition || $0.isReply }
        case .spawned, .spawnFailed, .exited, .gone, .stopIncomplete, .resumedByOther, .stoppedByOther,
            .signalPending, .memoryMeasured:
            return false
        }
    }

    private func save(_ effects: [Effect]) {
        store.save(changesOf: &core, announcing: hasUnsavedStep ? unsaved.flatMap { $0 } + effects : effects)
        forgetUnsaved()
    }

    private func forgetUnsaved() {
        guard hasUnsavedStep else { return }
        unsaved.removeAll(keepingCapacity: true)
    }

    /// Lets the steps that were performed be saved. Called when the replies are sent.
    func repliesSent() {
        hasHandledInputs = false
        if hasUnsavedStep { saving.schedule() }
    }

    /// Saves the steps that were performed and not saved, and what was added to the store meanwhile.
    func saveUnsaved() {
        if hasUnsavedStep { save([]) } else { store.commit() }
    }

    /// Saves the steps that were performed and not saved, and that the journal has the entries of all transitions.
    func saveAnnounced() {
        if hasUnsavedStep { store.add(changesOf: &core) }
        forgetUnsaved()
        store.noteAnnounced()
    }

    private func arm() {
        guard core.nextDeadline != armedFor else { return }
        armedFor = core.nextDeadline
        if let deadline = armedFor {
            timer.arm(atMicroseconds: deadline.microseconds)
        } else {
            timer.disarm()
        }
    }
}

/// The order in which effects are performed: their own, but replies after the messages that follow them. The client may take the
/// processor as soon as it has its reply, and an app must not wait for it.
nonisolated enum EffectOrder {
    static func ordered(_ effects: [Effect]) -> [Effect] {
        var ordered: [Effect] = []
        var replies: [Effect] = []
        for effect in effects {
            switch effect.kind {
            case .reply: replies.append(effect)
            case .message, .transition, .decision: ordered.append(effect)
            case .action:
                ordered += replies + [effect]
                replies = []
            }
        }
        return ordered + replies
    }
}

nonisolated extension Effect {
    fileprivate enum Kind { case reply, message, transition, decision, action }

    fileprivate var kind: Kind {
        switch self {
        case .reply: .reply
        case .deliver: .message
        case .transition, .sceneTransition: .transition
        // Told after the replies, as transitions are.
        case .decision: .decision
        case .spawn, .stop, .resume, .terminate, .kill, .answerAssertion, .tellTimeLeft, .expireTask, .measureMemory,
            .markMemory, .readMemory, .forgotten, .finished:
            .action
        }
    }

    fileprivate var isReply: Bool { kind == .reply }
    fileprivate var isTransition: Bool { kind == .transition }
}
