@testable import LifecycleCore

/// The internals of the core that tests read, by the name of an app.
extension Engine {
    /// Queues an event for an app, as a change of the machine does.
    mutating func queue(_ id: AppID, _ event: AppEvent) {
        guard let app = knownApps.index(of: id) else { return }
        change(app) { machine, shared in machine.queue(event, &shared) }
    }

    /// Returns the apps that may be reclaimed, in their order.
    func reclaimableApps(suspendedOnly: Bool = false) -> [AppID] {
        reclaimOrder(suspendedOnly: suspendedOnly).map { knownApps[$0].id }
    }

    /// The round of reclaims, without the index of its app, which is another one in a restored core.
    var round: ReclaimRound? {
        var round = reclaimer.round
        round?.victim = nil
        return round
    }

    /// The apps that ended in the foreground and come back there.
    var returningApps: [AppID] { shared.returning.map { knownApps[$0].id } }
}
