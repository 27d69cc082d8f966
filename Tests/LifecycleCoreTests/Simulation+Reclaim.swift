@testable import LifecycleCore

/// Memory runs short, and the kernel takes its time to tell.
extension Simulation {
    mutating func randomMemoryPressure() {
        let level = MemoryLevel.allCases.randomElement(using: &random) ?? .normal
        if chance(50) {
            give(.memoryPressure(level, "short"))
        } else {
            ask(.memoryPressure(level, all: chance(30)))
        }
    }

    mutating func lookAtMemory() {
        let level: MemoryLevel = chance(60) ? .critical : .normal
        let delay = Duration.milliseconds(Int64.random(in: 0...300, using: &random))
        pending.append((now + delay, .memoryLookedAt(level, "still short", freed: random.next() % 1000), nil))
    }

    /// Nobody loses what is in use, or what may never be ended.
    mutating func note(reclaimOf id: AppID) {
        if core.front.contains(id) { problems.append("\(id) is in front and reclaimed") }
        if policies[id]?.suspend == .never { problems.append("\(id) is never suspended and reclaimed") }
    }
}

extension Reclaim {
    /// What is saved of it.
    var withoutWaiters: Reclaim {
        var round = self
        round.waiters = []
        round.reclaimed = []
        return round
    }
}
