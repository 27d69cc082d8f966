import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes

/// A process held until it belongs to an app.
final class AdoptionCandidate {
    private var process: HeldProcess?
    /// The group of the unit that the process is in, if that holds the app.
    let unit: UnitGroup?

    init(_ process: consuming HeldProcess, unit: UnitGroup? = nil) {
        self.process = consume process
        self.unit = unit
    }

    func take() -> HeldProcess? { process.take() }
}

/// The adoption of programs that the daemon has not started.
extension AppManager {
    func rule(for process: RunningProcess) -> AdoptRule? {
        adoptRules.first {
            $0.matches(executable: process.executable, name: process.name, arguments: process.commandLine)
        }
    }

    /// A Boolean value that indicates whether another launch can have the id: only a manifest uses it, or nothing does.
    func isFree(_ id: AppID) -> Bool {
        guard isKnown(id) else { return catalog[id] == nil }
        return !isRunning(id) && catalog[id]?.isAdHoc == false
    }

    /// Makes the app of a process known, under a free id. The manifest of the id applies.
    ///
    /// - Parameter model: The app whose policy applies if the id has no manifest.
    func defineAdopted(_ id: AppID, _ process: RunningProcess, name: String?, like model: AppID?) {
        if catalog[id] == nil {
            let user: AppDefinition.User = process.users[0] == geteuid() ? .daemon : .numbered(process.users[0])
            var definition = AppDefinition(adHoc: process.commandLine, user: user, defaults: defaults)
            definition.name = name
            definition.model = model?.name
            if let model = model.flatMap({ catalog[$0] }) { definition.follow(model) }
            catalog.insert(definition.adopted, as: id)
            if let definition = catalog[id] { store.save(.definition, definition.saved(id)) }
        } else {
            catalog.beginAdoption(of: id)
        }
        if let policy = catalog[id]?.policy { driver.handle(.define(id, policy)) }
    }

    /// Makes the app of a unit of the desktop known: by its manifest, its desktop entry, or the command of its main process.
    ///
    /// - Returns: False if another app has the id.
    func defineUnit(_ id: AppID, found process: RunningProcess) -> Bool {
        if let definition = catalog[id], definition.isAdHoc { return false }
        if catalog[id] == nil, case .entry(let entry) = entries?.find(id.name) { define(id, entry) }
        if catalog[id] == nil {
            var definition = AppDefinition(adHoc: process.commandLine, user: .daemon, defaults: defaults)
            definition.name = entries?.facts(of: id.name)?.name
            catalog.insert(definition.adoptedFromUnit, as: id)
            if let definition = catalog[id] { store.save(.definition, definition.saved(id)) }
        } else {
            catalog.beginAdoption(of: id, isUnit: true)
        }
        if let policy = catalog[id]?.policy { driver.handle(.define(id, policy)) }
        return true
    }

    /// Applies the policy of apps of the desktop to an adopted app.
    func keepAsUnit(_ id: AppID) {
        catalog.beginAdoption(of: id, isUnit: true)
        if let policy = catalog[id]?.policy { driver.handle(.define(id, policy)) }
    }

    /// A Boolean value that indicates whether the launch that the core wants is of processes that run already.
    func isToBeAdopted(_ id: AppID) -> Bool {
        guard let definition = catalog[id] else { return false }
        return core.launch(of: id)?.reason == .adopt || (definition.isAdopted && definition.isAdHoc)
    }

    func adopt(_ id: AppID, _ app: AppIndex) {
        let candidate = candidates.removeValue(forKey: app)
        guard let definition = catalog[id], let process = candidate?.take() else {
            return spawnFailed(
                id, .command("an adopted app cannot be launched again, and its processes have ended"))
        }
        let launched = self.app(app)?.launched
        let isAlive =
            if let unit = candidate?.unit {
                processes.adopt(app, process, in: unit, as: definition, launched: launched)
            } else {
                processes.adopt(app, process, as: definition, launched: launched)
            }
        guard isAlive else { return spawnFailed(id, .command("the process has ended")) }
        storeDescriptors(of: app)
        driver.handle(.outcome(id, .spawned))
        connectAdopted(id, app)
        observer?.processesJoined(id)
    }

    /// Ends the adoption when the app's processes have ended, or were never adopted.
    func endAdoption(of id: AppID, _ app: AppIndex) {
        candidates[app] = nil
        if let definition = catalog.endAdoption(of: id) { driver.handle(.define(id, definition.policy)) }
    }

