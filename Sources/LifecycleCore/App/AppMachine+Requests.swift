// The requests that wait for an app: their goals, the replies, and the refusals.

extension AppMachine {
    /// Answers the requests whose goal is reached, and, once the app is reconciled, those whose goal is out of reach.
    mutating func answerWaiters(lost given: Refusal? = nil, _ shared: inout Shared) {
        if !waiters.isEmpty { answerSome(lost: given, &shared) }
    }

    private mutating func answerSome(lost given: Refusal?, _ shared: inout Shared) {
        let isReconciled = given != nil || !shared.reconciles.contains(index)
        var position = 0
        while position < waiters.count {
            let goal = waiters[position].goal
            let isReached = hasReached(goal, shared)
            guard isReached || isReconciled && !canReach(goal) else {
                position += 1
                continue
            }
            let waiter = waiters.remove(at: position)
            if isReached {
                fulfil(waiter, &shared)
            } else {
                refuse(waiter, with: given ?? refusal(of: goal, shared), &shared)
                dropRefusedEvent(of: goal, &shared)
            }
        }
        // An empty array would keep its memory, for each app.
        if waiters.isEmpty { waiters = [] }
    }

    /// Drops the event of a request that is refused because the app is to end: a later request may keep the app.
    private mutating func dropRefusedEvent(of goal: Goal, _ shared: inout Shared) {
        guard !target.isAlive, case .event(let number, _) = goal,
            let event = outbox.events.first(where: { $0.number == number })
        else { return }
        outbox.removeEvent(number)
        finish(event, .lost, &shared)
    }

    /// Refuses the requests with a goal that matches.
    mutating func refuseWaiters(with refusal: Refusal, _ shared: inout Shared, where matches: (Goal) -> Bool) {
        for waiter in removeWaiters(where: matches) { refuse(waiter, with: refusal, &shared) }
    }

    /// Removes the requests with a goal that matches, and returns them for an answer.
    mutating func removeWaiters(where matches: (Goal) -> Bool) -> [Waiter] {
        let removed = waiters.filter { matches($0.goal) }
        if !removed.isEmpty { waiters.removeAll { matches($0.goal) } }
        return removed
    }

    private func fulfil(_ waiter: Waiter, _ shared: inout Shared) {
        if waiter.isShared {
            if shared.requests.reachGoal(of: waiter.request) {
                shared.ready.answer(waiter.request, .done(nil))
            }
        } else if var scene = waiter.scene {
            // A scene that is gone by now was closed.
            (scene.state, scene.reason, scene.since, scene.isClosing) = (.unattached, .closed, shared.now, true)
            shared.ready.answer(waiter.request, .scene(scenes[scene.id] ?? scene, self))
        } else {
            shared.ready.answer(waiter.request, .done(self))
        }
    }

    /// Answers the request of a waiter that is removed, unless another app has had it refused.
    func refuse(_ waiter: Waiter, with refusal: Refusal, _ shared: inout Shared) {
        // The interruption, or what blocked the foreground, has ended, although this app does not become active.
        if waiter.isShared, waiter.goal == .active { return fulfil(waiter, &shared) }
        guard !waiter.isShared || shared.requests.end(waiter.request) else { return }
        shared.ready.answer(waiter.request, .refused(refusal))
    }

    private func refusal(of goal: Goal, _ shared: borrowing Shared) -> Refusal {
        if goal == .answered, let callback = outbox.overdueActivation { return .unanswered(id, callback) }
        if goal == .suspended, target == .suspended, let endlessAssertion {
            return .assertionHeld(id, by: endlessAssertion)
        }
        return lossRefusal(shared.now)
    }

    /// Returns the refusal of a request whose goal is out of reach, for an end that has `begun` before the phase shows it.
    func lossRefusal(begun: Termination? = nil, _ now: Instant) -> Refusal {
        if !isRunning, let exit = lastExit { return .ended(id, exit) }
        // An app that is ending is launched again, and stays inactive.
        if begun == nil, desired == .run, target == .inactive { return .superseded(id, by: .interruption) }
        let termination = begun ?? phase.termination
        if let termination, termination.reason.callsForRestoration || termination.reason == .exit {
            // No request ended it: its process failed, or exited by itself.
            return .ended(id, termination.exit(at: now))
        }
        return .superseded(id, by: termination?.reason ?? desiredReason)
    }

