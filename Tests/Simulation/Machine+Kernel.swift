import LifecycleCore

/// What the core only hands on.
private enum MachineError: Error { case cannotStart, doesNotStop }

/// What the core wants done, and the kernel that does it in its own time.
extension Machine {
    /// Performs the fields in their order. A daemon that dies has performed a part; what has happened is saved in any case.
    mutating func perform(_ ready: Ready, until death: Death?) {
        victims = ready.operations.compactMap { if case .measureMemory(let app) = $0 { app } else { nil } }
        endsBegun = [:]
        for announcement in ready.announcements {
            if isTold { story.append(.consequence(announcement.words)) }
            watch(announcement)
        }
        let count = ready.replies.count + ready.messages.count + ready.operations.count
        var left = death.map { count * $0.percent / 100 } ?? count
        for answer in ready.replies.prefix(left) {
            if isTold { story.append(.consequence(answer.words)) }
            watchReply(answer.request.number, answer.reply)
        }
        left -= ready.replies.count
        for message in ready.messages {
            if left > 0 { perform(message) } else { missed(message) }
            left -= 1
        }
        for operation in ready.operations {
            if left > 0 { perform(operation) } else { missed(operation) }
            left -= 1
        }
        for app in ready.forgotten {
            if isTold { story.append(.consequence("forgotten(\(core.id(of: app.app)))")) }
            watchForgotten(core.id(of: app.app))
        }
        if ready.isFinished { watchFinished() }
    }

    private mutating func perform(_ message: Ready.Message) {
        if isTold { story.append(.consequence(message.words(in: core))) }
        watch(message)
        switch message {
        case .deliver(let app, let delivery): send(.callback(delivery), delivery.sequence, to: core.id(of: app))
        case .expireTask(let app, let number, _): send(.expire(number), nil, to: core.id(of: app))
        // A refused task holds no assertion; a task that was begun before under the same number does.
        case .answerAssertion(let app, let number, let refusal?):
            if refusal != .duplicate { trees[core.id(of: app)]?.heldAssertions[number] = nil }
        case .answerAssertion, .tellTimeLeft: break
        }
    }

    private mutating func perform(_ operation: Ready.Operation) {
        if isTold { story.append(.consequence(operation.words(in: core))) }
        watch(operation)
        switch operation {
        case .spawn(let app): spawn(core.id(of: app), app)
        case .stop(let app): stop(core.id(of: app))
        case .resume(let app): resume(core.id(of: app))
        case .terminate(let app): terminate(core.id(of: app))
        case .kill(let app): kill(core.id(of: app))
        case .measureMemory(let app): measure(core.id(of: app))
        case .markMemory: break
        case .readMemory:
            let level: MemoryLevel = !isCalm && chance.happens(50) ? .critical : .normal
            later(.look(level), within: 20)
        }
    }

    private mutating func spawn(_ id: AppID, _ app: AppIndex) {
        if let tree = trees[id] {
            guard isTakingOver else { return report("\(id) is started while it runs") }
            // That a start fails is on its way.
            guard !tree.failsToStart || tree.runs else { return }
            return later(.notice(id, .spawned, launch: tree.number), within: 0)
        }
        launches += 1
        watchStartOfAdopted(id)
        if isToBeAdopted(id) { return beginAdopted(id, app) }
        let manner = isCalm ? calmManner(of: id) : setup.apps.first { $0.id == id }?.manner ?? .good
        let hasScenes = core.knownApps[id]?.hasScenes ?? false
        var tree = Tree(
            app: app, number: launches, launched: core.knownApps[id]?.launched, manner: manner, hasScenes: hasScenes)
        if policies[id]?.callbacks == CallbackPolicy.none { tree.channel = .closed }
        tree.failsToStart = faults && chance.happens(8)
        insert(tree, id)
        file.told[id] = nil
        if let url = core.knownApps[id]?.argumentURL { handovers[url]?.isArgument = true }
        if tree.failsToStart {
            return later(.notice(id, .spawnFailed(SystemFailure(MachineError.cannotStart)), launch: tree.number))
        }
        later(.notice(id, .spawned, launch: tree.number), within: faults && chance.happens(3) ? 8000 : 20)
        prepareHello(of: id)
    }

    private mutating func insert(_ new: Tree, _ id: AppID) {
        var tree = new
        // An app that was being launched is launched again, whatever was to follow.
        tree.watch.isKillWanted = isTakingOver && killsWanted.contains(id)
        tree.watch.endWanted = isTakingOver ? endsWanted[id] : nil
        let isForSleep = core.launch(of: id)?.reason == .suspend
        tree.watch.isToSleepAtOnce = isForSleep || isTakingOver && sleepWanted.contains(id)
        trees[id] = tree
    }

    private mutating func beginAdopted(_ id: AppID, _ app: AppIndex) {
        let tree = adoptedTree(id, app)
        insert(tree, id)
        file.told[id] = nil
        let outcome = tree.runs ? Outcome.spawned : .spawnFailed(SystemFailure(MachineError.cannotStart))
        later(.notice(id, outcome, launch: tree.number), within: 0)
    }

