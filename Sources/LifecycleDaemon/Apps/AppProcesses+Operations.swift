import LifecycleCore
import OrderedCollections
import Processes
import Systemd

// MARK: - Operations

extension AppProcesses {
    // Each operation has an outcome: that of an app without processes is that they are gone.

    func stopLater(_ app: AppIndex) { laterStops.append(app) }

    /// Stops a batch of the apps that are to be stopped later.
    func stopSome() {
        while let app = laterStops.take() { stop(app) }
    }

    func stop(_ index: AppIndex) {
        guard let app = app(index) else { return report(index, .gone) }
        laterStops.remove(index)
        app.begin(.stop(since: core.events.loop.freshNow, isReported: false))
        // Only the record connects these processes to the app, also for the next daemon that is to continue them.
        let tree = app.tree
        if tree.isAdopted, tree.lookForStrays() { save(app) }
        let stoppedBefore = tree.stoppedByOthers
        let check = tree.stop()
        if tree.stoppedByOthers != stoppedBefore || !tree.escaped.isEmpty { save(app) }
        if check == .stopped { finishStop(app) } else { beginChecks(of: index) }
    }

    private func beginChecks(of app: AppIndex) {
        begunStops.append(app)
        firstChecks.schedule()
    }

    func scheduleFirstChecks() {
        for index in begunStops {
            if let app = running[index], case .stop = app.operation { app.scheduleCheck() }
        }
        begunStops.removeAll(keepingCapacity: begunStops.count <= 64)
    }

    func resume(_ index: AppIndex) {
        guard let app = app(index) else { return report(index, .gone) }
        laterStops.remove(index)
        app.endOperation()
        let hadSignals = !app.tree.signalsForLater.isEmpty
        let hasNewSignal = app.noteSignals(app.tree.pendingSignals)
        app.tree.resume()
        if hadSignals { save(app) }
        app.watchSelfStops()
        if hasNewSignal { report(index, .signalPending) }
        report(index, .resumed)
    }

    /// Reports the suspended apps for whose main process a signal from outside waits.
    func noticeSignals() {
        for app in running.values
        where app.isAtRest && app.noteSignals(app.tree.signalsOfMain) {
            report(app.index, .signalPending)
        }
    }

    /// Reports a suspended app for one of whose processes a signal from outside waits.
    func noticeSignals(of index: AppIndex?) {
        guard let app = app(index), app.isAtRest, app.noteSignals(app.tree.pendingSignals)
        else {
            return
        }
        report(app.index, .signalPending)
    }

    /// Sends a signal to the processes of an app. Frozen processes get it when they are resumed, by the next daemon too.
    ///
    /// - Returns: The processes that did not get the signal; nil if the app does not run.
    func send(_ signal: Signal, to index: AppIndex?) -> [SignalFailure]? {
        guard let app = app(index) else { return nil }
        let failures = app.tree.send(signal)
        if !app.tree.signalsForLater.isEmpty { save(app) }
        // A suspended app gets this signal when it is resumed, and not when it is looked at.
        if app.isAtRest { _ = app.noteSignals(app.tree.pendingSignals) }
        return failures
    }

    func terminate(_ index: AppIndex, _ signal: Signal, _ order: EndOrder = .mainFirst) {
        guard let app = app(index) else { return report(index, .gone) }
        laterStops.remove(index)
        app.endOperation()
        app.tree.terminate(with: signal, order)
        app.isAskedToEnd = true
        watchAskedProcesses(of: app)
        // Without an idle processor, an app that ends at once has ended by now.
        reapMain(of: app)
        if running[index] === app { save(app) }
    }

    func kill(_ index: AppIndex) {
        guard let app = app(index) else { return report(index, .gone) }
        laterStops.remove(index)
        app.begin(.kill)
        app.tree.kill()
        app.scheduleCheck()
    }

    /// Checks the operation on the processes of an app again.
    func continueOperation(of index: AppIndex) {
        guard let app = running[index] else { return }
        switch app.operation {
        case .none: break
        case .stop: checkStop(app)
        case .kill:
            app.tree.kill()
            checkMain(of: app)
            // The daemon may not end a main process that has gained privileges; the app ends without it.
            if running[app.index] === app, app.tree.isMainForeign, app.tree.processes().isEmpty {
                let others = app.tree.foreignProcesses().map(\.info.subject).joined(separator: ", ")
                log.write(
                    .warning,
                    "cannot end \(core.id(of: app.index)) whole: this daemon may not end \(others); the app ends without "
                        + "them")
                return release(app.index)
            }
            app.scheduleCheck()
        case .awaitEnd:
            checkMain(of: app)
            app.scheduleCheck()
        }
    }

    /// Resumes processes that have stopped themselves just after the app was resumed.
    func checkSelfStops(of app: AppIndex) { running[app]?.checkSelfStops() }

    func checkStop(_ app: RunningApp) {
        guard case .stop(let since, let isReported) = app.operation else { return }
        guard case .pending(let pids) = app.tree.checkStopped() else { return finishStop(app) }
        if !isReported, core.events.loop.freshNow - since >= stopTimeout.wholeMicroseconds {
            app.operation = .stop(since: since, isReported: true)
            report(app.index, .stopIncomplete(SystemFailure(app.stopFailure(of: pids))))
            // A tree that does not freeze in time is not left half frozen; signals go on trying.
            if app.tree.stopWithoutFreezing() == .stopped { return finishStop(app) }
        }
        app.scheduleCheck()
    }

    private func finishStop(_ app: RunningApp) {
        // A later look may have found processes outside of the group, which the next daemon or the rescue has to continue.
        if !app.tree.escaped.isEmpty { save(app) }
        app.endOperation()
        watchProcessor(of: app)
        app.forgetHandledSignals()
        report(app.index, .stopped)
        // Another program may have continued it after the look that saw it stopped, and before the watch.
        if app.processorWatch != nil, app.tree.hasUnnoticedContinuation { report(app.index, .resumedByOther) }
    }
}