    // MARK: Goals

    /// Returns whether the goal is reached.
    func hasReached(_ goal: Goal, _ shared: borrowing Shared) -> Bool {
        if desired == .restart, goal.needsProcess { return false }
        switch goal {
        case .active: return isActiveForGood
        // An app that was launched just now may be about to connect, and has answered nothing before.
        case .answered:
            return isActiveForGood && hasAnsweredAll && outbox.overdueActivation == nil
                && shared.deadlines[.hello, index] == nil
        case .launched: return state == .suspended || state.isAlive && isReady && hasAnsweredAll
        case .awake, .woken: return state.isAlive && state != .suspended && !phase.awaitsResume
        case .suspended: return isSeenStopped
        case .gone: return phase == .notRunning
        case .outOfForeground: return !isInOrEnteringForeground && !isSpawning
        case .notActive: return state != .active
        case .readyForSleep: return isReadyForSleep
        case .scene(let scene, let goal): return hasReached(goal, of: scene)
        case .event: return false
        }
    }

    /// Returns whether the app is on its way to the goal, or could be.
    func canReach(_ goal: Goal) -> Bool { isOnWay(to: goal) || awaitsProcess(for: goal) }

    /// Returns whether the outcome of a launch decides: the process may reach the goal, and a launch that fails is the answer, also
    /// where the app would not reach it.
    private func awaitsProcess(for goal: Goal) -> Bool {
        (desired == .restart || isSpawning && target.isAlive) && goal.needsProcess
    }

    private func isOnWay(to goal: Goal) -> Bool {
        switch goal {
        case .active: target == .active
        case .answered: target == .active && outbox.overdueActivation == nil
        case .launched, .woken: target.isAlive
        case .awake: target.isAlive && target != .suspended
        case .suspended: target == .suspended && endlessAssertion == nil
        case .gone: target == .notRunning || phase.termination != nil
        case .outOfForeground: !target.isForeground
        case .notActive: target != .active
        case .readyForSleep: true
        case .scene(let scene, let goal): canReach(goal, of: scene)
        case .event(_, let inForeground): inForeground ? target.isForeground : target.isAlive
        }
    }

    /// The activity that keeps the app from being suspended for as long as it lasts, which may be for ever.
    private var endlessAssertion: Assertion? { assertions.userOverride == .suspend ? nil : assertions.activity }

    private var isActiveForGood: Bool { state == .active && !isResigning }

    /// A Boolean value that indicates whether every process is seen stopped, and the app is not about to end.
    private var isSeenStopped: Bool { phase == .suspended(isConfirmed: true) && target.isAlive }

    private var isReadyForSleep: Bool {
        switch state {
        case .notRunning: !isSpawning
        case .suspended: isSeenStopped
        case .background: hasAnsweredAll && (target == .background || assertions.activity != nil)
        case .active, .inactive, .terminating: false
        }
    }

    private func hasReached(_ goal: SceneGoal, of id: SceneID) -> Bool {
        guard let scene = scenes[id] else { return goal == .closed || goal == .outOfForeground }
        switch goal {
        case .active: return scene.state == .foregroundActive && !isResigning(id)
        case .connected: return scene.state != .unattached && !hasPendingCallback(about: id)
        case .outOfForeground: return !scene.state.isForeground && sentCallback?.delivery.pending.scene != id
        case .closed: return false
        }
    }

    private func canReach(_ goal: SceneGoal, of id: SceneID) -> Bool {
        guard let scene = scenes[id] else { return false }
        switch goal {
        case .active: return sceneTarget(of: scene) == .foregroundActive
        case .connected: return sceneTarget(of: scene) != .unattached
        case .outOfForeground: return !sceneTarget(of: scene).isForeground
        case .closed: return scene.isClosing
        }
    }
}
