import LifecycleCore

/// Steps as they are told, and answers: a reply promises the effect, not the intention.
extension Machine {
    mutating func watchTransition(_ step: Transition) {
        let id = step.app
        if step.from != states[id] ?? .notRunning { report("\(id) was \(states[id] ?? .notRunning), not \(step.from)") }
        if !isLegal(step) { report("\(id): \(step.from) → \(step.to)") }
        states[id] = step.to
        if step.to == .notRunning {
            killsWanted.remove(id)
            sleepWanted.remove(id)
            endsWanted[id] = nil
        }
        if step.from == .active, step.to == .inactive { stopBeingActive(id) }
        guard let tree = trees[id] else { return }
        switch step.to {
        case .suspended:
            if !tree.isSeenStopped, !tree.isContinuedByOther, !tree.isGone {
                report("\(id) is called suspended, and was not seen stopped")
            }
            // An app that is resumed has no time of its own in the background.
            trees[id]?.watch.backgroundSince = nil
        case .background:
            // The request came before the launch of the app.
            if step.from == .notRunning, step.reason == .suspend { trees[id]?.watch.isToSleepAtOnce = true }
            if step.from != .suspended {
                trees[id]?.watch.backgroundSince = now
                trees[id]?.watch.wasLinkedInBackground = core.knownApps[id]?.isConnected == true
            }
        case .inactive, .active:
            trees[id]?.watch.wasInForeground = true
            if step.to == .active {
                trees[id]?.watch.isToSleepAtOnce = false
                trees[id]?.watch.isToStopAtOnce = false
            }
            if tree.isStopped { report("\(id) is \(step.to), and stopped") }
        case .notRunning:
            if !tree.isGone { report("\(id) is said to be gone, and is not") }
            // A signal from outside is its cause whatever the status: it may have ended in good order because of it.
            let isSignalled = core.knownApps[id]?.lastExit?.reason == .signalled
            ends[id] = isSignalled ? .system : tree.watch.cause ?? .unclear
            checkEndOfScenes(id)
        case .terminating:
            noteCauseToKill(id)
            trees[id]?.watch.endedFrom = step.from
            endsBegun[id] = step.from
        }
    }

    /// The picture of DESIGN, section 1, and that a process may end at any time.
    private func isLegal(_ step: Transition) -> Bool {
        switch (step.from, step.to) {
        case (.notRunning, .inactive), (.notRunning, .background), (.inactive, .active), (.active, .inactive),
            (.inactive, .background), (.background, .inactive), (.background, .suspended), (.suspended, .background):
            true
        case (.notRunning, _): false
        case (.terminating, .notRunning): true
        case (.terminating, _): false
        case (_, .terminating): true
        case (_, .notRunning): trees[step.app]?.mainStatus != nil || trees[step.app] == nil
        default: false
        }
    }

    // MARK: Replies

    mutating func watchReply(_ number: UInt64, _ reply: Reply) {
        guard let request = open.removeValue(forKey: number) else {
            return report("request \(number) is answered, and was not waiting")
        }
        let launchBefore = restarted.removeValue(forKey: number)
        if case .done = reply, case .restart(let id) = request, launchBefore != nil, trees[id]?.number == launchBefore {
            report("\(id) is said to be restarted, and was not")
        }
        switch reply {
        case .done(let app): checkDone(request, app?.id)
        case .ended(let outcome, _): check(outcome, of: request)
        case .reclaimed(let ids): for id in ids where trees[id]?.killed == nil && !isGone(id) { checkReclaimed(id) }
        case .scene(let scene, let app): checkScene(request, scene, app.id)
        case .refused: break
        }
    }

    private mutating func checkReclaimed(_ id: AppID) {
        // It may have been started again since.
        if trees[id]?.watch.isVictim == true { report("\(id) is said to be reclaimed, and runs") }
    }

    private func isGone(_ id: AppID) -> Bool { trees[id]?.isGone ?? true }

