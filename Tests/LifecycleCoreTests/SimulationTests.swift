import Glibc
import LifecycleCore
import TestSupport
import Testing

/// Apps and a kernel that take their time, misbehave and die, driven by one seed.
struct Simulation {
    /// One process tree, as the kernel would have it.
    struct Tree {
        /// When the core wanted it.
        var launched: Instant?
        var isStopped = false
        var automaton = CallbackAutomaton()
        var isLinked = false
        /// Asked to end at this time.
        var asked: Instant?
        var holds: Set<UInt64> = []
        /// The number of the last callback that it has had.
        var lastSequence: UInt64 = 0
        /// Whether its channel is gone with the daemon, and what it wants to say when it is back.
        var isAway = false
        var unsaid: [AppMessage] = []
    }

    var random: SeededGenerator
    var core = Lifecycle()
    var now = Instant(microseconds: 0)
    var trees: [AppID: Tree] = [:]
    var pending: [(at: Instant, input: Input, tree: UInt64?)] = []
    var generation: [AppID: UInt64] = [:]
    var open: Set<UInt64> = []
    var requests: UInt64 = 0
    var problems: [String] = []
    /// The inputs and effects, for whoever looks at a failure.
    var history: [Happening] = []
    let names = ["a", "b", "c", "d"].map { AppID($0) }
    var settings = Settings()
    let limit: Int
    let faults: Bool
    /// What becomes of the daemon itself.
    var deaths: Deaths
    var policies: [AppID: Policy] = [:]
    /// What the daemon has written down beside the core's records: what was told, and who was asked to end.
    var told: [AppID: UInt64] = [:]
    var asked: Set<AppID> = []

    enum Happening {
        case input(Input, at: Instant)
        case effect(Effect)
        case restart
    }

    /// The end of the history, one line each.
    var story: String {
        history.suffix(80).map { happening in
            switch happening {
            case .input(let input, let time): "\(time.microseconds / 1000) ms > \(input)"
            case .effect(let effect): "    \(effect)"
            case .restart: "--- restarted"
            }
        }.joined(separator: "\n")
    }

    enum Deaths: CaseIterable {
        /// It lives.
        case none
        /// It is killed at times; its channels are kept for its successor.
        case channelsKept
        /// It is killed at times, and its apps have to come back.
        case channelsLost
    }

    init(seed: UInt64, faults: Bool, deaths: Deaths = .none) {
        random = SeededGenerator(seed: seed)
        self.faults = faults
        self.deaths = deaths
        limit = Int.random(in: 1...2, using: &random)
        settings.frontLimit = limit
        if Bool.random(using: &random) { settings.homeApp = names[0] }
        give(.configure(settings))
        for id in names {
            var policy = Policy()
            if Int.random(in: 0..<8, using: &random) == 0 { policy.suspend = .never }
            if Int.random(in: 0..<4, using: &random) == 0 { policy.callbacks = .required }
            if Bool.random(using: &random) { policy.backgroundModes = ["audio"] }
            if Int.random(in: 0..<4, using: &random) == 0 { policy.takesURLs = true }
            policy.restart = [.never, .never, .onFailure, .always].randomElement(using: &random) ?? .never
            if Int.random(in: 0..<5, using: &random) < 2 {
                policy.scenes = true
                policy.sceneLimit = Int.random(in: 1...2, using: &random)
            }
            policy.onExit = Bool.random(using: &random) ? .home : .previous
            policy.launchAtStart = [nil, nil, .foreground, .background].randomElement(using: &random) ?? nil
            policies[id] = policy
            give(.define(id, policy))
        }
        give(.start)
    }

    mutating func give(_ input: Input) {
        history.append(.input(input, at: now))
        let effects = core.handle(input, at: now)
        guard deaths != .none, chance(3) else {
            for effect in effects { perform(effect) }
            return check()
        }
        // Killed after the records were written, in the middle of the effects.
        let done = Int.random(in: 0...effects.count, using: &random)
        for (index, effect) in effects.enumerated() where index < done || effect.isNews { perform(effect) }
        restart()
        check()
    }

    /// Lets the next thing happen: whatever was due first, the core's deadline or an outcome.
    mutating func advance(to end: Instant) {
        while true {
            let outcome = pending.indices.min { pending[$0].at < pending[$1].at }
            let due = [outcome.map { pending[$0].at }, core.nextDeadline].compactMap { $0 }.min()
            guard let due, due <= end else { break }
            now = max(now, due)
            if let outcome, pending[outcome].at <= now {
                let entry = pending.remove(at: outcome)
                guard entry.tree == nil || isCurrent(entry) else { continue }
                if case .message(let id, .back) = entry.input { isBack(id) } else { give(entry.input) }
            } else {
                give(.tick)
            }
        }
        now = end
    }

    private func isCurrent(_ entry: (at: Instant, input: Input, tree: UInt64?)) -> Bool {
        switch entry.input {
        case .outcome(let id, _), .message(let id, _): generation[id] == entry.tree
        default: true
        }
    }

