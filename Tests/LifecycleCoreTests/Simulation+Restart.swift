@testable import LifecycleCore

/// The daemon is killed, and another one takes over.
extension Simulation {
    mutating func restart() {
        open.removeAll()
        // What the one before was told about stopping and starting died with it; processes and channels did not.
        pending.removeAll { $0.input.isNoticeOfOwnDoing }
        core = Lifecycle(
            restoring: core.record, apps: core.records, settings: settings, policy: { policies[$0] }, at: now)
        history.append(.restart)
        for id in trees.keys.sorted() {
            guard let app = core.knownApps[id], app.isRunning, app.launched == trees[id]?.launched else {
                remove(id)
                continue
            }
            // What it asked for and was not told about is asked for again.
            trees[id]?.holds.formUnion(app.holds.map(\.number))
        }
        let linked = core.knownApps.values.filter(\.isLinked).map(\.id).sorted()
        for id in linked {
            if deaths == .channelsLost {
                loseChannel(of: id)
            } else {
                hand(.message(id, .back(lastSequence: told[id] ?? 0)))
            }
        }
        for (id, policy) in policies.sorted(by: { $0.key < $1.key }) { hand(.define(id, policy)) }
        hand(.takeOver)
        hand(.start)
    }

    /// An input that nobody dies of.
    private mutating func hand(_ input: Input) {
        history.append(.input(input, at: now))
        for effect in core.handle(input, at: now) {
            if case .takeOver = input, case .terminate(let id) = effect, asked.contains(id) { continue }
            perform(effect)
        }
    }

    mutating func remove(_ id: AppID) {
        trees[id] = nil
        asked.remove(id)
    }

    private mutating func loseChannel(of id: AppID) {
        // It may lose its place while it is away, and need not hear of it.
        trees[id]?.automaton.wasLate = true
        trees[id]?.isAway = true
        let lost = pending.filter { $0.input.isMessage(of: id) }
        pending.removeAll { $0.input.isMessage(of: id) }
        trees[id]?.unsaid += lost.sorted { $0.at < $1.at }.compactMap(\.input.saying)
        comeBack(id)
    }

    /// The library tries now and then while the app runs.
    mutating func comeBack(_ id: AppID) {
        guard trees[id]?.isAway == true, trees[id]?.isStopped == false else { return }
        let delay = Duration.milliseconds(Int64.random(in: 0...4000, using: &random))
        pending.append((now + delay, .message(id, .back(lastSequence: 0)), generation[id]))
    }

    /// The library is there again, and says what it could not say.
    mutating func isBack(_ id: AppID) {
        guard let tree = trees[id], tree.isAway else { return }
        guard !tree.isStopped else { return }
        // One that stayed away for too long is not let in any more.
        guard core.knownApps[id]?.isAway == true else { return }
        trees[id]?.isAway = false
        trees[id]?.unsaid = []
        give(.message(id, .back(lastSequence: tree.lastSequence)))
        for message in tree.unsaid {
            // The daemon may be killed again in the middle of it.
            if trees[id]?.isAway == true { trees[id]?.unsaid.append(message) } else { give(.message(id, message)) }
        }
    }
}

extension Lifecycle {
    var records: [SavedRecord] { knownApps.keys.sorted().compactMap { record(of: $0) } }

    /// What a machine restored from this one's records would have otherwise; nil if nothing.
    func differenceWhenRestored(settings: Settings, policies: [AppID: Policy], at now: Instant) -> String? {
        let other = Lifecycle(
            restoring: record, apps: records, settings: settings, policy: { policies[$0] }, at: now)
        if other.front != front || other.places != places || other.interruptions != interruptions
            || other.concealments != concealments
        {
            return "front \(front) places \(places), then \(other.front) \(other.places)"
        }
        if other.reclaim != reclaim?.withoutWaiters || other.suspendedCount != suspendedCount {
            return "reclaim \(String(describing: reclaim)), then \(String(describing: other.reclaim))"
        }
        for app in knownApps.values {
            let id = app.id
            guard var restored = other.knownApps[id] else {
                if app.isRunning || app.lastExit != nil { return "no \(id)" }
                continue
            }
            restored.waiters = app.waiters
            restored.target = app.target
            restored.isAway = app.isAway
            // After a restart it has all of its time again.
            restored.partingSince = app.partingSince
            // What a process that is gone once was is of no interest any more.
            if !app.isRunning { restored = restored.withoutConversation }
            let expected = app.isRunning ? app : app.withoutConversation
            if restored != expected { return "\(expected), then \(restored)" }
        }
        return nil
    }
}

extension App {
    fileprivate var withoutConversation: App {
        var app = self
        app.launched = nil
        app.launchReason = .launch
        app.hasLaunched = false
        app.lastSequence = 0
        app.hasBeenInFront = false
        app.lastInFront = nil
        app.lastEvent = 0
        app.launchURL = nil
        app.launchEvent = nil
        app.hasDeclined = false
        return app
    }
}

extension Input {
    fileprivate var isNoticeOfOwnDoing: Bool {
        switch self {
        case .outcome(_, .stopped), .outcome(_, .resumed), .outcome(_, .stopIncomplete), .outcome(_, .spawned): true
        case .memoryLookedAt: true
        default: false
        }
    }

    fileprivate func isMessage(of id: AppID) -> Bool {
        if case .message(id, _) = self { true } else { false }
    }

    /// What the app wants to say, beside that it is there.
    fileprivate var saying: AppMessage? {
        switch self {
        case .message(_, .hello), .message(_, .back): nil
        case .message(_, let message): message
        default: nil
        }
    }
}