    private mutating func checkDone(_ request: Request, _ subject: AppID?) {
        switch request {
        case .focus(let id, let untilAnswered), .launch(let id, background: false, let untilAnswered):
            promiseActive(id)
            if untilAnswered, trees[id]?.watch.outstanding?.callback == .didBecomeActive {
                report("\(id) is said to have answered, and has not")
            }
        case .launch(let id, background: true, _):
            promise(states[id].map { $0 != .notRunning } ?? false, id, "launched")
        // It is where it was, or where another request has sent it since.
        case .restart(let id): promise(states[id] ?? .notRunning != .notRunning, id, "restarted")
        case .suspend(let id, _):
            let isStopped = trees[id].map { $0.isSeenStopped || $0.isContinuedByOther } ?? false
            // It may be one suspended app too many, and ended at once.
            promise(isStopped && (endsBegun[id] ?? states[id]) == .suspended, id, "seen stopped")
        case .resume(let id): promise(trees[id].map { !$0.isStopped } ?? false, id, "awake")
        case .terminate(let id), .kill(let id), .release(let id): promise(isGone(id), id, "gone")
        case .background(let id): promise(states[id]?.isForeground != true, id, "in the background")
        case .home:
            if let subject { promiseActive(subject) }
        case .machine(.lock): promiseBackground(.locked, request)
        case .machine(.switchAway): promiseBackground(.switchedAway, request)
        case .machine(.sleep): promiseBackground(.asleep, request)
        case .beginInterruption(let name):
            guard core.interruptions.contains(name), !hasBegunAnew(request) else { return }
            for id in core.foreground { promise(states[id] != .active, id, "interrupted") }
        case .endInterruption(_, answer: let id?): promiseActive(id)
        case .endInterruption, .machine, .deliver, .wake, .memoryPressure: break
        case .openScene, .focusScene, .backgroundScene, .closeScene:
            report("\(request) is done, and the scene not named")
        }
    }

    private mutating func checkScene(_ request: Request, _ scene: Scene, _ id: AppID) {
        let state = sessions[id]?[scene.id]?.state
        let isSo =
            switch request {
            case .openScene(id, let opening, background: false):
                isActiveForGood(scene.id, of: id) && opening.scene.map { $0 == scene.id } ?? true
            case .openScene(id, let opening, background: true):
                state.map { $0 != .unattached } ?? false && opening.scene.map { $0 == scene.id } ?? true
            case .focusScene(id, scene.id): isActiveForGood(scene.id, of: id)
            case .backgroundScene(id, scene.id): state?.isForeground != true
            case .closeScene(id, scene.id):
                // There may be a new one of its name by now.
                core.knownApps[id]?.scenes[scene.id]?.wasConnected != true && state ?? .unattached == .unattached
            default: false
            }
        if !isSo { report("\(request) is answered with \(id)/\(scene.id), which is \(state ?? .unattached)") }
    }

    /// A Boolean value that indicates whether what was asked for has ended and begun anew: then another request is answered when it is so again.
    private func hasBegunAnew(_ request: Request) -> Bool { open.values.contains(request) }

    /// The foreground may be free again meanwhile.
    private mutating func promiseBackground(_ blocker: ForegroundBlocker, _ request: Request) {
        guard core.foregroundBlockers.contains(blocker), !hasBegunAnew(request) else { return }
        for id in core.foreground { promise(states[id]?.isForeground != true, id, "in the background") }
    }

    /// The app is active, and it, or one of its active scenes, was not told to resign.
    private mutating func promiseActive(_ id: AppID) {
        let active = (sessions[id] ?? [:]).filter { $0.value.state == .foregroundActive }.keys
        let isForGood =
            active.isEmpty
            ? trees[id]?.watch.isResigning(at: now) == false : active.contains { isActiveForGood($0, of: id) }
        promise(states[id] == .active && isForGood, id, "active")
    }

    private func isActiveForGood(_ scene: SceneID, of id: AppID) -> Bool {
        sessions[id]?[scene]?.state == .foregroundActive
            && trees[id]?.watch.scenes[scene]?.isResigning(at: now) != true
    }

    private mutating func promise(_ isKept: Bool, _ id: AppID, _ what: String) {
        if !isKept { report("\(id) is said to be \(what), and is \(states[id] ?? .notRunning)") }
    }

    private mutating func check(_ outcome: EventOutcome, of request: Request) {
        guard case .deliver(let id, let event) = request, let key = event.key, let handover = handovers[key] else {
            return
        }
        let isTrue =
            switch outcome {
            case .handled: handover.answer == .handled(true) || handover.isArgument
            case .declined: handover.isDeclined || (handover.answer != nil && handover.answer != .handled(true))
            case .newData: handover.answer == .result(.newData)
            case .failed: handover.answer == .result(.failed)
            case .noData: handover.answer.map { $0 != .result(.newData) && $0 != .result(.failed) } ?? false
            case .unanswered: !handover.told.isEmpty && handover.answer == nil
            case .notListening, .lost: handover.answer == nil
            }
        let answer = handover.answer.map { "\($0)" } ?? "nothing"
        if !isTrue { report("\(key) is said to be \(outcome.rawValue), and \(id) answered \(answer)") }
    }
}
