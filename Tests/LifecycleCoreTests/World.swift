import Simulation

@testable import LifecycleCore

/// A kernel and a set of apps that do at once, and without fail, what the core wants, on a virtual clock.
///
/// What it does is written down as a transcript; tests compare transcripts with what the life cycle's texts say.
struct World {
    var core = Engine()
    var now = Instant(microseconds: 0)
    /// The connected apps as soon as they run.
    var linked: Set<AppID> = []
    /// The callbacks that are never answered, by app.
    var silent: [AppID: Set<Callback>] = [:]
    /// What apps say to a callback, where that is more than that they are done.
    var answers: [AppID: [Callback: AppAnswer]] = [:]
    /// The apps that ignore SIGTERM.
    var stubborn: Set<AppID> = []
    /// The apps that cannot be started.
    var broken: Set<AppID> = []
    /// The outcomes that the kernel keeps to itself, for tests that give them later.
    var withholding: Set<Withheld> = []
    /// The shortage of memory at each look; normal when the list is empty.
    var looks: [MemoryLevel] = []
    /// What happened, one line each.
    var transcript: [String] = []
    /// What each app was told, with all that comes with it.
    var told: [AppID: [Delivery]] = [:]
    /// What the core decided beside the transitions.
    var decisions: [Decision] = []
    var replies: [UInt64: Reply] = [:]
    private var lastRequest: UInt64 = 0
    private var queue: [Input] = []

    enum Withheld: String { case spawned, stopped, resumed, killed, looks }

    init(apps: String..., linked: Bool = false, settings: Settings = Settings()) {
        give(.configure(settings))
        for name in apps {
            give(.define(AppID(name), Policy(timeouts: settings.timeouts)))
            if linked { self.linked.insert(AppID(name)) }
        }
        give(.start)
    }

    /// A world whose daemon is not ready before the caller says so.
    init(starting apps: [String], home: AppID?, prepare: (inout World) -> Void) {
        var settings = Settings()
        settings.homeApp = home
        give(.configure(settings))
        for name in apps { give(.define(AppID(name), Policy())) }
        prepare(&self)
    }

    /// Gives an input and everything that follows from it. Time passes only until the memory is looked at.
    mutating func give(_ input: Input) {
        queue.append(input)
        while !queue.isEmpty {
            perform(core.handle(queue.removeFirst(), at: now))
            if queue.isEmpty, let end = core.reclaimer.settlingEnd, !withholding.contains(.looks) {
                now = max(now, min(end, core.nextDeadline ?? end))
                queue.append(.tick)
            }
        }
    }

    /// Gives the outcome of an operation, or a change of an app's processes, unless the app is not known any more.
    mutating func give(_ outcome: Outcome, of id: AppID) {
        if let app = core.index(of: id) { give(.outcome(app, outcome)) }
    }

    /// Gives a message of an app, unless the app is not known any more.
    mutating func give(_ message: AppMessage, from id: AppID) {
        if let app = core.index(of: id) { give(.message(app, message)) }
    }

    /// Makes a request and returns its number.
    @discardableResult
    mutating func ask(_ request: Request) -> UInt64 {
        lastRequest += 1
        give(.request(RequestID(lastRequest), request))
        return lastRequest
    }

    /// Has an app answer what it was told last.
    mutating func answer(_ id: AppID, _ answer: AppAnswer = .plain) {
        give(.done(sequence: told[id]?.last?.sequence ?? 0, answer), from: id)
    }

    /// Answers everything that the app was told, in that order.
    mutating func answerAll(_ id: AppID) {
        for delivery in told[id] ?? [] { give(.done(sequence: delivery.sequence), from: id) }
    }

    /// Lets the memory be looked at that was withheld.
    mutating func look(_ shortage: MemoryShortage) {
        pass(Reclaimer.settlingTime)
        give(.memory(shortage))
    }

