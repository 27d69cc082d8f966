// The end of an app: asked, forced, or by itself. The router leads it, for the foreground is affected.

/// The end of an app that has begun.
public struct Termination: Sendable, Equatable {
    /// The state in which it began.
    var state: AppState
    /// The reason.
    var reason: Reason
    /// The kernel's account, once the main process has ended.
    var status = ExitStatus.unknown

    func exit(at instant: Instant) -> ExitRecord {
        ExitRecord(state: state, reason: reason, status: status, instant: instant)
    }
}

extension ExitStatus {
    /// True if the process was ended by a signal that asks programs to end.
    fileprivate var isByRequestToEnd: Bool {
        // SIGHUP, SIGINT, SIGQUIT and SIGTERM, which have the same numbers everywhere.
        if case .signal(let number) = self { [1, 2, 3, 15].contains(number) } else { false }
    }
}

extension AppMachine {
    /// A Boolean value that indicates whether the app is to end by request, and was neither asked to end nor killed yet.
    public var isEndRequested: Bool {
        desired.isEnd && state != .terminating && phase.termination == nil && !desiredReason.callsForRestoration
    }

    /// The time from SIGKILL until a request that waits for the end of the tree is refused.
    static let timeAfterKill = Duration.seconds(5)

    /// Continues an end that was requested, after the router has taken the app out of the foreground.
    mutating func beginEnd(atOnce: Bool, _ shared: inout Shared) {
        if atOnce {
            kill(&shared)
        } else if isSpawning, shared.deadlines[.termination, index] == nil {
            // There is no program to ask, and there may never be one: a directory of a dead server can block the spawn.
            shared.deadlines.set(.termination, index, at: shared.now + policy.timeouts.termination)
        }
    }

    /// Asks the app to end, to be launched again. Requests and events that wait for the process are refused; later ones are for the
    /// next process.
    mutating func restart(_ shared: inout Shared) {
        guard desired != .restart else { return }
        desired = .restart
        desiredReason = .terminate
        refuseWaiters(with: .superseded(id, by: .terminate), &shared) { $0.needsProcess }
        let events = outbox.events
        outbox.events = []
        for event in events { finish(event, .lost, &shared) }
        endWorkTime(&shared)
        beginEnd(atOnce: false, &shared)
        shared.reconciles.appendOnce(index)
    }

    /// Wants an app to run again whose end for a restart begins.
    private mutating func launchAgain(_ shared: borrowing Shared) {
        guard desired == .restart else { return }
        desired = .run
        desiredReason = .launch
        launch.reason = .launch
        target = desiredTarget(shared)
    }

    /// Drops the events of an app whose end begins, but for those that came since it was asked to end and be launched again.
    private mutating func dropEventsOfEnd(begun: Termination? = nil, _ shared: inout Shared) {
        var events: [QueuedEvent] = []
        if desired == .restart { swap(&events, &outbox.events) }
        dropEvents(.lost, begun: begun, &shared)
        outbox.events = events
    }

    /// Sends SIGKILL to the tree, in any phase.
    private mutating func kill(_ shared: inout Shared) {
        if case .spawning(let state, _) = phase {
            // The outcome of the spawn is awaited all the same; then this end goes on.
            phase = .spawning(to: state, Termination(state: state.appState, reason: desiredReason))
            cancelLaunch(&shared)
        } else {
            guard isRunning else { return }
            beginTermination(reason: desiredReason, &shared)
        }
        killTree(&shared)
    }

    /// Sends SIGKILL; the end has begun.
    mutating func killTree(_ shared: inout Shared) {
        shared.ready.operations.append(.kill(index))
        shared.deadlines.clear(.termination, index)
        shared.deadlines.set(.killed, index, at: shared.now + Self.timeAfterKill)
    }

    /// Drops what the app was being started for, with its kill. What comes from then on is for the next launch.
    private mutating func cancelLaunch(_ shared: inout Shared) {
        if let number = launch.event, let url = argumentURL {
            finish(QueuedEvent(number: number, event: .openURL(url)), .lost, &shared)
        }
        (launch.url, launch.event) = (nil, nil)
        dropEventsOfEnd(&shared)
        if desired != .restart { endWorkTime(&shared) }
        endScenes(reason: desiredReason, &shared)
    }

    /// Sends SIGTERM to the tree, whose main process may have `begun` to end; the termination timeout begins, unless it began with the
    /// disconnection of the scenes. That takes half of it at most, but for the time in which there was no daemon to go on.
    mutating func terminate(reason: Reason, begun: Termination? = nil, _ shared: inout Shared) {
        let timeout = policy.timeouts.termination
        let start = min(sceneDisconnectionStart ?? shared.now, shared.now)
        let end = max(start + timeout, shared.now + timeout / 2)
        beginTermination(reason: reason, begun: begun, &shared)
        shared.ready.operations.append(.terminate(index))
        shared.deadlines.set(.termination, index, at: end)
    }

    mutating func beginTermination(reason: Reason, begun: Termination? = nil, _ shared: inout Shared) {
        dropEventsOfEnd(begun: begun, &shared)
        let termination = begun ?? phase.termination ?? Termination(state: state, reason: reason)
        launchAgain(shared)
        forgetConversation(&shared)
        if state != .terminating { endScenes(reason: termination.reason, &shared) }
        transition(to: .terminating, reason: reason, termination: termination, &shared)
    }

