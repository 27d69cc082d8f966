import AppChannel
import LifecycleCore

/// Why apps are launched, and how they ended before.
extension AppManager {
    /// What an app is told about its launch.
    func launchFields(of id: AppID) -> LaunchFields {
        guard let launch = core.launch(of: id) else { return LaunchFields(reason: Reason.launch.rawValue) }
        return LaunchFields(launch, previousTime: launch.previous.map { secondsSinceEpoch(of: $0, id) })
    }

    /// Tells the core of an exit that only the state directory knows of.
    func recallExit(of id: AppID) {
        if let exit = exits.recall(id) { driver.give(.remember(id, exit)) }
    }

    /// Keeps how an app ended that is not running. An ad-hoc app is forgotten, and has nothing to restore.
    func noteExit(of id: AppID) {
        guard let app = core.knownApps[id], !app.policy.isTransient, let exit = app.lastExit,
            exits.time(of: exit, id) == nil
        else { return }
        exits.note(exit, of: id, at: time(of: exit.instant))
    }

    /// Keeps how an app ended that is about to be forgotten.
    func noteEnd(of id: AppID, _ exit: Exit, _ reclaimed: Reclaimed?) {
        ended.note(
            EndedApps.Record(
                id, catalog[id], time: time(of: exit, id), exit: exit,
                reclaimed: exit.reason == .reclaimed ? reclaimed : nil))
    }

    /// Keeps why an app could not be launched.
    func noteFailedLaunch(of id: AppID, _ why: StartFailure) {
        let words = String(why.words.prefix(EndedApps.Record.failureLength))
        ended.note(
            EndedApps.Record(
                id, catalog[id], time: time(of: now), launchFailure: words, launchRemedy: why.remedy))
    }

    func secondsSinceEpoch(of exit: Exit, _ id: AppID) -> Int64 { time(of: exit, id) / 1_000_000 }

    /// When the app ended, in microseconds since the epoch.
    func time(of exit: Exit, _ id: AppID) -> Int64 { exits.time(of: exit, id) ?? time(of: exit.instant) }

    /// The instant on the wall clock, as it stands now, in microseconds since the epoch: the core's clock has no date.
    func time(of instant: Instant) -> Int64 { dates.date(of: instant) }
}
