import CLinux
import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The users of the control socket: the daemon's own user and root, and in the system instance the group `lifed`.
struct AccessPolicy {
    enum Right: Equatable {
        case none
        case member
        case administrator
    }

    static let groupName = "lifed"

    private let owner = geteuid()
    private let group: gid_t?
    private var administrators: Set<gid_t> = []
    /// The groups of users who have a right by one of them, as their accounts had them at the latest look.
    private var accounts: [uid_t: Set<gid_t>] = [:]
    /// The groups that these accounts have lost since. A process keeps those of its login, and so does a connection.
    private var lostGroups: [uid_t: Set<gid_t>] = [:]

    /// The reason to refuse a user without any right.
    let requirement: String

    init(isSystem: Bool) {
        requirement =
            isSystem
            ? "the user is neither root nor in the group lifed" : "the user is neither root nor that of the daemon"
        group = isSystem ? Self.groupNumber(of: Self.groupName) : nil
    }

    /// Sets the groups whose members are administrators. Ignores groups that the machine does not have.
    mutating func setAdministrators(_ names: Set<String>) {
        administrators = Set(names.compactMap { Self.groupNumber(of: $0) })
    }

    /// Looks up the groups of the account of a client, if it has its right by one of them.
    ///
    /// What counts is the loss of a group: a service may have one by `SupplementaryGroups=`, and its account never had it.
    mutating func remember(_ peer: PeerCredentials) {
        guard !isOwner(peer.user), accounts[peer.user] == nil, right(of: peer) != .none else { return }
        accounts.merge(UserAccounts.groups(of: [peer.user: []])) { $1 }
    }

    /// Takes from users the groups that their accounts have lost.
    mutating func review() {
        let current = UserAccounts.groups(of: accounts)
        for (user, before) in accounts {
            lostGroups[user] = lostGroups[user, default: []].union(before).subtracting(current[user] ?? [])
        }
        accounts = current
    }

    private func isOwner(_ user: uid_t) -> Bool { user == 0 || user == owner }

    func right(of peer: PeerCredentials) -> Right {
        if isOwner(peer.user) { return .administrator }
        guard let group else { return .none }
        let groups = Set(peer.groups + [peer.group]).subtracting(lostGroups[peer.user] ?? [])
        if !groups.isDisjoint(with: administrators) { return .administrator }
        return groups.contains(group) ? .member : .none
    }

    /// Returns the number of a group; nil if the machine does not have it.
    static func groupNumber(of name: String = groupName) -> gid_t? {
        var entry = unsafe Glibc.group()
        var result: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &result) == 0 else { return nil }
        return unsafe result?.pointee.gr_gid
    }
}

/// A client, identified once, when it connects.
struct ClientIdentity: Equatable {
    let scope: ClientScope
    /// The app of which the client is a process; nil for another program. The app of a scope of a user has `control = "full"`.
    var app: AppID?
    /// A Boolean value that indicates whether the client is in the PID namespace of the daemon (pid_namespaces(7)): the
    /// numbers of processes mean the same to both.
    var isInOwnNamespace = false
}

/// The rights of a client.
enum ClientScope: Equatable {
    /// Root, the daemon's own user, or an administrator.
    case everything
    /// A member of the group `lifed`: everything about apps of this user, id and state of all others.
    case member(UInt32)
    case app(AppID)
    /// The client has ended, or is a process of an app that has ended.
    case nothing

    var onlyApp: AppID? {
        if case .app(let id) = self { id } else { nil }
    }

    var isForUser: Bool {
        switch self {
        case .everything, .member: true
        case .app, .nothing: false
        }
    }
}

/// The part of an app that a client may see.
enum Visibility {
    case nothing
    case state
    case everything
}

/// The clients that may call a method. An app acts on itself alone, and gives itself nothing that the user or its manifest has not.
enum MethodAccess {
    /// All clients; the reply to an app contains the app alone.
    case filtered
    /// Users, and an app on itself.
    case onItself
    case users
    case administrators
}

extension LifedMethod {
    var access: MethodAccess {
        switch self {
        case .list, .getStatus, .monitor, .history, .findApp: .filtered
        case .describe, .explain, .background, .suspend, .terminate, .kill: .onItself
        // The user decides what is in the foreground.
        case .launch, .restart, .open, .continueActivity, .focus, .home, .beginInterruption, .endInterruption: .users
        case .openScene, .focusScene, .backgroundScene, .closeScene: .users
        // An app learns nothing about other programs.
        case .listAvailable: .users
        // These keep an app running without limit; background tasks and modes are for that.
        case .resume, .setInUse, .wake: .users
        // The new app would be outside the limits of this one.
        case .run, .adopt, .release: .users
        // An app adopts no process.
        case .monitorAdoptions: .users
        // These affect the apps of all users.
        case .simulateMemoryPressure, .simulate, .reload, .reexecute: .administrators
        }
    }
}

/// The rights of clients to apps.
///
/// A member of the group `lifed` controls the apps that run as the member's own user, and sees id and state of all others.
/// A member changes the foreground only while the seat shows a session of the member, or none.
struct ClientRights {
    let driver: CoreDriver
    let catalog: AppCatalog
    let processes: AppProcesses
    let exits: ExitHistory