    private func calmManner(of id: AppID) -> Manner {
        let isDeaf = setup.apps.first { $0.id == id }?.manner == .deaf
        return isDeaf && core.knownApps[id]?.policy.callbacks != .required ? .deaf : .good
    }

    private mutating func stop(_ id: AppID) {
        guard let tree = trees[id] else { return }
        trees[id]?.isStopped = true
        trees[id]?.isSeenStopped = false
        trees[id]?.isContinuedByOther = false
        forgetNotices(of: id)
        if faults, chance.happens(8) {
            queue.add(
                .notice(id, .stopIncomplete(SystemFailure(MachineError.doesNotStop)), launch: tree.number),
                at: now + .seconds(1))
            queue.add(.notice(id, .stopped, launch: tree.number), at: now + .seconds(1) + chance.time(upTo: 9000))
        } else {
            later(.notice(id, .stopped, launch: tree.number))
        }
    }

    private mutating func measure(_ id: AppID) {
        guard let tree = trees[id] else { return }
        later(.notice(id, .memoryMeasured(4096), launch: tree.number), within: 0)
    }

    private mutating func resume(_ id: AppID) {
        guard let tree = trees[id] else { return }
        proceed(id)
        forgetNotices(of: id)
        later(.notice(id, .resumed, launch: tree.number), within: 1)
        if tree.channel == .lost { later(.comeBack(id, launch: tree.number), within: 4000) }
    }

    /// SIGCONT.
    mutating func proceed(_ id: AppID) {
        trees[id]?.isStopped = false
        trees[id]?.isSeenStopped = false
        trees[id]?.isStoppedByOther = false
        beginTurn(id)
    }

    private mutating func terminate(_ id: AppID) {
        if isTakingOver, trees[id]?.asked != nil { return }
        forgetNotices(of: id)
        if isToBeLetGo(id) { return letGo(id) }
        guard let tree = trees[id] else { return }
        watchLettingGo(id, "SIGTERM")
        trees[id]?.asked = now
        proceed(id)
        guard !faults || chance.happens(75) else {
            if chance.happens(50) { end(id, tree.number, .code(0), within: 9000) }
            return
        }
        end(id, tree.number, chance.happens(50) ? .code(0) : .signal(15), within: 30)
    }

    private mutating func kill(_ id: AppID) {
        guard let tree = trees[id] else { return }
        watchLettingGo(id, "SIGKILL")
        if tree.killed == nil { trees[id]?.killed = now }
        // A process in the kernel does not go before it is out of it.
        let time = faults && chance.happens(4) ? 9000 : 20
        end(id, tree.number, .signal(9), within: time)
        if faults, chance.happens(20) { later(.notice(id, .gone, launch: tree.number), within: time) }
    }

    /// The main process ends, if it has not, and the others of the tree with it or after it.
    private mutating func end(_ id: AppID, _ number: Int, _ status: ExitStatus, within milliseconds: Int) {
        let time = now + chance.time(upTo: milliseconds)
        let othersLeft = chance.happens(20)
        if trees[id]?.mainStatus == nil {
            queue.add(.notice(id, .exited(status, othersLeft: othersLeft), launch: number), at: time)
        }
        if othersLeft || trees[id]?.mainStatus != nil {
            queue.add(.notice(id, .gone, launch: number), at: time + .milliseconds(10))
        }
    }

    /// Earlier operations on the processes do not matter any more.
    private mutating func forgetNotices(of id: AppID) {
        queue.removeAll { event in
            switch event {
            case .notice(id, .stopped, _), .notice(id, .resumed, _), .notice(id, .stopIncomplete, _): true
            default: false
            }
        }
    }

    // MARK: Notices

    /// Something becomes so, and the daemon is told if there is one.
    mutating func notice(_ id: AppID, _ outcome: Outcome) {
        guard let tree = trees[id], !tree.isGone else { return }
        switch outcome {
        case .spawned: trees[id]?.runs = true
        case .spawnFailed:
            // An app that has ended meanwhile was a process after all.
            guard tree.mainStatus == nil else { return }
            trees[id]?.isGone = true
        // The daemon sends SIGSTOP until the whole tree is seen stopped, whatever others send meanwhile.
        case .stopped:
            trees[id]?.isStopped = true
            trees[id]?.isSeenStopped = true
        case .exited(let status, let othersLeft):
            guard tree.mainStatus == nil else { return }
            if !tree.runs, !isDead { notice(id, .spawned) }
            trees[id]?.mainStatus = status
            trees[id]?.isGone = !othersLeft
            // SIGKILL was for all of them.
            if othersLeft, tree.killed != nil { later(.notice(id, .gone, launch: tree.number), within: 10) }
            if isDead { return }
            trees[id]?.isExitReported = true
        case .gone:
            guard tree.mainStatus != nil else { return }
            trees[id]?.isGone = true
        case .keeperEnded: trees[id]?.isKeeperEnded = true
        default: break
        }
        if case .spawned = outcome { beginTurn(id) }
        // The daemon may have died of the notice above; the app has another index in the next daemon.
        if !isDead, let app = trees[id]?.app { give(.outcome(app, outcome)) }
    }
}