    /// Forgets all that the app was to be told or has said. The time for work that came since its end began is for the next launch.
    mutating func forgetConversation(_ shared: inout Shared) {
        let endOfWork = desired == .run ? shared.deadlines[.woken, index] : nil
        channel = .none
        outbox.callbacks = []
        outbox.resignations = []
        assertions.endSuspension()
        assertions.held = []
        assertions.expiration = nil
        assertions.isWoken = endOfWork != nil
        sceneDisconnectionStart = nil
        shared.deadlines.clearAll(index)
        if let endOfWork { shared.deadlines.set(.woken, index, at: endOfWork) }
    }

    /// Handles the end of the termination timeout.
    mutating func terminationOverdue(_ shared: inout Shared) {
        shared.announce(.terminationOverdue(id), of: index)
        if isSpawning { kill(&shared) } else { killTree(&shared) }
    }

    /// Notes and returns the end of the main process.
    mutating func noteExit(_ status: ExitStatus, _ shared: inout Shared) -> Termination {
        let isSignalled =
            !desired.isEnd && (facesSignal(shared) || state == .suspended && status.isByRequestToEnd)
        let ownReason = desired.isEnd ? desiredReason : isSignalled ? .signalled : status == .code(0) ? .exit : .crash
        let ownState = isSignalled ? .suspended : state
        var termination = phase.termination ?? Termination(state: ownState, reason: ownReason)
        termination.status = status
        if case .terminating = phase { phase = .terminating(termination) }
        shared.announce(.exited(id, exit(of: termination, at: shared.now)), of: index)
        if state != .terminating, desired != .restart { desired = .rest }
        return termination
    }

    /// Returns the end as the next launch has it.
    private func exit(of termination: Termination, at now: Instant) -> ExitRecord {
        var exit = termination.exit(at: now)
        exit.restoreFailure = restoreFailure(of: termination.reason, now)
        return exit
    }

    /// Returns the failure of an app whose last launch restored its state, or had it set aside, and that did not outlive the launch
    /// timeout. Whatever ran longer has a state of its own to restore.
    func restoreFailure(of reason: Reason, _ now: Instant) -> RestoreFailure? {
        guard reason.isFailure, let launched = launch.instant, let lastExit, lastExit.reason.callsForRestoration
        else { return nil }
        let begun = state == .terminating ? since : now
        guard reason == .launchTimeout || begun.duration(since: launched) <= policy.timeouts.launch else { return nil }
        return lastExit.restoreFailure == nil ? .restoring : .setAside
    }

    /// Rests an app whose last process is gone; returns whether it does. A request to run that came during the termination stands:
    /// the app is launched again.
    mutating func restUnlessWantedAgain() -> Bool {
        guard desired != .run || state != .terminating else { return false }
        desired = .rest
        return true
    }

    /// Notes that the last process of the tree is gone, after the router has taken the app out of the foreground.
    mutating func noteGone(_ termination: Termination, begun: Termination?, _ shared: inout Shared) {
        let wasTerminating = state == .terminating
        // What came during the termination is for the next launch, unless a request has cancelled that.
        if desired == .rest { dropEvents(.lost, begun: begun, &shared) }
        forgetConversation(&shared)
        if !wasTerminating { endScenes(reason: termination.reason, &shared) }
        if wasTerminating, desired == .rest { scenes.removeNew() }
        lastExit = exit(of: termination, at: shared.now)
        assertions.userOverride = .none
        isStoppedByOther = false
        wasInForeground = false
        lastInForeground = nil
        if termination.reason != .reclaimed { reclaimed = nil }
        shared.runningCount -= 1
        transition(to: .notRunning, reason: termination.reason, &shared)
        shared.leaveActivation(index)
    }

    /// Notes that the program could not be started, before the router takes the app out of the foreground.
    mutating func noteSpawnFailed(_ shared: inout Shared) {
        shared.runningCount -= 1
        shared.deadlines.clearAll(index)
        phase = .notRunning
        desired = .rest
        assertions.userOverride = .none
        assertions.isWoken = false
        scenes.removeNew()
        reason = .launchFailed
        target = .notRunning
    }

    /// Reports the failed launch to the requests and events that wait for the app.
    mutating func reportSpawnFailed(_ failure: SystemFailure, _ shared: inout Shared) {
        shared.announce(.launchFailed(id, failure), of: index)
        answerWaiters(lost: .launchFailed(id, failure), &shared)
        dropEvents(.lost, &shared)
    }

    /// Abandons the callbacks of an app that is to end, except its resignation and those about the end of its scenes.
    mutating func abandonCallbacksOfTermination(_ shared: inout Shared) {
        guard target == .notRunning, state != .active, state.isAlive else { return }
        if isDisconnectingScenes(shared) { return beginSceneDisconnection(&shared) }
        outbox.callbacks = []
        abandonEvent(.lost, &shared)
        abandonPendingOperation()
    }

    /// Abandons the operation that the phase waits for.
    mutating func abandonPendingOperation() {
        switch phase {
        case .running(let state, sentCallback: _): phase = .running(state, sentCallback: nil)
        case .stopping, .resuming(isSuspended: false): phase = .running(.background, sentCallback: nil)
        case .suspended, .resuming(isSuspended: true): phase = .suspended(isConfirmed: true)
        case .notRunning, .spawning, .terminating: break
        }
    }
}
