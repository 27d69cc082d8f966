import OrderedCollections

/// What the machine and the session do to the apps.
///
/// While nothing is in sight, what is in front is in the background and put to sleep like anything else there; it stays
/// on the front list, and is back when nothing conceals it any more. Who is brought to the front meanwhile comes then.
extension Lifecycle {
    mutating func take(_ event: MachineEvent, for request: RequestID) {
        effects.append(.decision(.machine(event)))
        switch event {
        case .lock:
            if !concealments.contains(.locked) { notifyAll(.protectedDataWillBecomeUnavailable) }
            conceal(.locked, reason: .locked)
            wait(request, for: inSight, goal: .outOfSight)
        case .unlock:
            if concealments.contains(.locked) { notifyAll(.protectedDataDidBecomeAvailable) }
            reveal(.locked, reason: .unlocked, for: request)
        case .switchAway:
            conceal(.switchedAway, reason: .switchedAway)
            wait(request, for: inSight, goal: .outOfSight)
        case .switchBack: reveal(.switchedAway, reason: .switchedBack, for: request)
        case .sleep:
            conceal(.asleep, reason: .sleep)
            wait(request, for: apps.values.filter(\.isRunning).map(\.id).sorted(), goal: .asleep)
        case .wake:
            for id in apps.keys.sorted() {
                refuseWaiters(of: id, with: .superseded(id, by: .awake)) { $0.goal == .asleep }
            }
            reveal(.asleep, reason: .awake, for: request)
        case .timeChange:
            notifyAll(.significantTimeChange)
            wait(request, for: [], goal: .awake)
        }
    }

    private mutating func conceal(_ concealment: ForegroundBlocker, reason: Reason) {
        guard concealments.append(concealment).inserted else { return }
        unsettleUsed()
        retargetFront(reason: reason)
    }

    private mutating func reveal(_ concealment: ForegroundBlocker, reason: Reason, for request: RequestID) {
        if concealments.remove(concealment) != nil, concealments.isEmpty {
            unsettleUsed()
            retargetFront(reason: reason)
        }
        wait(request, for: concealments.isEmpty && interruptions.isEmpty ? front : [], goal: .active)
    }
}
