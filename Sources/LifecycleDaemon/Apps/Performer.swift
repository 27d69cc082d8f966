import AppChannel
import Configuration
import LifecycleCore
import Processes

/// Does what the core has decided: tells connected apps, starts, stops and ends processes, and lets go of what an app leaves. The outcomes
/// of operations go to the inbox.
struct Performer {
    let driver: CoreDriver
    let catalog: AppCatalog
    let processes: AppProcesses
    let channels: AppChannels
    let launcher: AppLauncher
    let exits: ExitHistory
    let resources: StateResources
    let memory: MemoryWatch
    let trimmer: MemoryTrimmer
    let suspensions: SuspendedApps

    /// Performs what one input leads to, in the order of the fields of `Ready`.
    ///
    /// - Parameter isRestoring: Whether the previous daemon may have performed it already.
    func perform(_ ready: Ready, isRestoring: Bool) {
        for announcement in ready.announcements { endLaunch(by: announcement) }
        for message in ready.messages { send(message) }
        for operation in ready.operations { perform(operation, isRestoring: isRestoring) }
        for app in ready.forgotten { forget(app) }
        // The account of a reclaim belongs to the record of the end, which the same input may have made.
        for case .decision(.reclaimed(let id, let account), _) in ready.announcements {
            removeOutput(of: exits.ended.record(account, of: id))
        }
    }

    private func perform(_ operation: Ready.Operation, isRestoring: Bool) {
        switch operation {
        case .spawn(let app):
            if isRestoring, processes.isRunning(app) { return driver.append(.outcome(app, .spawned)) }
            if let objection = launch(app) {
                driver.append(.outcome(app, .spawnFailed(SystemFailure(objection))))
            }
        case .stop(let app):
            suspensions.willStop(app)
            if isRestoring { processes.stopLater(app) } else { processes.stop(app) }
        case .resume(let app):
            trimmer.end(app)
            processes.resume(app)
        case .terminate(let app): terminate(app, isRestoring: isRestoring)
        case .kill(let app): processes.kill(app)
        case .measureMemory(let app):
            if let size = processes.tree(of: app)?.ownMemory {
                driver.append(.outcome(app, .memoryMeasured(UInt64(clamping: size))))
            }
        case .markMemory: memory.mark()
        case .readMemory: memory.read()
        }
    }
}

// MARK: - Messages

extension Performer {
    private func send(_ message: Ready.Message) {
        switch message {
        case .deliver(let app, let delivery):
            let time = delivery.launch?.previous.map { exits.seconds(of: $0, driver.id(of: app)) }
            let scene = delivery.scene.flatMap { driver.app(app)?.scenes[$0.scene] }
            let message = CallbackMessage(delivery, now: driver.now, previousTime: time, scene: scene)
            channels.send(.callback(message), sequence: delivery.sequence, to: app)
        case .answerAssertion(let app, let number, let refusal?):
            channels.send(.refused(AssertionID(number), reason: RefusalReason(refusal)), to: app)
        case .answerAssertion(let app, let number, nil):
            let isTask = driver.app(app)?.heldAssertions.contains { $0.number == number && $0.kind == .task } ?? false
            let end = isTask ? driver.core.taskTimeEnd(of: driver.id(of: app)) : nil
            channels.send(.granted(AssertionID(number), timeLeftMilliseconds: end.map(millisecondsLeft)), to: app)
        case .tellTimeLeft(let app, let end):
            channels.send(.timeLeft(milliseconds: end.map(millisecondsLeft)), to: app)
        case .expireTask(let app, let number, let deadline):
            let time = millisecondsLeft(until: deadline)
            channels.send(.expireTask(AssertionID(number), deadlineMilliseconds: time), to: app)
        }
    }

    private func millisecondsLeft(until end: Instant) -> Int64 {
        end.duration(since: driver.now).wholeMilliseconds
    }
}

// MARK: - Launches

