import LifecycleCore

/// The apps: what they make of what they are told, each in its manner.
extension Tree.Told {
    fileprivate var isResignation: Bool {
        if case .callback(let delivery) = self { delivery.isResignation } else { false }
    }
}

extension Delivery {
    /// A Boolean value that indicates whether it asks the app, or a scene of it, to stop being active.
    var isResignation: Bool { callback == .willResignActive || callback == .sceneWillResignActive }
}

extension Machine {
    // MARK: Talking

    mutating func prepareHello(of id: AppID) {
        guard let tree = trees[id], tree.channel == .open, tree.manner != .deaf else { return }
        trees[id]?.wantsToSayHello = true
        queue.add(.turn(id, launch: tree.number), at: now + chance.time(upTo: tree.manner == .late ? 26_000 : 40))
        trees[id]?.isBusy = true
    }

    /// The app says something; how that gets to the daemon depends on the channel.
    mutating func say(_ message: AppMessage, _ id: AppID) {
        guard let tree = trees[id] else { return }
        switch tree.channel {
        case .closed: return
        case .lost: return
        case .open:
            // Lines arrive in the order in which they were written.
            let time = max(now + chance.time(upTo: 2), tree.lastLine)
            trees[id]?.lastLine = time
            queue.add(.line(id, message, launch: tree.number), at: time)
        }
    }

    /// A line is there to be read.
    mutating func arrive(_ message: AppMessage, from id: AppID) {
        guard let tree = trees[id], tree.channel == .open else { return }
        if isDead {
            trees[id]?.unread.append(message)
            return
        }
        switch message {
        case .hello:
            // A second hello is only a mistake, which the channel counts.
            guard !tree.hasSaidHello else { return }
            trees[id]?.hasSaidHello = true
        case .closed: trees[id]?.channel = .closed
        default: guard tree.hasSaidHello else { return }
        }
        give(.message(tree.app, message))
    }

    /// The daemon writes to the channel. It records if the app has had it.
    mutating func send(_ told: Tree.Told, _ sequence: UInt64?, to id: AppID) {
        if let sequence { file.told[id] = sequence }
        guard let tree = trees[id], tree.channel == .open else { return }
        if let sequence {
            guard sequence > tree.lastSequence else { return repeatAnswer(to: sequence, id) }
            trees[id]?.lastSequence = sequence
            if !told.isResignation { trees[id]?.lastAnswers = [] }
        }
        trees[id]?.inbox.append(told)
        beginTurn(id)
    }

    /// What it was told before is no news; an answer that may have been lost is given again.
    private mutating func repeatAnswer(to sequence: UInt64, _ id: AppID) {
        guard let tree = trees[id], tree.canAct else { return }
        for last in tree.lastAnswers where last.sequence == sequence { say(.done(sequence: sequence, last.answer), id) }
    }

    // MARK: Thinking

    /// The app begins to deal with the first thing in its inbox, if it can.
    mutating func beginTurn(_ id: AppID) {
        guard let tree = trees[id], tree.canAct, !tree.isBusy, !tree.inbox.isEmpty || tree.wantsToSayHello else {
            return
        }
        trees[id]?.isBusy = true
        later(.turn(id, launch: tree.number), within: thinkingTime(tree))
    }

    private mutating func thinkingTime(_ tree: Tree) -> Int {
        guard !isCalm else { return 5 }
        return tree.manner == .slow && chance.happens(40) ? 8000 : 20
    }

    /// The app is done with what it was dealing with.
    mutating func takeTurn(_ id: AppID) {
        trees[id]?.isBusy = false
        guard let tree = trees[id], tree.canAct else { return }
        if tree.wantsToSayHello {
            trees[id]?.wantsToSayHello = false
            say(.hello, id)
        } else if let told = tree.inbox.first {
            trees[id]?.inbox.removeFirst()
            deal(with: told, id)
        }
        beginTurn(id)
    }

    private mutating func deal(with told: Tree.Told, _ id: AppID) {
        guard let tree = trees[id] else { return }
        switch told {
        case .expire(let number):
            // An app that has ended it says so again.
            if isCalm || tree.manner != .silent && !chance.happens(faults ? 20 : 0) { endAssertion(number, of: id) }
        case .callback(let delivery):
            noteScene(of: delivery, id)
            if delivery.callback == .performTask {
                let isLong = faults && chance.happens(30)
                return later(
                    .taskDone(id, delivery.sequence, launch: tree.number), within: isLong ? 40_000 : 200)
            }
            if !isCalm, tree.manner == .silent, chance.happens(60) { return }
            answer(delivery, id)
        }
    }