    /// A Boolean value that indicates whether the app's processes go on without the daemon: it was adopted, and ends by
    /// request or with the daemon.
    func isToBeReleased(_ id: AppID) -> Bool {
        guard catalog[id]?.isAdopted == true, let reason = app(id)?.reason else { return false }
        return reason == .release || reason == .shutdown
    }

    func release(_ app: AppIndex) {
        resources.giveBack(app)
        processes.release(app)
    }
}

/// Decides whether a client may adopt a process.
///
/// Refuses processes that the session, the daemon or the client depends on.
struct AdoptionPolicy {
    let process: RunningProcess
    let peer: PeerCredentials
    let processes: AppProcesses

    private var pid: ProcessID { process.identity.pid }

    /// The first reason to refuse; nil if the client may adopt the process.
    var objection: ControlError? { ownerObjection ?? kindObjection ?? relationObjection }

    private func refuse(_ cause: String, _ remedy: String) -> ControlError {
        let user = process.users.first.map(UserAccount.name) ?? "unknown"
        // /proc may hide the names of other users' processes.
        let name = isPeers ? " (\(process.name))" : ""
        let reason = "cannot adopt process \(pid)\(name) of user \(user): \(cause)"
        return ControlError(.refused, id: nil, reason: reason, remedy: remedy)
    }

    private var isPeers: Bool { peer.user == 0 || process.users.allSatisfy { $0 == peer.user } }

    /// Root may adopt any process. Any other user must own all user ids of the process, the saved one included.
    private var ownerObjection: ControlError? {
        let user = geteuid()
        if peer.process == PeerCredentials.outsideProcess {
            return refuse("you are in another process namespace", "adopt it from the namespace of the daemon")
        }
        if !isPeers { return refuse("it is not yours", "adopt it as root") }
        if user != 0, process.users.contains(where: { $0 != user }) {
            return refuse("this daemon may not stop it", "adopt it with the system's daemon (lifectl --system)")
        }
        return nil
    }

    private var kindObjection: ControlError? {
        let other = "adopt the process of a program with a window"
        if pid == 1 { return refuse("every other process descends from it", other) }
        if process.isKernels { return refuse("it is a thread of the kernel", other) }
        if pid == getpid() { return refuse("it is this lifed", other) }
        if process.name == ProcessStatus(of: getpid())?.name { return refuse("it is another lifed", other) }
        if ["systemd", "(sd-pam)", "init"].contains(process.name) {
            return refuse("it is a service manager, whose services would be suspended with it", other)
        }
        if process.isInGroupOfApp { return refuseAppOfOther() }
        if let session = process.loginSession, LoginSessionFile.leader(of: session) == pid {
            return refuse("it leads the login session \(session), which would be suspended with it", other)
        }
        return nil
    }

    private func refuseAppOfOther() -> ControlError {
        refuse("it belongs to an app of another lifed", "ask that daemon, with lifectl --socket or --system")
    }

    /// Refuses ancestors of the daemon and of the client, and processes related to other apps.
    private var relationObjection: ControlError? {
        guard let ancestors = RunningProcess.ancestors(of: pid), let own = RunningProcess.ancestors(of: getpid()) else {
            return refuse("its ancestors cannot be read", "try again")
        }
        if own.contains(pid) {
            return refuse(
                "it has started lifed, which would stop itself", "start lifed from elsewhere, as systemd does")
        }
        if pid == peer.process || RunningProcess.ancestors(of: peer.process)?.contains(pid) ?? true {
            return refuse(
                "it has started your client, which would be stopped with it",
                "adopt it from another terminal, or start its program with 'lifectl run'")
        }
        let ownName = ProcessStatus(of: getpid())?.name
        if ancestors.contains(where: { ProcessStatus(of: $0)?.name == ownName }) { return refuseAppOfOther() }
        return processes.app(below: pid).map { id in
            refuse("the app \(id) descends from it", "adopt another descendant, or wait until \(id) has ended")
        }
    }
}

/// The session files of logind. sd-login(3) of systemd 252 has no function for the leader.
enum LoginSessionFile {
    static func leader(of session: String) -> ProcessID? {
        guard session.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != 0 }),
            let text = try? SmallFile.read("/run/systemd/sessions/\(session)")
        else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("LEADER=") }
        return line.flatMap { ProcessID($0.dropFirst("LEADER=".count)) }
    }
}
