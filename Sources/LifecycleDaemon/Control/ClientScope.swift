import LifecycleCore

/// What a client may ask for, decided once, when it connects.
enum ClientScope: Equatable {
    /// Everything: a person's program.
    case everything
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

    /// Whether it acts for a person, and not for itself.
    var isPersons: Bool {
        switch self {
        case .everything, .launcher: true
        case .app, .nothing: false
        }
    }

    /// The app that the client is a process of; nil for a person's program.
    var source: AppID? {
        switch self {
        case .app(let id), .launcher(let id): id
        case .everything, .nothing: nil
        }
    }
}
