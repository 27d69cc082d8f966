import DequeModule
import LifecycleCore
import Systemd

/// Holds the core: keeps it supplied with inputs and the time, and saves its state before what follows from it is performed.
///
/// Nothing enters the core from within. Whatever happens is appended to the inbox, the outcome of an operation that is performed
/// just now included, and ``handleInputs(perform:)`` handles one input after the other.
final class CoreDriver {
    private(set) var core = Engine()
    /// What has happened and is not handled.
    private(set) var inbox: Deque<Input> = []

    let events: Events
    /// The state for the next daemon.
    let store: StateLog
    /// Wakes the loop for the next deadline, which is handled as after any other event.
    private let timer: TimerSource
    private var armedFor: Instant?
    private var requestCount: UInt64 = 0

    init(events: Events, store: StateLog) throws(SystemdError) {
        self.events = events
        self.store = store
        timer = try events.timer(.deadline)
    }

    func restore(_ core: Engine) { self.core = core }

    /// Returns whether an app runs with this policy, and so need not be defined.
    func isRunning(_ app: AppID, with policy: Policy) -> Bool { core.isRunning(app, with: policy) }

    func id(of app: AppIndex) -> AppID { core.latestID(of: app) }
    /// Returns the index of an app that is known, or is about to be forgotten.
    func index(of id: AppID) -> AppIndex? { core.latestIndex(of: id) }
    /// Returns the app of this index; nil if it is not known any more.
    func app(_ app: AppIndex) -> AppMachine? { core.machine(of: app) }
    func app(_ id: AppID) -> AppMachine? { core.knownApps[id] }
    /// All apps by id.
    var apps: [AppMachine] { core.knownApps.valuesByID }
    func isKnown(_ id: AppID) -> Bool { app(id) != nil }
    func isRunning(_ id: AppID) -> Bool { app(id)?.isRunning ?? false }

    /// Returns the ids of those of the apps that are known.
    func ids(of apps: some Sequence<AppIndex>) -> Set<AppID> { Set(apps.compactMap { app($0)?.id }) }

    var now: Instant { Instant(microseconds: events.loop.freshNow) }

    func append(_ input: Input) { inbox.append(input) }

    /// Makes a request, which is answered by one reply.
    @discardableResult
    func request(_ request: Request) -> RequestID {
        requestCount += 1
        let id = RequestID(requestCount)
        append(.request(id, request))
        return id
    }

    /// Handles the inputs in the inbox, those that come meanwhile, and the deadlines that are due.
    ///
    /// - Parameters:
    ///   - overdue: Inputs that happened before the deadlines that are due. What they cause comes after all of them.
    ///   - perform: Performs what one input leads to, when that is saved.
    func handleInputs(overdue: [Input] = [], perform: (Ready) -> Void) {
        for input in overdue { handle(input, perform) }
        while true {
            if let due = core.nextDeadline, due <= now {
                handle(.tick, perform)
            } else if let input = inbox.popFirst() {
                handle(input, perform)
            } else {
                break
            }
        }
        arm()
    }

    private func handle(_ input: Input, _ perform: (Ready) -> Void) {
        let ready = core.handle(input, at: now)
        store.save(changesOf: &core, announcing: ready.announcements)
        perform(ready)
    }

    private func arm() {
        if let armedFor, armedFor <= now { self.armedFor = nil }
        guard core.nextDeadline != armedFor else { return }
        armedFor = core.nextDeadline
        if let deadline = armedFor {
            timer.arm(atMicroseconds: deadline.microseconds)
        } else {
            timer.disarm()
        }
    }
}
