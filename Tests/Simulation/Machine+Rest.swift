import LifecycleCore

/// Liveness: with the faults ended, everything gets to where it should be, in bounded time.
extension Machine {
    /// The time that everything together may take: an app that was silent may have 20 s for its launch, 35 s to come back, 35 s
    /// for its tasks and its termination timeout; one that failed often is started again a minute later.
    static let boundedTime = Duration.seconds(150)

    package mutating func expectRest(_ chance: Chance) {
        self.chance = chance
        isCalm = true
        armed = nil
        for _ in 0..<5 {
            endAllHolds()
            pass(Self.boundedTime / 5)
        }
        pass(timeForUnanswered)
        guard problems.isEmpty else { return }
        checkRest("left alone")
        if !isShuttingDown {
            expectWayBack()
            guard problems.isEmpty else { return }
            shutDown()
        }
        pass(.seconds(60))
        guard problems.isEmpty else { return }
        if core.runningCount != 0 || !trees.isEmpty { report("\(trees.keys.sorted()) run after the end") }
        if !hasFinished { report("the end is not said") }
        if !open.isEmpty { report("\(open.values.map { "\($0)" }) never answered") }
    }

    /// The time that it takes longer until nothing waits any more for an app that another program has stopped: it answers nothing, and
    /// whatever was handed to it has all of its time, one after the other.
    private var timeForUnanswered: Duration {
        var longest = Duration.zero
        for (id, tree) in trees where tree.isStoppedByOther {
            let times = timeouts(of: id)
            var time = tree.watch.task == nil ? Duration.zero : times.task
            for waiting in core.knownApps[id]?.events ?? [] {
                if case .performTask = waiting.event { time += times.task } else { time += times.callback }
            }
            longest = max(longest, time)
        }
        return longest
    }

    private mutating func checkRest(_ when: String) {
        if !open.isEmpty { report("\(when): \(open.values.map { "\($0)" }) not answered") }
        for app in core.knownApps.values.sorted(by: { $0.id < $1.id }) {
            let tree = trees[app.id]
            // An app that another program has stopped cannot say that its task has ended.
            let isStuck = app.isHeldAwake && tree?.isStoppedByOther == true
            if app.state != app.target, !isStuck { report("\(when): \(app.id) is \(app.state), not \(app.target)") }
            if (tree != nil) != app.isRunning { report("\(when): \(app.id) is \(app.state), not so its process") }
            if let tree, tree.isStopped != (app.state == .suspended) {
                report("\(when): \(app.id) is \(app.state), and stopped is \(tree.isStopped)")
            }
            if app.state == .background, app.policy.suspend == .auto, !app.isHeldAwake, app.target == .suspended {
                report("\(when): \(app.id) is not suspended")
            }
        }
        checkScenesAtRest(when)
        guard let home = settings.homeApp, let app = core.knownApps[home], !app.restart.isLimitReached, !isShuttingDown
        else {
            return
        }
        // An app without a definition is not launched by itself.
        if app.policy.isTransient, !app.isRunning { return }
        if core.foreground.isEmpty, core.deadline(.restart, of: home) == nil {
            report("\(when): nothing is in the foreground")
        }
    }

    /// A stopped app can be resumed, and a running app can come to the foreground.
    private mutating func expectWayBack() {
        ask(.machine(.wake))
        ask(.machine(.switchBack))
        ask(.machine(.unlock))
        for name in core.interruptions { ask(.endInterruption(name)) }
        pass(.seconds(30))
        for id in trees.keys.sorted() where problems.isEmpty {
            guard core.knownApps[id]?.state.isAlive == true else { continue }
            ask(.focus(id))
            pass(.seconds(8))
            if trees[id] != nil, core.foreground.contains(id), states[id] != .active {
                report("\(id) was wanted in the foreground, and is \(states[id] ?? .notRunning)")
            }
            if trees[id]?.isStoppedByOther == true { report("\(id) was wanted in the foreground, and stays stopped") }
            expectScenesInForeground(of: id)
        }
        endAllHolds()
        pass(.seconds(60))
        if problems.isEmpty { checkRest("after all were in the foreground") }
    }
}

extension AppMachine {
    fileprivate var isHeldAwake: Bool { !self.heldAssertions.isEmpty }
}
