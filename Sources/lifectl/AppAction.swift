import ControlAPI

/// What is done to a running app by a command of one word.
enum AppAction: String, CaseIterable {
    case focus, suspend, resume, terminate, kill

    /// Does it, and says what the app is then.
    ///
    /// - Parameter id: The app's; what is brought to the front may be a scene, APP/SCENE, too.
    func perform(on id: String, _ options: CallOptions, wait: WaitGoal? = nil, now: Bool = false) throws {
        if self == .focus, id.contains("/") { return try options.perform(.focusScene, on: id, verb: rawValue) }
        var session = try Session(options, doing: "cannot \(rawValue) \(id)")
        let app = AppParameters(id: id)
        let reply =
            switch self {
            case .focus: try session.call(.focus, FocusParameters(id: id, wait: wait), waitingFor: id)
            case .suspend: try session.call(.suspend, SuspendParameters(id: id, now: now ? true : nil), waitingFor: id)
            case .resume: try session.call(.resume, app, waitingFor: id)
            case .terminate: try session.call(.terminate, app, waitingFor: id)
            case .kill: try session.call(.kill, app, waitingFor: id)
            }
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}
