// The requests that wait for an app: their goals, the replies, and the refusals.

extension AppMachine {
    /// Answers the requests whose goal is reached, and, once the app is reconciled, those whose goal is out of reach.
    @inline(__always) mutating func answerWaiters(lost given: Refusal? = nil, _ shared: inout Shared) {
        if !waiters.isEmpty { answerSome(lost: given, &shared) }
    }

    private mutating func answerSome(lost given: Refusal?, _ shared: inout Shared) {
        let isReconciled = given != nil || !shared.reconciles.contains(index)
        var position = 0
        while position < waiters.count {
            let waiter = waiters[position]
            let isReached = hasReached(waiter.goal, shared)
            guard isReached || isReconciled && !canReach(waiter.goal) else {
                position += 1
                continue
            }
            waiters.remove(at: position)
            if isReached {
                fulfil(waiter, &shared)
            } else {
                refuse(waiter, with: given ?? lossRefusal(shared.now), &shared)
            }
        }
        // An empty array would keep its memory, for each app.
        if waiters.isEmpty { waiters = [] }
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
            guard let count = shared.openRequests.removeValue(forKey: waiter.request) else { return }
            if count > 1 {
                shared.openRequests[waiter.request] = count - 1
            } else {
                shared.effects.append(.reply(waiter.request, .done(nil)))
            }
        } else if var scene = waiter.scene?.value {
            // A scene that is gone by now was closed.
            (scene.state, scene.reason, scene.since, scene.isClosing) = (.unattached, .closed, shared.now, true)
            shared.effects.append(.reply(waiter.request, .scene(scenes[scene.id] ?? scene, self)))
        } else {
            shared.effects.append(.reply(waiter.request, .done(Box(self))))
        }
    }

    /// Answers the request of a waiter that is removed, unless another app has had it refused.
    func refuse(_ waiter: Waiter, with refusal: Refusal, _ shared: inout Shared) {
        guard !waiter.isShared || shared.openRequests.removeValue(forKey: waiter.request) != nil else { return }
        shared.effects.append(.reply(waiter.request, .refused(refusal)))
    }

    /// Returns the refusal of a request whose goal is out of reach, for an end that has `begun` before the phase shows it.
    func lossRefusal(begun: Termination? = nil, _ now: Instant) -> Refusal {
        if !isRunning, let exit = lastExit { return .ended(id, exit) }
        let termination = begun ?? phase.termination
        if let termination, termination.reason.callsForRestoration {
            // No request ended it: it failed, and is on its way out.
            return .ended(id, termination.exit(at: now))
        }
        let isInterrupted = termination == nil && target == .inactive
        return .superseded(id, by: isInterrupted ? .interruption : termination?.reason ?? desiredReason)
    }
}
