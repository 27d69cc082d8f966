import OrderedCollections

/// What the kernel did, and what time has brought.
extension Lifecycle {
    mutating func take(_ outcome: Outcome, of id: AppID) {
        guard let app = apps[id] else { return }
        switch outcome {
        case .spawned: if case .spawn(let state) = app.awaiting { spawned(id, to: state) }
        case .spawnFailed(let why): if app.isSpawning { spawnFailed(id, why) }
        case .stopped: if app.awaiting == .stop { stopped(id) }
        case .stopIncomplete(let which): if app.awaiting == .stop { stopIncomplete(id, which) }
        case .resumed: if app.awaiting == .resume { resumed(id) }
        case .resumedByOther: resumedByOther(id)
        case .stoppedByOther: stoppedByOther(id)
        case .exited(let status, let othersLeft): exited(id, status: status, othersLeft: othersLeft)
        case .gone: gone(id)
        }
        unsettled.append(id)
    }

    mutating func spawned(_ id: AppID, to state: AppState) {
        apps[id]?.awaiting = nil
        if let app = apps[id], !app.isReady { deadlines.set(.launch, id, at: now + app.policy.timeouts.launch) }
        arrive(id, at: state)
        noteStartedWithURL(id)
        if let ending = apps[id]?.ending { goOnEnding(id, reason: ending.reason) }
    }

    private mutating func spawnFailed(_ id: AppID, _ why: StartFailure) {
        runningCount -= 1
        deadlines.clearAll(id)
        apps[id]?.ending = nil
        apps[id]?.awaiting = nil
        apps[id]?.wish = .rest
        apps[id]?.keepsAwake = false
        apps[id]?.isWoken = false
        apps[id]?.runsWithScenes = false
        apps[id]?.scenes.forgetNew()
        apps[id]?.reason = .launchFailed
        apps[id]?.target = .notRunning
        leaveFrontEnding(id, reason: .launchFailed)
        effects.append(.decision(.launchFailed(id, why)))
        answerWaiters(of: id, lost: .launchFailed(id, why))
        dropEvents(of: id, .lost)
        noteEnd(of: id, reason: .launchFailed)
    }

    private mutating func stopped(_ id: AppID) {
        apps[id]?.awaiting = nil
        arrive(id, at: .suspended)
    }

    /// The attempt goes on in the shell, but nobody is kept waiting for what may take for ever.
    private mutating func stopIncomplete(_ id: AppID, _ which: String) {
        effects.append(.decision(.stopIncomplete(id, which)))
        refuseWaiters(of: id, with: .notStopped(id, which)) { $0.goal == .suspended }
    }

    private mutating func resumed(_ id: AppID) {
        apps[id]?.awaiting = nil
        apps[id]?.isStoppedByOther = false
        if apps[id]?.state == .suspended { arrive(id, at: .background) }
        awaitReturn(of: id)
    }

    /// Nobody but the daemon wakes a suspended app.
    private mutating func resumedByOther(_ id: AppID) {
        guard let app = apps[id] else { return }
        apps[id]?.isStoppedByOther = false
        guard app.state == .suspended, app.awaiting == nil else { return }
        guard app.destination == .suspended else {
            // It is to run in any case, and its state says so.
            effects.append(.resume(id))
            apps[id]?.awaiting = .resume
            return
        }
        effects.append(.decision(.stopRenewed(id)))
        effects.append(.stop(id))
        apps[id]?.awaiting = .stop
    }

    private mutating func stoppedByOther(_ id: AppID) {
        guard let app = apps[id], app.state.isAlive, app.state != .suspended, app.awaiting != .stop else { return }
        apps[id]?.isStoppedByOther = true
        effects.append(.decision(.stoppedByOther(id)))
    }

    mutating func expire(_ kind: DeadlineKind, _ id: AppID) {
        switch kind {
        case .answer: answerOverdue(id)
        case .resignation: resignationOverdue(id)
        case .background: break
        case .launch: launchOverdue(id)
        case .comeBack: returnOverdue(id)
        case .hangUp: hangUpOverdue(id)
        case .tasks: expireTasks(id)
        case .taskExpiration: tasksOverdue(id)
        case .performTask: taskUnanswered(id)
        case .hello: helloOverdue(id)
        case .parting: partingOverdue(id)
        case .grace: graceOver(id)
        case .killed: killOverdue(id)
        case .restart: restart(id)
        case .woken: endWakeTime(of: id)
        }
        unsettled.append(id)
    }
}