    private mutating func later(_ input: Input, about id: AppID, within milliseconds: Int64 = 20) {
        let delay = Duration.microseconds(Int64.random(in: 0...(milliseconds * 1000), using: &random))
        pending.append((now + delay, input, generation[id]))
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func perform(_ effect: Effect) {
        history.append(.effect(effect))
        switch effect {
        case .spawn(let id): spawn(id)
        case .stop(let id):
            trees[id]?.isStopped = true
            pending.removeAll { $0.input.isStopOrResume(of: id) }
            if faults, chance(5) { later(.outcome(id, .stopIncomplete("?")), about: id) }
            later(.outcome(id, .stopped), about: id, within: faults && chance(10) ? 3000 : 20)
        case .resume(let id):
            trees[id]?.isStopped = false
            pending.removeAll { $0.input.isStopOrResume(of: id) }
            later(.outcome(id, .resumed), about: id)
            comeBack(id)
        case .terminate(let id):
            trees[id]?.isStopped = false
            trees[id]?.asked = now
            asked.insert(id)
            pending.removeAll { $0.input.isStopOrResume(of: id) }
            let othersLeft = chance(20)
            if !faults || chance(80) { endTree(id, .signal(15), othersLeft: othersLeft) }
        case .kill(let id): endTree(id, .signal(9), othersLeft: chance(20))
        case .deliver(let id, let delivery):
            deliver(delivery, to: id)
        case .reply(let request, _):
            if open.remove(request.number) == nil { problems.append("request \(request.number) answered twice") }
        case .decision(.answerOverdue(let id, _)): trees[id]?.automaton.wasLate = true
        case .transition(let step): if step.to == .notRunning { remove(step.app) }
        case .answerHold(let id, let number, let refusal):
            if refusal == nil { trees[id]?.holds.insert(number) }
        case .expireTask(let id, let number, _): if !faults || chance(70) { endHold(number, of: id) }
        case .lookAtMemory: lookAtMemory()
        case .measureMemory(let id): note(reclaimOf: id)
        case .sceneTransition, .decision, .forgotten, .finished, .tellTimeLeft: break
        }
    }

    private mutating func spawn(_ id: AppID) {
        if deaths != .none, trees[id] != nil { return later(.outcome(id, .spawned), about: id) }
        generation[id, default: 0] += 1
        told[id] = nil
        if trees[id] != nil { problems.append("\(id) spawned twice") }
        if faults, chance(10) { return later(.outcome(id, .spawnFailed(.command("?"))), about: id) }
        trees[id] = Tree(launched: core.knownApps[id]?.launched)
        later(.outcome(id, .spawned), about: id)
        // One that must listen and does not is ended again and again where it is the home app, and so never at rest.
        if core.knownApps[id]?.policy.callbacks == .required || chance(70) {
            later(.message(id, .hello), about: id, within: 40)
        }
    }

    private mutating func endTree(_ id: AppID, _ status: LifecycleCore.ExitStatus, othersLeft: Bool) {
        guard trees[id] != nil else { return }
        later(.outcome(id, .exited(status, othersLeft: othersLeft)), about: id)
        if othersLeft { pending.append((now + .milliseconds(30), .outcome(id, .gone), generation[id])) }
    }

    private mutating func deliver(_ delivery: Delivery, to id: AppID) {
        told[id] = delivery.sequence
        guard trees[id]?.isAway != true else { return }
        trees[id]?.lastSequence = delivery.sequence
        if trees[id]?.isStopped == true { problems.append("\(id) told \(delivery.callback.rawValue) while stopped") }
        if let problem = trees[id]?.automaton.told(delivery) { problems.append("\(id): \(problem)") }
        if faults, chance(10) { return }
        let slow = faults && chance(10)
        let answer = [AppAnswer.plain, .handled(true), .handled(false), .result(.newData)].randomElement(using: &random)
        let done = AppMessage.done(sequence: delivery.sequence, answer ?? .plain)
        later(.message(id, done), about: id, within: slow || delivery.callback == .performTask ? 7000 : 20)
    }

    /// What must hold after every input.
    private mutating func check() {
        let active = core.knownApps.values.filter { $0.state == .active }
        if active.count > limit { problems.append("\(active.count) active apps") }
        if chance(5), let difference = core.differenceWhenRestored(settings: settings, policies: policies, at: now) {
            problems.append("restored: \(difference)")
        }
        for app in core.knownApps.values where app.target.isForeground && !core.concealments.isEmpty {
            problems.append("\(app.id) is to be in front, and nothing is in sight")
        }
        checkScenes()
        checkOutlook()
        if core.front.count > limit { problems.append("\(core.front.count) apps in front") }
        for app in core.knownApps.values where app.state.isForeground && trees[app.id]?.isStopped == true {
            problems.append("\(app.id) is \(app.state) and stopped")
        }
    }

    mutating func randomInput() {
        guard let id = names.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<4: ask(.hand(id, .openURL("https://example.org/\(requests)", type: chance(50) ? "text/html" : nil)))
        case 4..<6: ask(.hand(id, .continueActivity(type: "org.example.read", info: "{}")))
        case 6: ask(.hand(id, .performTask(kind: "fetch")))
        case 7: ask(.wake(id, kind: "fetch", payload: ""))
        case 8: give(.wake(id, kind: "clean"))
        case 9..<13: ask(.machine(MachineEvent.allCases.randomElement(using: &random) ?? .unlock))
        case 13..<17: randomMemoryPressure()
        case 17..<24: ask(.launch(id, background: chance(25)))
        case 24..<34: ask(.focus(id))
        case 34..<45: randomSceneRequest(id)
        case 45..<50: randomSceneMessage(id)
        case 50..<56: ask(.home)
        case 56..<60: ask(.beginInterruption("call"))
        case 60..<66: ask(.endInterruption("call"))
        case 66..<72: ask(.suspend(id))
        case 72..<77: ask(.resume(id))
        case 77..<81: ask(.terminate(id))
        case 81..<83: ask(.kill(id))
        case 83..<86: if trees[id] != nil, faults { later(.outcome(id, .resumedByOther), about: id) }
        case 86..<88: if trees[id] != nil, faults { endTree(id, .signal(11), othersLeft: chance(50)) }
        case 88..<90: if trees[id] != nil, faults { close(id) }
        case 90..<94: if canSpeak(id) { give(.message(id, .beginTask(random.next() % 4, name: "task"))) }
        case 94..<96: if canSpeak(id) { give(.message(id, .beginActivity(random.next() % 4, mode: "audio"))) }
        case 96..<100: if canSpeak(id), let hold = trees[id]?.holds.min() { endHold(hold, of: id) }
        default: break
        }
    }

