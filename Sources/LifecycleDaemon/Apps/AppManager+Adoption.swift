import Configuration
import Glibc
import LifecycleCore
import Processes

/// A process that is held until it is an app's.
final class AdoptionCandidate {
    private var process: HeldProcess?

    init(_ process: consuming HeldProcess) { self.process = consume process }

    func take() -> HeldProcess? { process.take() }
}

/// Programs that somebody else has started.
extension AppManager {
    /// The first rule about such a program.
    func rule(for process: RunningProcess) -> AdoptRule? {
        adoptRules.first {
            $0.matches(executable: process.executable, name: process.name, arguments: process.commandLine)
        }
    }

    /// Whether an id can be that of another launch: nothing is known by it, or only a manifest.
    func isFree(_ id: AppID) -> Bool {
        guard let app = core.knownApps[id] else { return catalog[id] == nil }
        return !app.isRunning && catalog[id]?.isAdHoc == false
    }

    /// Makes the app known that a process is to be, under an id that is free. What a manifest says of the id holds.
    ///
    /// - Parameters:
    ///   - model: The app whose policy it gets where it has no manifest of its own.
    func defineAdopted(_ id: AppID, _ process: RunningProcess, name: String?, like model: AppID?) {
        if catalog[id] == nil {
            let user: AppDefinition.User = process.users[0] == geteuid() ? .daemon : .numbered(process.users[0])
            var definition = AppDefinition(adHoc: process.commandLine, user: user, defaults: defaults)
            definition.name = name
            definition.model = model?.name
            if let model = model.flatMap({ catalog[$0] }) { definition.follow(model) }
            insert(definition.adopted, as: id)
            if let definition = catalog[id] { keeper.keep(.definition, definition.saved(id)) }
        } else {
            catalog.beginAdoption(of: id)
        }
        if let policy = catalog[id]?.policy { driver.give(.define(id, policy)) }
    }

    /// Whether the launch that the core wants is that of processes that run already.
    func isToBeAdopted(_ id: AppID) -> Bool {
        guard let definition = catalog[id], definition.isAdopted || core.launch(of: id)?.reason == .adopt else {
            return false
        }
        return definition.isAdHoc || core.launch(of: id)?.reason == .adopt
    }

    /// The counterpart of starting a program.
    func takeIn(_ id: AppID) {
        guard let definition = catalog[id], let process = candidates.removeValue(forKey: id)?.take() else {
            return driver.give(
                .outcome(
                    id, .spawnFailed(.command("lifed has not started it, and does not know its processes any more"))))
        }
        guard processes.takeIn(id, process, as: definition, launched: core.knownApps[id]?.launched) else {
            return driver.give(.outcome(id, .spawnFailed(.command("the process has ended"))))
        }
        keepDescriptors(of: id)
        driver.give(.outcome(id, .spawned))
    }

    /// The app's processes are gone, or were never had.
    func endAdoption(of id: AppID) {
        candidates[id] = nil
        if let definition = catalog.endAdoption(of: id) { driver.give(.define(id, definition.policy)) }
    }

    /// Whether the app's processes run on without it: it was adopted, and ends because somebody wanted that, or because
    /// the daemon does. What was there before lifed is there after it.
    func isToBeLetGo(_ id: AppID) -> Bool {
        guard catalog[id]?.isAdopted == true, let reason = core.knownApps[id]?.reason else { return false }
        return reason == .disown || reason == .shutdown
    }

    /// The counterpart of asking a program to end.
    func letGo(_ id: AppID) {
        resources.giveBack(id)
        processes.letGo(id)
    }
}