extension Performer {
    /// Launches an app, or adopts its processes.
    ///
    /// - Returns: The reason why it was not launched, if that is known by now.
    private func launch(_ app: AppIndex) -> StartFailure? {
        let id = driver.id(of: app)
        if let objection = driver.store.makeRoom() { return objection }
        guard let definition = catalog[id] else { return .manifestRemoved }
        catalog.saveDescription(of: id, definition)
        if driver.core.launch(of: id)?.reason == .adopt || (definition.isAdopted && definition.isAdHoc) {
            return adopt(id, app, definition)
        }
        do throws(DaemonError) {
            try spawn(id, app, definition)
            return nil
        } catch {
            return .preparation(error)
        }
    }

    private func spawn(_ id: AppID, _ app: AppIndex, _ definition: AppDefinition) throws(DaemonError) {
        let output = try launcher.output(of: id, definition)
        let machine = driver.app(app)
        let channel = definition.callbacks == .none ? nil : channels.open(app, launched: machine?.launched)
        let request = try launcher.request(
            for: id, definition, launch: launchFields(of: id), url: machine?.argumentURL, output: output,
            channel: channel)
        // A state that the last launch did not restore is of that launch, and stays.
        if machine?.lastExit?.restoreFailure == .restoring {
            launcher.setStateAside(of: id)
            exits.last.noteStateSetAside(of: id)
        }
        processes.spawn(app, request, as: definition, launched: machine?.launched) {
            channels.storeDescriptors(of: app)
            return driver.store.objection
        }
        extendLifetime(output)
        extendLifetime(channel)
    }

    private func launchFields(of id: AppID) -> LaunchFields {
        guard let launch = driver.core.launch(of: id) else { return LaunchFields(reason: Reason.launch.rawValue) }
        return LaunchFields(launch, previousTime: launch.previous.map { exits.seconds(of: $0, id) })
    }

    private func adopt(_ id: AppID, _ app: AppIndex, _ definition: AppDefinition) -> StartFailure? {
        if let objection = processes.adopt(app, as: definition, launched: driver.app(app)?.launched) {
            return objection
        }
        channels.storeDescriptors(of: app)
        driver.append(.outcome(app, .spawned))
        channels.connectAdopted(id, app)
        return nil
    }
}

// MARK: - Ends

extension Performer {
    private func terminate(_ app: AppIndex, isRestoring: Bool) {
        if isToBeReleased(app) {
            resources.giveBack(app)
            return processes.release(app)
        }
        // The previous daemon may have sent SIGTERM, and a second one makes many programs give up at once.
        if isRestoring, processes.isAskedToEnd(app) { return }
        let definition = catalog[driver.id(of: app)]
        let order = definition.map { EndOrder($0.stopMode) }
        processes.terminate(app, definition.map { Signal($0.stopSignal) } ?? .terminate, order ?? .mainFirst)
    }

    /// Returns whether the app's processes go on without the daemon: it was adopted, and ends by request or with the
    /// daemon.
    private func isToBeReleased(_ app: AppIndex) -> Bool {
        guard processes.isAdopted(app), let reason = driver.app(app)?.reason else { return false }
        return reason == .release || reason == .shutdown
    }

    private func endLaunch(by announcement: Announcement) {
        switch announcement {
        case .app(let step) where step.to == .notRunning:
            guard let app = step.index else { return }
            channels.close(app)
            if let app = driver.app(app) { exits.record(app) }
            catalog.endAdoption(of: step.app)
        case .decision(.launchFailed(let id, let why), let app?):
            channels.close(app)
            catalog.endAdoption(of: id)
            removeOutput(of: exits.recordFailedLaunch(of: id, catalog[id], why.ofLaunch, at: driver.now))
        case .app, .scene, .decision: break
        }
    }

    private func forget(_ forgotten: Ready.Forgotten) {
        let (app, id) = (forgotten.app, driver.id(of: forgotten.app))
        let dropped = forgotten.exit.map { exits.recordEnd(of: id, catalog[id], $0, forgotten.reclaimed) } ?? []
        catalog.forget(id)
        exits.last.forget(id)
        processes.forgetLastPID(of: app)
        channels.forget(app)
        launcher.removeEmptyStateDirectory(of: id)
        removeOutput(of: dropped + [id])
    }

    /// Removes the output of those of the apps that the daemon has forgotten, with their ends.
    func removeOutput(of ids: [AppID]) {
        for id in ids where catalog[id] == nil && exits.ended[id] == nil { launcher.removeOutput(of: id) }
    }
}
