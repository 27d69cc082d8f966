import LifecycleCore

/// The rights of a client, decided once, when it connects.
enum ClientScope: Equatable {
    /// Everything: root, the daemon's own user, or an administrator.
    case everything
    /// A member of the group `lifed`: everything about apps of this user, and id and state of all others.
    case member(UInt32)
    /// Everything, for an app with `control = "full"`.
    case launcher(AppID)
    /// One app, of which the client is a process.
    case app(AppID)
    /// Nothing: the process that connected has ended, or it is one of an app that is no more.
    case nothing

    /// The only app that the client may see; nil for all.
    var onlyApp: AppID? {
        if case .app(let id) = self { id } else { nil }
    }

    /// A Boolean value that indicates whether the client acts for a person, and not for itself.
    var isPersons: Bool {
        switch self {
        case .everything, .member, .launcher: true
        case .app, .nothing: false
        }
    }

    /// The app that the client is a process of; nil for a person's program.
    var source: AppID? {
        switch self {
        case .app(let id), .launcher(let id): id
        case .everything, .member, .nothing: nil
        }
    }
}

/// The part of an app that a client may see.
enum Visibility {
    case nothing
    /// Its id and its state.
    case state
    case everything
}
