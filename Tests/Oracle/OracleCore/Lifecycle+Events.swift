import OrderedCollections

/// Events: what waits for an app, when it is told, and what became of it.
///
/// An event that finds its app suspended waits until the app runs for another reason; a task is a reason. Errands keep
/// their order, and of the others one of a kind is enough.
extension Lifecycle {
    /// How many errands may wait for an app: more than a person can want, and no burden.
    public static let errandLimit = 16

    /// Tells the app, as soon as it is in a place to be told. Nothing that is not running hears of what is no errand.
    ///
    /// Whoever sends an errand sees to it that the app runs or is launched.
    ///
    /// - Returns: The number of the event; nil when it is not needed, or when too many wait already.
    @discardableResult
    mutating func notify(_ id: AppID, _ event: AppEvent) -> UInt64? {
        guard let app = apps[id] else { return nil }
        guard event.hasOutcome else {
            if app.isLinked, app.state.isAlive { coalesce(event, for: id) }
            return nil
        }
        guard app.events.count(where: \.event.hasOutcome) < Self.errandLimit else { return nil }
        apps[id]?.isSuspendedAtOnce = false
        return append(event, for: id)
    }

    /// Tells every app that listens.
    mutating func notifyAll(_ event: AppEvent) {
        for id in apps.keys.sorted() { notify(id, event) }
    }

    private mutating func append(_ event: AppEvent, for id: AppID) -> UInt64? {
        guard let app = apps[id] else { return nil }
        let number = app.lastEvent + 1
        apps[id]?.lastEvent = number
        apps[id]?.events.append(QueuedEvent(number: number, event: event))
        unsettled.append(id)
        return number
    }

    /// What the app has not heard yet is not told twice, and not at all when it is no longer so.
    private mutating func coalesce(_ event: AppEvent, for id: AppID) {
        guard let waiting = apps[id]?.events.map(\.event), !waiting.contains(event) else { return }
        if let opposite = event.opposite, waiting.contains(opposite) {
            apps[id]?.events.removeAll { $0.event == opposite }
        } else {
            _ = append(event, for: id)
        }
    }

    // MARK: Telling

    /// Tells the app of the first event that is in its place now.
    ///
    /// - Returns: Whether there is one.
    mutating func deliverEvent(to id: AppID) -> Bool {
        guard let app = apps[id], app.canHear else { return false }
        // An app that listens since a moment ago may be in use already without having been told so.
        guard app.owed.first?.isActivation ?? true else { return false }
        guard let index = app.events.firstIndex(where: { app.isPlace(for: $0.event) }) else { return false }
        let event = app.events[index]
        apps[id]?.events.remove(at: index)
        deliver(Notice(event.event.callback), to: id, then: nil, event: event)
        return true
    }

    /// Gives the app that has nowhere to go its next task. It works on it while it is told other things.
    mutating func deliverTask(to id: AppID) {
        guard let app = apps[id], app.canHear, app.owed.isEmpty, app.task == nil else { return }
        guard let index = app.events.firstIndex(where: \.event.isTask) else { return }
        var delivery = app.delivery(
            of: Notice(.performTask), sequence: app.lastSequence + 1, deadline: now + app.policy.timeouts.task,
            state: app.state)
        delivery.event = app.events[index]
        apps[id]?.events.remove(at: index)
        apps[id]?.lastSequence = delivery.sequence
        apps[id]?.task = delivery
        deadlines.set(.performTask, id, at: delivery.deadline)
        effects.append(.deliver(id, delivery))
    }

    // MARK: Listening

    /// An app that does not listen may be about to, when it was launched just now. Until then what waits for it waits.
    mutating func awaitListening(of id: AppID) {
        guard let app = apps[id], !app.isLinked, app.state.isAlive,
            !app.events.isEmpty || app.waiters.contains(where: { $0.goal == .answered })
        else { return }
        let end = (app.launched ?? now) + app.policy.timeouts.launch
        if app.policy.callbacks == .none || end <= now {
            dropEvents(of: id, .notListening)
        } else if deadlines.instant(.hello, id) == nil {
            deadlines.set(.hello, id, at: end)
        }
    }

    mutating func helloOverdue(_ id: AppID) {
        guard let app = apps[id], !app.isLinked else { return }
        dropEvents(of: id, .notListening)
        // What it was launched for, and could not be told, it may do all the same.
        if app.hasWork, app.wish == .run { giveWakeTime(to: id, since: app.launched) }
        answerWaiters(of: id)
    }

    // MARK: Launching

    /// What the app is launched to open. One that takes it as an argument has it then.
    mutating func noteLaunchURL(of id: AppID) {
        let waiting = apps[id]?.events.first { $0.event.url != nil }
        apps[id]?.launchURL = waiting?.event.url
        apps[id]?.launchEvent = waiting?.number
        apps[id]?.hasDeclined = false
        if let waiting, apps[id]?.policy.takesURLs == true {
            apps[id]?.events.removeAll { $0.number == waiting.number }
        }
    }

    /// The program was started with what it is to open, if it took that as an argument.
    mutating func noteStartedWithURL(_ id: AppID) {
        guard let app = apps[id], let number = app.launchEvent, let url = app.argumentURL else { return }
        apps[id]?.launchEvent = nil
        finish(QueuedEvent(number: number, event: .openURL(url)), of: id, .handled)
    }

    /// Both launch callbacks together decide whether the app gets what it was launched for.
    mutating func noteLaunchAnswer(_ callback: Callback, _ answer: AppAnswer, of id: AppID) {
        switch callback {
        case .willFinishLaunching: apps[id]?.hasDeclined = answer == .handled(false)
        case .didFinishLaunching:
            guard let app = apps[id], app.hasDeclined, answer == .handled(false),
                let event = app.events.first(where: { $0.number == app.launchEvent })
            else { return }
            apps[id]?.events.removeAll { $0.number == event.number }
            finish(event, of: id, .declined)
        default: break
        }
    }

