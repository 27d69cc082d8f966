import ControlAPI

/// What is done to a running app by a command of one word.
enum AppAction: String, CaseIterable {
    case focus, suspend, resume, terminate, kill

    /// Does it, and says what the app is then.
    ///
    /// - Parameter id: The app's; what is brought to the front may be a scene, APP/SCENE, too.
    func perform(on id: String, _ options: CallOptions, wait: WaitGoal? = nil) throws {
        if self == .focus, id.contains("/") { return try options.perform(.focusScene, on: id, verb: rawValue) }
        var session = try Session(options, doing: "cannot \(rawValue) \(id)")
        let reply =
            if let method {
                try session.call(method, AppParameters(id: id), waitingFor: id)
            } else {
                try session.call(.focus, FocusParameters(id: id, wait: wait), waitingFor: id)
            }
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }

    /// The method that takes an app and nothing else; nil for the one that takes more.
    private var method: ControlMethod<AppParameters, AppReply>? {
        switch self {
        case .focus: nil
        case .suspend: .suspend
        case .resume: .resume
        case .terminate: .terminate
        case .kill: .kill
        }
    }
}