    func visibility(of app: AppID, to scope: ClientScope) -> Visibility {
        switch scope {
        case .everything: .everything
        case .member(let user): owner(of: app) == user ? .everything : .state
        case .app(let own): own == app ? .everything : .nothing
        case .nothing: .nothing
        }
    }

    func seesAll(of app: AppID, _ scope: ClientScope) -> Bool { visibility(of: app, to: scope) == .everything }

    /// Returns the user of an app, also of one that has ended and was forgotten; nil for no such app.
    private func owner(of app: AppID) -> UInt32? {
        // An adopted app keeps its user, whatever the manifest of its id says.
        if let owner = processes.tree(of: driver.index(of: app))?.owner { return owner.user }
        guard let user = catalog[app]?.user else { return exits.ended[app]?.user }
        return catalog.number(of: user)
    }

    /// Returns the reason to refuse a request; nil if the client may make it.
    func objection(to request: Request, by scope: ClientScope) -> ControlError? {
        if let app = request.appToLaunch, let objection = occupation(of: app, for: scope) { return objection }
        return switch request {
        case .launch(let app, let background, _): objection(to: app, by: scope, foreground: !background)
        case .openScene(let app, _, let background): objection(to: app, by: scope, foreground: !background)
        case .focus(let app, _), .focusScene(let app, _): objection(to: app, by: scope, foreground: true)
        case .deliver(let app, _): objection(to: app, by: scope, foreground: true)
        case .restart(let app): objection(to: app, by: scope, foreground: driver.core.foreground.contains(app))
        case .background(let app), .suspend(let app, _), .resume(let app), .wake(let app, _, _), .terminate(let app),
            .kill(let app),
            .release(let app), .backgroundScene(let app, _), .closeScene(let app, _):
            objection(to: app, by: scope)
        case .endInterruption(_, answer: .some(let app)): objection(to: app, by: scope, foreground: true)
        case .home, .beginInterruption, .endInterruption: foregroundObjection(to: scope)
        case .machine, .memoryPressure: administratorObjection(to: scope)
        }
    }

    /// Returns the reason to refuse an action on an app. The core refuses an unknown app.
    func objection(to app: AppID, by scope: ClientScope, foreground: Bool = false) -> ControlError? {
        guard case .member(let member) = scope, driver.isKnown(app) || catalog[app] != nil else { return nil }
        guard owner(of: app) == member else {
            return ControlError(
                .notPermitted, id: app.name, reason: "the app runs as another user",
                remedy: "ask that user or an administrator (access.administrators in lifed.toml)")
        }
        return foreground ? foregroundObjection(to: scope) : nil
    }

    /// Returns the reason to refuse a launch of the app of a manifest while a program of another user has its id.
    func occupation(of app: AppID, for scope: ClientScope) -> ControlError? {
        guard catalog.definitions.isOccupied(app) else { return nil }
        if case .member(let user) = scope, owner(of: app) == user { return nil }
        return ControlError(
            .refused, id: app.name, reason: "a program of another user has the id of this manifest",
            remedy: "end it with 'lifectl terminate \(app)', and launch the app then")
    }

    func foregroundObjection(to scope: ClientScope) -> ControlError? {
        guard case .member(let member) = scope, let active = Seat.activeUser(of: "seat0"), active != member else {
            return nil
        }
        return ControlError(
            .notPermitted, id: nil, reason: "seat0 shows the session of another user, whose foreground it is",
            remedy: "switch to your session; 'lifectl launch --background' works without")
    }

    func administratorObjection(to scope: ClientScope) -> ControlError? {
        guard case .member = scope else { return nil }
        return ControlError(
            .notPermitted, id: nil, reason: "only administrators of lifed may do this",
            remedy: "use sudo, or add a group to access.administrators in lifed.toml")
    }

    /// Returns the record of an app that has ended and was forgotten, if the client may see it.
    func endedApp(_ id: AppID, for scope: ClientScope) -> EndedApps.Record? {
        guard let record = exits.ended[id] else { return nil }
        if case .member(let user) = scope, record.user != user { return nil }
        return record
    }
}

extension APIApp {
    var stateOnly: APIApp {
        APIApp(
            id: id, state: state, target: state, foreground: foreground, connected: false, adHoc: false,
            sinceUSec: sinceUSec, stoppedByOther: false)
    }
}

extension APITransition {
    var stateOnly: APITransition {
        APITransition(id: id, from: from, to: to, timeUSec: timeUSec)
    }
}

extension Request {
    /// The app that the request launches if it is not running.
    fileprivate var appToLaunch: AppID? {
        switch self {
        case .launch(let app, _, _), .openScene(let app, _, _), .deliver(let app, _), .restart(let app),
            .wake(let app, _, _), .endInterruption(_, answer: .some(let app)):
            app
        case .focus, .focusScene, .background, .suspend, .resume, .terminate, .kill, .release, .backgroundScene,
            .closeScene, .endInterruption(_, answer: nil), .home, .beginInterruption, .machine, .memoryPressure:
            nil
        }
    }
}
