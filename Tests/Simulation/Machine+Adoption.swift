package import LifecycleCore

/// Programs that another program has started: the daemon adopts and releases them.
extension Machine {
    /// Programs have ids of their own, or that of an app that a manifest describes and that does not run.
    package static let strangers = [AppID("x"), AppID("y")]

    /// A client has the daemon adopt a program that runs already.
    mutating func adopt(_ id: AppID, background: Bool) {
        let app = core.knownApps[id]
        guard !isShuttingDown, app.map({ !$0.isRunning && !$0.policy.isTransient }) ?? true else { return }
        let policy = policies[id] ?? Policy(isTransient: true)
        if app != nil, described[id] == nil { described[id] = policy }
        policies[id] = policy.adopted
        candidates.insert(id)
        give(.define(id, policy.adopted))
        ask(.launch(id, background: background))
    }

    /// A Boolean value that indicates whether the launch that the core wants is that of a program which runs already.
    func isToBeAdopted(_ id: AppID) -> Bool {
        guard let policy = policies[id], policy.isAdopted else { return false }
        return policy.isTransient || core.launch(of: id)?.reason == .adopt
    }

    /// The processes are those that are there; without any, nothing can be had.
    mutating func adoptedTree(_ id: AppID, _ app: AppIndex) -> Tree {
        var tree = Tree(app: app, number: launches, launched: core.knownApps[id]?.launched, manner: .deaf)
        tree.channel = .closed
        let isThere = candidates.remove(id) != nil && !(faults && chance.happens(8))
        tree.runs = isThere
        tree.failsToStart = !isThere
        return tree
    }

    /// The app's processes are gone, or were never had: what a manifest says holds again.
    mutating func endAdoption(of id: AppID) {
        candidates.remove(id)
        guard let policy = described.removeValue(forKey: id) else { return }
        policies[id] = policy
        queue.add(.describedAgain(id), at: now)
    }

    /// A Boolean value that indicates whether the processes run on when the app ends: a client released the app, or the daemon stops.
    func isToBeLetGo(_ id: AppID) -> Bool {
        guard policies[id]?.isAdopted == true, let reason = core.knownApps[id]?.reason else { return false }
        return reason == .release || reason == .shutdown
    }

    /// The processes run on as nobody's.
    mutating func letGo(_ id: AppID) {
        guard let tree = trees[id] else { return }
        proceed(id)
        let outcome = tree.mainStatus == nil ? Outcome.exited(.unknown, othersLeft: false) : .gone
        queue.add(.notice(id, outcome, launch: tree.number), at: now)
    }

    // MARK: Promises

    /// An adopted program survives the daemon, unless a client requests something else meanwhile.
    mutating func noteLettingGo(_ input: Input) {
        switch input {
        case .request(_, .release(let id)):
            guard policies[id]?.isAdopted == true, let tree = trees[id], tree.asked == nil else { return }
            if tree.watch.endWanted == nil { trees[id]?.watch.isToBeLetGo = true }
            trees[id]?.watch.wantEnd(now)
            endsWanted[id] = trees[id]?.watch.endWanted
        case .request(_, let request):
            if let id = request.app { trees[id]?.watch.isToBeLetGo = false }
        case .shutDown:
            for (id, tree) in trees where policies[id]?.isAdopted == true && tree.watch.endWanted == nil {
                trees[id]?.watch.isToBeLetGo = true
            }
        default: break
        }
    }

    /// What lifed has not started it does not start again by itself.
    mutating func watchStartOfAdopted(_ id: AppID) {
        guard policies[id]?.isAdopted == true, core.launch(of: id)?.reason == .restart else { return }
        report("\(id) was adopted, and is started again by itself")
    }

    /// No adopted program is asked to end, or killed, for its release.
    mutating func watchLettingGo(_ id: AppID, _ what: String) {
        guard let tree = trees[id], tree.watch.isToBeLetGo, !tree.watch.isVictim, tree.mainStatus == nil else { return }
        report("\(id) is sent \(what), and was to be let go")
    }
}

extension Policy {
    /// The same for a program that runs already: it gets no callbacks.
    var adopted: Policy {
        var policy = self
        policy.isAdopted = true
        policy.callbacks = .none
        policy.scenes = false
        return policy
    }
}
