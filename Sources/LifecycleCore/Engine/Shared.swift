import DequeModule
import OrderedCollections

/// The part of the core that a machine may read and change during its turn: what concerns several apps, without the apps.
struct Shared: Sendable {
    /// The time of the input.
    var now = Instant(microseconds: 0)
    /// What the input has led to so far.
    var ready = Ready()
    /// The settings that apply to all apps.
    var settings = Settings()
    /// The home app of the settings; nil if they name none, or if it is not known.
    var home: AppIndex?
    /// The foreground apps, the latest first; never more than the settings allow.
    var foreground: [AppIndex] = []
    /// The apps that ended in the foreground and come back by their restart policy, unless a request chooses another one.
    var returning: [AppIndex] = []
    /// The conditions under which no app is in the foreground.
    var blockers: OrderedSet<ForegroundBlocker> = []
    /// The names of the interruptions under way.
    var interruptions: OrderedSet<String> = []
    /// The activation slots.
    var activation = ActivationQueue()
    /// The machines that have to be looked at before the input is handled.
    var reconciles: Deque<AppIndex> = []
    var deadlines = DeadlineQueue()
    /// The requests that wait for several apps.
    var requests = RequestTracker()
    /// The number of apps that have a process, or are getting one.
    var runningCount = 0
    /// The number of suspended apps.
    var suspendedCount = 0
}

/// The activation slots: there are as many as foreground apps may be, and apps take them in turn.
///
/// An app joins the queue when it is sent to the foreground, and leaves it when it has resigned, or is not to become active any
/// more. It may join only when every app in its way was told to resign: the callbacks overlap, the slots do not.
struct ActivationQueue: Sendable {
    /// The apps that are active or about to be, in turn; the first `foregroundLimit` of them have a slot.
    var slots: [AppIndex] = []
    /// The apps that could not take their next step for want of a slot.
    var waiting: [AppIndex] = []
    /// The number of other apps in the queue that were not told to resign. Set by the router before the turn of a machine.
    var stayingCount = 0

    /// Returns whether the app in the queue has a slot.
    func hasSlot(_ index: AppIndex, limit: Int) -> Bool { slots.prefix(limit).contains(index) }
}

extension RangeReplaceableCollection<AppIndex> {
    /// Adds the app unless it is there.
    mutating func appendOnce(_ app: AppIndex) {
        if !contains(app) { append(app) }
    }
}

extension [AppIndex] {
    /// Removes the app; returns whether it was there.
    @discardableResult
    mutating func remove(_ app: AppIndex) -> Bool {
        guard let position = firstIndex(of: app) else { return false }
        remove(at: position)
        return true
    }
}

extension Shared {
    mutating func announce(_ decision: Decision, of app: AppIndex?) {
        ready.announcements.append(.decision(decision, of: app))
    }

    /// Joins the activation queue if that is possible now, unless the app is to be inactive, and needs no slot.
    mutating func joinActivation(_ index: AppIndex, isActivating: Bool) -> Bool {
        if activation.slots.contains(index) { return true }
        guard activation.stayingCount < settings.foregroundLimit else {
            activation.waiting.appendOnce(index)
            return false
        }
        activation.waiting.remove(index)
        if isActivating { activation.slots.append(index) }
        return true
    }

    /// Gives up the app's activation slot, so that the next app can have it.
    mutating func leaveActivation(_ index: AppIndex) {
        deadlines.clear(.resignation, index)
        guard activation.slots.remove(index) else { return }
        for other in activation.slots { reconciles.appendOnce(other) }
        reconcileWaiting()
    }

    /// Looks again at the apps that wait for a slot.
    mutating func reconcileWaiting() {
        for other in activation.waiting { reconciles.appendOnce(other) }
    }

    /// Puts the app first on the foreground list.
    mutating func insertInForeground(_ index: AppIndex) {
        foreground.remove(index)
        foreground.append(index)
        for position in foreground.indices.dropFirst().reversed() { foreground.swapAt(position, position - 1) }
    }
}