    // MARK: Outcomes

    /// The app has answered the task that it works on.
    mutating func answerTask(_ answer: AppAnswer, of id: AppID) {
        guard let event = apps[id]?.task?.event else { return }
        endTask(of: id)
        finish(event, of: id, event.event.outcome(of: answer))
    }

    mutating func taskUnanswered(_ id: AppID) {
        guard let event = apps[id]?.task?.event else { return }
        endTask(of: id)
        effects.append(.decision(.answerOverdue(id, .performTask)))
        finish(event, of: id, .unanswered)
    }

    private mutating func endTask(of id: AppID) {
        apps[id]?.task = nil
        deadlines.clear(.performTask, id)
    }

    /// Nobody waits any more for the app's answer to an event, if that is what it was told.
    mutating func giveUpEvent(of id: AppID, _ outcome: EventOutcome = .unanswered) {
        guard case .answer(let delivery, _, _) = apps[id]?.awaiting, let event = delivery.event else { return }
        finish(event, of: id, outcome)
    }

    /// Nobody can tell the app any more.
    mutating func dropEvents(of id: AppID, _ outcome: EventOutcome) {
        guard let app = apps[id] else { return }
        giveUpEvent(of: id, outcome)
        apps[id]?.events = []
        if let event = app.task?.event {
            endTask(of: id)
            finish(event, of: id, outcome)
        }
        for event in app.events { finish(event, of: id, outcome) }
        deadlines.clear(.hello, id)
    }

    /// The app is to be suspended before it has done its work.
    mutating func dropWork(of id: AppID) {
        let dropped = apps[id]?.events.filter(\.event.isTask) ?? []
        apps[id]?.events.removeAll(where: \.event.isTask)
        if let event = apps[id]?.task?.event {
            endTask(of: id)
            finish(event, of: id, .lost)
        }
        for event in dropped { finish(event, of: id, .lost) }
    }

    /// The only end of every event: says what became of it, and answers who waits for that.
    mutating func finish(_ event: QueuedEvent, of id: AppID, _ outcome: EventOutcome) {
        guard event.event.hasOutcome else { return }
        effects.append(.decision(.eventEnded(id, event.event, outcome)))
        answerErrand(event.number, of: id, outcome)
    }
}

extension Lifecycle {
    // MARK: Requests

    /// Hands an app an errand, and answers when the app is done with it.
    mutating func hand(_ event: AppEvent, to id: AppID, for request: RequestID) {
        guard let app = apps[id] else { return refuse(request, .noSuchApp(id)) }
        guard event.hasOutcome, app.policy.callbacks != .none || (app.policy.takesURLs && event.url != nil) else {
            return effects.append(.reply(request, .ended(.notListening, app)))
        }
        guard let number = notify(id, event) else {
            return refuse(request, .tooManyErrands(id, limit: Self.errandLimit))
        }
        if event.isForForeground {
            cancelRestart(of: id)
            bringToFront(id, reason: event.url == nil ? .activity : .url)
        } else if app.wish != .run {
            want(id, reason: .wake)
        }
        wait(request, for: [id], goal: .errand(number, inFront: event.isForForeground), about: id)
    }

    /// Answers who waits for what becomes of an errand.
    fileprivate mutating func answerErrand(_ number: UInt64, of id: AppID, _ outcome: EventOutcome) {
        let isMeant = { (waiter: Waiter) in
            if case .errand(number, _) = waiter.goal { true } else { false }
        }
        let waiting = apps[id]?.waiters.filter(isMeant) ?? []
        apps[id]?.waiters.removeAll(where: isMeant)
        for waiter in waiting where requests.removeValue(forKey: waiter.request) != nil {
            // An app that ended did not answer, and its exit says more than that.
            if outcome == .lost, let app = apps[id] {
                refuse(waiter.request, lossRefusal(for: app))
            } else {
                effects.append(.reply(waiter.request, .ended(outcome, apps[id])))
            }
        }
    }
}

extension App {
    /// Whether a task, or the time for one, keeps it from being put to sleep.
    var hasWork: Bool { self.isWoken || self.task != nil || self.events.contains { $0.event.isTask } }

    /// Whether it listens and can be told something right now.
    fileprivate var canHear: Bool {
        self.isLinked && !self.isAway && self.awaiting == nil && self.target.isAlive && self.state.isAlive
            && self.state != .suspended
    }

    /// A Boolean value that indicates whether it is where it is to be, or about to be suspended there.
    private var isAtRest: Bool {
        self.state == destination || (self.state == .background && destination == .suspended)
    }

    /// Whether an event is in its place.
    fileprivate func isPlace(for event: AppEvent) -> Bool {
        if !self.owed.isEmpty, !event.isForForeground { return false }
        return switch event {
        // With scenes, it is one of them that shows it.
        case .openURL, .continueActivity:
            self.state.isForeground && self.target.isForeground && (!hasScenes || self.scenes.appState.isForeground)
        case .performTask: false
        // What has to be put away is put away before the app leaves.
        case .protectedDataWillBecomeUnavailable: destination != .active || self.state == .active
        // An app that becomes active after an unlock has its data by then.
        case .protectedDataDidBecomeAvailable: isAtRest || (self.state == .inactive && self.target == .active)
        // These keep no app waiting, neither on its way to the foreground nor to the background.
        case .memoryWarning, .significantTimeChange: isAtRest
        }
    }
}
