// The processes of an app: its launch, what the kernel reports, and what a new daemon repeats.

/// The last launch of an app.
struct LaunchState: Sendable, Equatable {
    /// The instant of the spawn; nil before the first.
    var instant: Instant?
    /// The reason of the launch, or of the next one.
    var reason = Reason.launch
    /// The URL that the app was launched to open, if any.
    var url: String?
    /// The number of the event that the app was launched for, while it has no outcome.
    var event: UInt64?
    /// A Boolean value that indicates whether the app has answered the first launch callback with no.
    var hasDeclined = false
    /// A Boolean value that indicates whether the app has answered the launch callbacks. Cleared by a spawn, and by a new life cycle.
    var isComplete = false
    /// A Boolean value that indicates whether the app's scenes had a life cycle of their own when it was launched.
    var hasScenes = false
    /// A Boolean value that indicates whether the processes are no children of this daemon, so that their stops are not reported.
    var isForeign = false
}

extension AppMachine {
    // MARK: Launch

    /// Wants the app to run. An app that another program has stopped, or may have stopped unseen, is continued. An app that is to be
    /// launched again ends first.
    mutating func run(reason: Reason, _ shared: inout Shared) {
        guard desired != .restart else { return }
        // A later request moves an app that is still to be launched; it is not the reason of its launch.
        if !state.isAlive, !isSpawning || phase.termination != nil {
            launch.reason = reason.isLaunchReason ? reason : .launch
        }
        desired = .run
        desiredReason = reason
        assertions.endSuspension()
        shared.deadlines.clear(.restart, index)
        if isSpawning { shared.deadlines.clear(.termination, index) }
        if isStoppedByOther || launch.isForeign && shouldRunNow {
            isStoppedByOther = false
            shared.ready.operations.append(.resume(index))
        }
        shared.reconciles.appendOnce(index)
    }

    mutating func spawn(to state: RunningState, _ shared: inout Shared) {
        shared.runningCount += 1
        // The stops of processes that are no children are not reported.
        launch.isForeign = policy.isAdopted
        launch.instant = shared.now
        launch.isComplete = false
        launch.hasScenes = policy.scenes
        prepareLaunchURL()
        phase = .spawning(to: state, nil)
        shared.ready.operations.append(.spawn(index))
    }

    /// Notes that the program runs. If the app was killed meanwhile, its end continues.
    mutating func spawned(_ shared: inout Shared) {
        guard case .spawning(let state, let termination) = phase else { return }
        if !isReady { shared.deadlines.set(.launch, index, at: shared.now + policy.timeouts.launch) }
        // A launch that was killed answers no request.
        let waiting = waiters
        if termination != nil { waiters = [] }
        transition(to: state.appState, &shared)
        finishLaunchURL(&shared)
        if let termination {
            waiters = waiting
            // What came since the kill is for the next launch.
            forgetConversation(&shared)
            transition(to: .terminating, reason: termination.reason, termination: termination, &shared)
            shared.deadlines.set(.killed, index, at: shared.now + Self.timeAfterKill)
        }
    }

    // MARK: Outcomes of operations

    mutating func handle(_ outcome: Outcome, _ shared: inout Shared) {
        switch outcome {
        case .spawned: spawned(&shared)
        case .stopped:
            if phase == .stopping {
                transition(to: .suspended, &shared)
            } else if phase.awaitsStop {
                phase = .suspended(isConfirmed: true)
            }
        case .stopIncomplete(let failure):
            guard phase.awaitsStop else { break }
            // The attempt continues in the shell.
            shared.announce(.stopIncomplete(id, failure), of: index)
            refuseWaiters(with: .notStopped(id, failure), &shared) { $0 == .suspended }
        case .resumed: resumed(&shared)
        case .resumedByOther: resumedByOther(&shared)
        case .stoppedByOther: stoppedByOther(&shared)
        case .signalPending: signalPending(&shared)
        case .spawnFailed, .exited, .gone, .keeperEnded, .memoryMeasured: break
        }
    }

    private mutating func resumed(_ shared: inout Shared) {
        guard case .resuming(let isSuspended) = phase else { return }
        isStoppedByOther = false
        if isSuspended {
            let isForSignal = facesSignal(shared) && !target.isForeground
            transition(to: .background, reason: isForSignal ? .signalled : nil, &shared)
        } else {
            phase = .running(.background, sentCallback: nil)
        }
        awaitReconnection(&shared)
    }

    /// Stops a suspended app again that another program resumed, unless it is to run.
    private mutating func resumedByOther(_ shared: inout Shared) {
        isStoppedByOther = false
        guard phase == .suspended(isConfirmed: true) else { return }
        guard destination == .suspended else {
            // It is to run in any case, and its state says so.
            return resumeFromSuspension(&shared)
        }
        shared.announce(.stopRenewed(id), of: index)
        renewStop(&shared)
    }

    private mutating func renewStop(_ shared: inout Shared) {
        shared.ready.operations.append(.stop(index))
        phase = .suspended(isConfirmed: false)
    }

    private mutating func stoppedByOther(_ shared: inout Shared) {
        switch phase {
        case .running, .resuming(isSuspended: false): break
        case .notRunning, .spawning, .stopping, .suspended, .resuming, .terminating: return
        }
        isStoppedByOther = true
        shared.announce(.stoppedByOther(id), of: index)
    }

    // MARK: A signal from outside

    /// True while a continued app acts on a signal from outside, and may be about to end.
    func facesSignal(_ shared: borrowing Shared) -> Bool { shared.deadlines[.signal, index] != nil }

    /// Continues a suspended app, so that it can act upon a signal from outside. It takes no step until it ends, or has had the time
    /// to end.
    private mutating func signalPending(_ shared: inout Shared) {
        switch phase {
        case .suspended: resumeFromSuspension(&shared)
        case .resuming: break
        case .notRunning, .spawning, .running, .stopping, .terminating: return
        }
        shared.deadlines.set(.signal, index, at: shared.now + policy.timeouts.termination)
        shared.announce(.signalPending(id), of: index)
    }

    // MARK: Restart of the daemon

    /// Redoes operations that the previous daemon may not have completed.
    mutating func repeatPendingOperation(_ shared: inout Shared) {
        switch phase {
        case .spawning(_, let termination):
            shared.ready.operations.append(.spawn(index))
            if termination != nil { shared.ready.operations.append(.kill(index)) }
        // What the app has not received is sent when it is back.
        case .notRunning, .running: break
        case .stopping: shared.ready.operations.append(.stop(index))
        case .resuming: shared.ready.operations.append(.resume(index))
        // It may have been continued in between, by the rescue unit for example.
        case .suspended: renewStop(&shared)
        case .terminating:
            let isAsked = shared.deadlines[.termination, index] != nil
            shared.ready.operations.append(isAsked ? .terminate(index) : .kill(index))
        }
    }
}