    /// Lets time pass, deadline by deadline.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = core.nextDeadline, next <= end {
            now = max(now, next)
            give(.tick)
        }
        now = max(now, end)
        give(.tick)
    }

    /// Takes what was written since the last time.
    mutating func lines() -> [String] {
        defer { transcript.removeAll() }
        return transcript
    }

    func state(_ name: String) -> AppState? { core.knownApps[AppID(name)]?.state }

    private mutating func perform(_ ready: Ready) {
        for announcement in ready.announcements { note(announcement) }
        for answer in ready.replies {
            let number = answer.request.number
            precondition(replies[number] == nil, "request \(number) was answered twice")
            replies[number] = answer.reply
            write("reply \(number) \(answer.reply.name)")
        }
        for message in ready.messages { send(message) }
        for operation in ready.operations { perform(operation) }
        for app in ready.forgotten { write("forgotten \(core.id(of: app.app))") }
        if ready.isFinished { write("finished") }
    }

    private mutating func note(_ announcement: Announcement) {
        switch announcement {
        case .app(let step): write("\(step.app): \(step.from.rawValue) → \(step.to.rawValue) (\(step.reason))")
        case .scene(let step):
            write("\(step.app)/\(step.scene): \(step.from.rawValue) → \(step.to.rawValue) (\(step.reason))")
        case .decision(let decision, _):
            decisions.append(decision)
            if case .answered = decision { break }
            write("! \(decision.name)")
        }
    }

    private mutating func send(_ message: Ready.Message) {
        switch message {
        case .deliver(let app, let delivery): deliver(delivery, to: app)
        case .answerAssertion(let app, let number, let refusal):
            write("\(core.id(of: app)) ← \(refusal.map { "refused \($0)" } ?? "granted") \(number)")
        case .expireTask(let app, let number, _): write("\(core.id(of: app)) ← expire-task \(number)")
        case .tellTimeLeft(let app, let end):
            write("\(core.id(of: app)) ← time-left \(end.map { "\($0.duration(since: now))" } ?? "unlimited")")
        }
    }

    private mutating func perform(_ operation: Ready.Operation) {
        switch operation {
        case .spawn(let app): spawn(app)
        case .stop(let app):
            write("stop \(core.id(of: app))")
            if !withholding.contains(.stopped) { queue.append(.outcome(app, .stopped)) }
        case .resume(let app):
            write("resume \(core.id(of: app))")
            if !withholding.contains(.resumed) { queue.append(.outcome(app, .resumed)) }
        case .terminate(let app):
            write("terminate \(core.id(of: app))")
            if !stubborn.contains(core.id(of: app)) {
                queue.append(.outcome(app, .exited(.signal(15), othersLeft: false)))
            }
        case .kill(let app):
            write("kill \(core.id(of: app))")
            if !withholding.contains(.killed) {
                queue.append(.outcome(app, .exited(.signal(9), othersLeft: false)))
            }
        case .measureMemory(let app):
            write("measure \(core.id(of: app))")
            queue.append(.outcome(app, .memoryMeasured(4096)))
        case .markMemory: write("mark memory")
        case .readMemory:
            write("read memory")
            guard !withholding.contains(.looks) else { return }
            let level = looks.isEmpty ? .normal : looks.removeFirst()
            queue.append(.memory(MemoryShortage(level, someWaited: 40_00)))
        }
    }

    private mutating func spawn(_ app: AppIndex) {
        let id = core.id(of: app)
        write("spawn \(id)")
        if broken.contains(id) {
            queue.append(.outcome(app, .spawnFailed(.noSuchProgram)))
        } else if !withholding.contains(.spawned) {
            queue.append(.outcome(app, .spawned))
            if linked.contains(id) { queue.append(.message(app, .hello)) }
        }
    }

    private mutating func deliver(_ delivery: Delivery, to app: AppIndex) {
        let id = core.id(of: app)
        let scene = delivery.scene.map { " \($0.scene)" + ($0.reason.map { " (\($0))" } ?? "") } ?? ""
        write("\(id) ← \(delivery.callback.rawValue)\(scene)")
        note(delivery, to: id)
        if silent[id]?.contains(delivery.callback) != true {
            let answer = answers[id]?[delivery.callback] ?? .plain
            queue.append(.message(app, .done(sequence: delivery.sequence, answer)))
        }
    }

    /// Only what is told again has the same number again.
    private mutating func note(_ delivery: Delivery, to id: AppID) {
        let before = told[id] ?? []
        let isAgain = before.contains { $0.sequence == delivery.sequence && $0.callback == delivery.callback }
        let last = before.map(\.sequence).max() ?? 0
        precondition(isAgain || delivery.sequence > last, "\(delivery) comes after \(last)")
        told[id, default: []].append(delivery)
    }

    private mutating func write(_ line: String) { transcript.append(line) }
}

extension Decision {
    var name: String {
        switch self {
        case .stopRenewed: "stop renewed"
        case .stopIncomplete: "stop incomplete"
        case .stoppedByOther: "stopped by other"
        case .signalPending: "signal pending"
        case .answered: "answered"
        case .tasksOverdue(_, let tasks): "tasks overdue \(tasks.map(\.name))"
        case .answerOverdue(let id, let callback): "\(id) overdue \(callback.rawValue)"
        case .eventEnded(let id, let event, let outcome): "\(id) \(event.callback.rawValue) \(outcome.rawValue)"
        case .machine(let event): event.rawValue
        case .terminationOverdue: "termination overdue"
        case .launchFailed: "launch failed"
        case .exited(let id, let exit): "\(id) exited (\(exit.reason))"
        case .interruptionBegan: "interruption began"
        case .interruptionEnded: "interruption ended"
        case .restartDelayed(let id, let delay): "\(id) restarted in \(delay)"
        case .scenesReclaimed(let id, let scenes): "\(id) gives back \(scenes)"
        case .sceneRefused(let id, let refusal): "\(id) refused \(refusal)"
        case .restartLimitReached(let id, let failures): "\(id) given up after \(failures)"
        case .reclaimed(let id, let account):
            "\(id) reclaimed of \(account.order) (\(account.cause.name)), \(account.freed ?? 0)"
        }
    }
}

/// What a shell reports, which the core only hands on.
enum WorldError: Error { case noSuchProgram, stuck }

extension SystemFailure {
    static let noSuchProgram = SystemFailure(WorldError.noSuchProgram)
    static let stuck = SystemFailure(WorldError.stuck)
}

extension MemoryShortage {
    static let short = MemoryShortage(.warning, someWaited: 20_00)
    static let veryShort = MemoryShortage(.critical, someWaited: 50_00, allWaited: 30_00, available: 1 << 20)
    static let enough = MemoryShortage(.normal)
}

extension ReclaimRecord.Cause {
    var name: String {
        switch self {
        case .pressure(let shortage): "\(shortage.someWaited / 100) % waited"
        case .simulation: "simulation"
        case .suspendedLimit(let limit): "limit \(limit)"
        }
    }
}

extension Reply {
    /// The app of a request that was fulfilled.
    var doneApp: AppID? {
        if case .done(let app) = self { app?.id } else { nil }
    }

    var name: String {
        switch self {
        case .done: "done"
        case .reclaimed(let ids): "reclaimed \(ids)"
        case .scene(let scene, _): "done \(scene.id) \(scene.state.rawValue)"
        case .ended(let outcome, _): outcome.rawValue
        case .refused(let refusal): "refused \(String(describing: refusal).prefix { $0 != "(" })"
        }
    }
}