    /// Whether the app has a process that is not stopped, and a channel.
    func canSpeak(_ id: AppID) -> Bool {
        trees[id]?.isStopped == false && core.knownApps[id]?.isLinked == true && trees[id]?.isAway == false
    }

    mutating func endHold(_ number: UInt64, of id: AppID) {
        trees[id]?.holds.remove(number)
        later(.message(id, .endHold(number)), about: id)
    }

    private mutating func close(_ id: AppID) {
        trees[id]?.holds = []
        give(.message(id, .closed))
    }

    mutating func ask(_ request: Request) {
        requests += 1
        open.insert(requests)
        give(.request(RequestID(requests), request))
    }
}

extension Effect {
    /// What only the simulation itself makes something of.
    fileprivate var isNews: Bool {
        if case .decision(.answerOverdue) = self { true } else { false }
    }
}

extension Input {
    func isStopOrResume(of id: AppID) -> Bool {
        switch self {
        case .outcome(id, .stopped), .outcome(id, .resumed), .outcome(id, .stopIncomplete): true
        default: false
        }
    }
}

@Suite struct SimulationTests {
    /// How many histories of each kind; `LIFED_SEEDS` asks for more than a build should wait for.
    static let seeds = unsafe getenv("LIFED_SEEDS").flatMap { unsafe UInt64(String(cString: $0)) } ?? 400

    @Test(arguments: [false, true], Simulation.Deaths.allCases)
    func `random histories keep every promise`(faults: Bool, deaths: Simulation.Deaths) {
        for seed in UInt64(1)...Self.seeds {
            var world = Simulation(seed: seed, faults: faults, deaths: deaths)
            for _ in 0..<150 {
                world.randomInput()
                let pause = Int64.random(
                    in: 0...(world.random.next() % 20 == 0 ? 7_000_000 : 30_000), using: &world.random)
                world.advance(to: world.now + .microseconds(pause))
                guard world.problems.isEmpty else { break }
            }
            if world.problems.isEmpty { world.expectRest() }
            #expect(
                world.problems.isEmpty,
                "seed \(seed), faults \(faults), deaths \(deaths): \(world.problems)\n\(world.story)")
            guard world.problems.isEmpty else { return }
        }
    }
}

extension Simulation {
    /// Left alone for a while, every app is where it should be, and everybody has an answer.
    mutating func expectRest() {
        // One that is away can say so only when it is back.
        for _ in 0..<2 {
            for (id, tree) in trees.sorted(by: { $0.key < $1.key }) {
                for hold in tree.holds.sorted() where canSpeak(id) { endHold(hold, of: id) }
            }
            advance(to: now + .seconds(60))
        }
        if !open.isEmpty {
            problems.append(
                "requests \(open.sorted()) never answered; \(core.knownApps.values.map { "\($0.id) \($0.state) → \($0.target) \($0.holds) \($0.scenes)" })"
            )
        }
        for app in core.knownApps.values where app.state != app.target {
            problems.append("\(app.id) is \(app.state), not \(app.target)")
        }
        expectScenesAtRest()
        for (id, tree) in trees where tree.isStopped != (core.knownApps[id]?.state == .suspended) {
            problems.append("\(id) is \(String(describing: core.knownApps[id]?.state)), stopped \(tree.isStopped)")
        }
        deaths = .none
        give(.shutDown)
        advance(to: now + .seconds(60))
        if core.runningCount != 0 { problems.append("\(core.runningCount) apps left after shutdown") }
    }
}
