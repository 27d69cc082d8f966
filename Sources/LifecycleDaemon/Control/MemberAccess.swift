import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The rules for members of the group `lifed` who are no administrators.
///
/// A member controls the apps that run as the member's own user, and sees of all others the id and the state. A member
/// changes what is in the foreground only while the seat shows a session of the member, or of nobody.
struct MemberAccess {
    let manager: AppManager
    private var users: [String: UInt32?] = [:]

    init(manager: AppManager) {
        self.manager = manager
    }

    /// Forgets the users that were looked up; a manifest or the user database may have changed.
    mutating func forgetUsers() { users = [:] }

    /// Returns the user that the app runs as, or ran as if it has ended and is no longer known; nil if there is no such app.
    mutating func owner(of app: AppID) -> UInt32? {
        // An adopted app runs as what it was adopted as, whatever a manifest of its id says.
        if let owner = manager.processes.tree(of: app)?.owner { return owner.user }
        return switch manager.catalog[app]?.user {
        case .daemon: geteuid()
        case .numbered(let number): number
        case .named(let name): number(of: name)
        case nil: manager.ended[app]?.user
        }
    }

    private mutating func number(of name: String) -> UInt32? {
        if let known = users[name] { return known }
        let number = try? UserAccount.named(name).userID
        users[name] = .some(number)
        return number
    }

    /// Returns the reason why a member may not make the request; nil if the member may.
    mutating func objection(to request: Request, by member: UInt32) -> ControlError? {
        switch request {
        case .launch(let app, let background): objection(to: app, by: member, foreground: !background)
        case .untilAnswered(let request): objection(to: request, by: member)
        case .openScene(let app, _, let background): objection(to: app, by: member, foreground: !background)
        case .focus(let app), .focusScene(let app, _): objection(to: app, by: member, foreground: true)
        case .hand(let app, _): objection(to: app, by: member, foreground: true)
        case .suspend(let app, _), .resume(let app), .wake(let app, _, _), .terminate(let app), .kill(let app),
            .disown(let app), .backgroundScene(let app, _), .closeScene(let app, _):
            objection(to: app, by: member, foreground: false)
        case .endInterruption(_, answer: .some(let app)): objection(to: app, by: member, foreground: true)
        case .home, .beginInterruption, .endInterruption: Self.foregroundObjection(to: member)
        case .machine, .memoryPressure: Self.administratorsOnly
        }
    }

    /// Returns the reason why a member may not act on the app; nil for an app that is not known, which is for the core to say.
    mutating func objection(to app: AppID, by member: UInt32, foreground: Bool = false) -> ControlError? {
        guard manager.core.knownApps[app] != nil else { return nil }
        guard owner(of: app) == member else {
            return ControlError(
                .notPermitted, id: app.name, reason: "the app runs as another user",
                remedy: "Ask that user or an administrator; access.administrators in lifed.toml names their groups.")
        }
        return foreground ? Self.foregroundObjection(to: member) : nil
    }

    /// Returns the reason why a member may not change what is in the foreground.
    static func foregroundObjection(to member: UInt32) -> ControlError? {
        guard let active = Seat.activeUser(of: "seat0"), active != member else { return nil }
        return ControlError(
            .notPermitted, id: nil, reason: "seat0 shows the session of another user, whose foreground it is",
            remedy: "Switch to your session, or launch the app with --background.")
    }

    static let administratorsOnly = ControlError(
        .notPermitted, id: nil, reason: "only administrators of lifed may do this",
        remedy: "Use sudo; access.administrators in lifed.toml names the groups of administrators.")
}

extension MethodName {
    /// A Boolean value that indicates whether only administrators may call the method, whatever its parameters are.
    var isForAdministrators: Bool {
        switch self {
        case .reload, .reexecute, .simulate, .simulateMemoryPressure: true
        case .launch, .run, .focus, .home, .beginInterruption, .endInterruption, .open, .continueActivity, .suspend,
            .resume, .wake, .setInUse, .terminate, .kill, .list, .apps, .describe, .explain, .history, .monitor,
            .getStatus, .openScene, .focusScene, .backgroundScene, .closeScene, .findApp, .adopt, .disown:
            false
        }
    }
}

extension ControlAPI.App {
    /// The app as a member sees it who does not own it: its id and its state.
    var stateOnly: ControlAPI.App {
        ControlAPI.App(
            id: id, name: nil, state: state, target: state, reason: "", inFront: inFront, linked: false, adHoc: false,
            pid: nil, containment: nil, since: since, lastExit: nil)
    }
}

extension ControlAPI.Transition {
    /// The transition as a member sees it who does not own the app.
    var stateOnly: ControlAPI.Transition {
        ControlAPI.Transition(id: id, from: from, to: to, reason: "", time: time, pid: nil, callback: nil)
    }
}