    private mutating func answer(_ delivery: Delivery, _ id: AppID) {
        let answer: AppAnswer =
            switch delivery.callback {
            case .openURL, .continueActivity: chance.pick([.handled(true), .handled(false), .plain])
            case .willFinishLaunching, .didFinishLaunching: chance.pick([.plain, .handled(false), .handled(true)])
            default: .plain
            }
        trees[id]?.lastAnswers.append((delivery.sequence, answer))
        if faults, trees[id]?.manner == .wrong { misbehave(id, delivery.sequence) }
        say(.done(sequence: delivery.sequence, answer), id)
    }

    private mutating func misbehave(_ id: AppID, _ sequence: UInt64) {
        switch chance.number(below: 12) {
        case 0: say(.done(sequence: sequence + 1), id)
        case 1: say(.done(sequence: sequence &- 1, .handled(true)), id)
        case 2: say(.done(sequence: .max, .result(.failed)), id)
        case 3: say(.endAssertion(99), id)
        case 4: say(.hello, id)
        case 5: say(.beginActivity(7, mode: "undeclared"), id)
        case 6: say(.openScene(nil, role: nil, info: nil), id)
        case 7: say(.closeScene(Scenario.sceneNames[0]), id)
        case 8: say(.sceneInfo(Scenario.sceneNames[1], "wrong"), id)
        case 10: say(.timeLeft, id)
        case 9: for _ in 0..<3 { say(.beginTask(8, name: "again"), id) }
        default: break
        }
    }

    mutating func finishTask(_ sequence: UInt64, of id: AppID) {
        guard let tree = trees[id] else { return }
        guard tree.canAct else { return later(.taskDone(id, sequence, launch: tree.number), within: 500) }
        let answer = chance.pick([AppAnswer.result(.newData), .result(.noData), .result(.failed), .plain])
        trees[id]?.taskAnswer = (sequence, answer)
        say(.done(sequence: sequence, answer), id)
    }

    // MARK: Holding

    mutating func begin(_ number: UInt64, isActivity: Bool, _ id: AppID) {
        guard let tree = trees[id], tree.canAct, tree.hasSaidHello, tree.channel == .open else { return }
        if tree.heldAssertions[number] == nil { trees[id]?.heldAssertions[number] = isActivity }
        say(isActivity ? .beginActivity(number, mode: "audio") : .beginTask(number, name: "task"), id)
    }

    mutating func endAssertion(_ number: UInt64, of id: AppID) {
        trees[id]?.heldAssertions[number] = nil
        say(.endAssertion(number), id)
    }

    /// Everything that the app has begun is over.
    mutating func endAllHolds() {
        for id in trees.keys.sorted() {
            guard let tree = trees[id], tree.canAct else { continue }
            for number in tree.heldAssertions.keys.sorted() { endAssertion(number, of: id) }
            for number in tree.watch.granted.keys.sorted() where tree.heldAssertions[number] == nil {
                endAssertion(number, of: id)
            }
        }
    }

    // MARK: Scenes

    /// What the app makes of what it hears of a scene, in so far as it keeps something about it.
    private mutating func noteScene(of delivery: Delivery, _ id: AppID) {
        guard let scene = delivery.scene?.scene else { return }
        if delivery.callback == .sceneDidDisconnect {
            trees[id]?.scenes.remove(scene)
            trees[id]?.infos[scene] = nil
            trees[id]?.closing.remove(scene)
        } else {
            trees[id]?.scenes.insert(scene)
        }
    }

    /// The app wants something with a scene. A request that is repeated on a new channel is kept.
    mutating func want(_ message: AppMessage, _ id: AppID) {
        guard let tree = trees[id], tree.canAct, tree.hasSaidHello, tree.channel == .open else { return }
        switch message {
        case .sceneInfo(let scene, let info): if tree.scenes.contains(scene) { trees[id]?.infos[scene] = .some(info) }
        case .closeScene(let scene): if tree.scenes.contains(scene) { trees[id]?.closing.insert(scene) }
        default: break
        }
        say(message, id)
    }
}
