import OrderedCollections

/// The part of the core that a machine may read and change during its turn: what concerns several apps, without the apps.
struct Shared: Sendable {
    /// The time of the input.
    var now = Instant(microseconds: 0)
    /// The effects of the input so far, in order. They are kept until the next input, so that their memory is used again.
    var effects: [Effect] = []
    /// The settings that apply to all apps.
    var settings = Settings()
    /// A Boolean value that indicates whether every app is to end and none may be launched.
    var isShuttingDown = false
    /// The foreground apps, the latest first; never more than the settings allow.
    var foreground: [AppIndex] = []
    /// The apps that ended in the foreground and come back there by their restart policy, unless a request chooses another one
    /// first.
    var returning: [AppIndex] = []
    /// The conditions under which no app is in the foreground.
    var blockers: OrderedSet<ForegroundBlocker> = []
    /// The names of the interruptions under way.
    var interruptions: OrderedSet<String> = []
    /// The activation slots.
    var activation = ActivationQueue()
    /// The machines that have to be looked at before the input is handled.
    var reconciles = ReconcileQueue()
    var deadlines = DeadlineQueue()
    /// The requests that wait for several apps.
    var requests = RequestTracker()
    /// The number of apps that have a process, or are getting one.
    var runningCount = 0
    /// The number of suspended apps.
    var suspendedCount = 0

    /// The target of an app in the foreground: active, or inactive during an interruption.
    var foregroundTarget: AppState { interruptions.isEmpty ? .active : .inactive }
}

/// The machines to look at, each once, in the order in which they were added.
struct ReconcileQueue: Sendable {
    /// The number of machines for which room is kept. Only a restart looks at all.
    private static let countToKeep = 256

    private var indexes: [AppIndex] = []
    private var head = 0
    private var isQueued: [Bool] = []

    func contains(_ index: AppIndex) -> Bool { index.value < isQueued.count && isQueued[index.value] }

    mutating func append(_ index: AppIndex) {
        while isQueued.count <= index.value { isQueued.append(false) }
        guard !isQueued[index.value] else { return }
        isQueued[index.value] = true
        indexes.append(index)
    }

    mutating func popFirst() -> AppIndex? {
        guard head < indexes.count else {
            // Not each time: it costs more than the rest.
            if head > 64 {
                indexes.removeAll(keepingCapacity: head <= Self.countToKeep)
                head = 0
            }
            return nil
        }
        let index = indexes[head]
        head += 1
        isQueued[index.value] = false
        return index
    }
}

/// The activation slots: there are as many as foreground apps may be, and apps take them in turn.
///
/// An app joins the queue when it is sent to the foreground, and leaves it when it has resigned, or is not to become active any
/// more. It may join only when every app in its way was told to resign: the callbacks overlap, the slots do not.
struct ActivationQueue: Sendable {
    /// The apps that are active or about to be, in turn; the first `foregroundLimit` of them have a slot.
    private(set) var slots: [AppIndex] = []
    /// The apps that could not take their next step for want of a slot.
    private(set) var waiting: [AppIndex] = []
    /// The number of other apps in the queue that were not told to resign. Set by the router before the turn of a machine.
    var stayingCount = 0

    func contains(_ index: AppIndex) -> Bool { slots.contains(index) }

    /// Returns whether the app in the queue has a slot.
    func hasSlot(_ index: AppIndex, limit: Int) -> Bool { slots.prefix(limit).contains(index) }

    mutating func append(_ index: AppIndex) {
        if !slots.contains(index) { slots.append(index) }
    }

    /// Removes the app from the queue.
    ///
    /// - Returns: Whether it was there.
    mutating func remove(_ index: AppIndex) -> Bool {
        guard let position = slots.firstIndex(of: index) else { return false }
        slots.remove(at: position)
        return true
    }

    mutating func wait(_ index: AppIndex) {
        if !waiting.contains(index) { waiting.append(index) }
    }

    mutating func stopWaiting(_ index: AppIndex) {
        if let position = waiting.firstIndex(of: index) { waiting.remove(at: position) }
    }
}

extension Shared {
    /// Joins the activation queue if that is possible now.
    ///
    /// - Parameter isActivating: Whether the target is active; during an interruption the app comes to the foreground
    ///   without a slot.
    /// - Returns: Whether the app is in the queue, or needs no slot.
    mutating func joinActivation(_ index: AppIndex, isActivating: Bool) -> Bool {
        if activation.contains(index) { return true }
        guard activation.stayingCount < settings.foregroundLimit else {
            activation.wait(index)
            return false
        }
        activation.stopWaiting(index)
        if isActivating { activation.append(index) }
        return true
    }

    /// Gives up the app's activation slot, so that the next app can have it.
    mutating func leaveActivation(_ index: AppIndex) {
        deadlines.clear(.resignation, index)
        guard activation.remove(index) else { return }
        for other in activation.slots { reconciles.append(other) }
        reconcileWaiting()
    }

    /// Looks again at the apps that wait for a slot.
    mutating func reconcileWaiting() {
        for other in activation.waiting { reconciles.append(other) }
    }

    /// Puts the app first on the foreground list.
    mutating func insertInForeground(_ index: AppIndex) {
        _ = removeFromForeground(index)
        foreground.append(index)
        for position in foreground.indices.dropFirst().reversed() { foreground.swapAt(position, position - 1) }
    }

    /// Removes the app from the foreground list.
    ///
    /// - Returns: Whether it was there.
    mutating func removeFromForeground(_ index: AppIndex) -> Bool {
        guard let position = foreground.firstIndex(of: index) else { return false }
        foreground.remove(at: position)
        return true
    }
}
