import LifecycleCore

extension Run {
    /// Everything about a history that fails, in words.
    package var report: String {
        let setup = scenario.setup
        var lines = ["apps:"]
        for app in setup.apps { lines.append("  \(app.id): \(app.manner.rawValue)\(app.policy.words)") }
        lines.append("settings: \(setup.settings.words), faults \(setup.hasFaults), deaths: \(setup.deaths.rawValue)")
        lines.append("steps:")
        for step in scenario.steps.prefix(steps) {
            lines.append("  \(step.pause.wholeMicroseconds / 1000) ms later: \(plain(step.action))")
        }
        lines.append("what happened:")
        lines += story.map(\.words)
        return (lines + problems.map { "! \($0)" }).joined(separator: "\n")
    }
}

extension Happening {
    /// One line: an input with its time, or what it leads to.
    package var words: String {
        switch self {
        case .input(let words, let time): "\(time.microseconds / 1000) ms > \(plain(words))"
        case .consequence(let words): "        \(plain(words))"
        case .note(let note): "  --- \(note)"
        }
    }
}

/// A value as Swift prints it, without the modules' names.
private func plain(_ value: some Any) -> String {
    var text = "\(value)"
    for name in ["LifecycleCore.", "Simulation."] {
        while let range = text.firstRange(of: name) { text.removeSubrange(range) }
    }
    return text
}

extension Input {
    /// Returns the input in words, with the ids that the apps have in a core.
    func words(in core: Engine) -> String {
        switch self {
        case .define(let id, let policy): "define \(id)\(policy.words)"
        case .configure(let settings): "configure \(settings.words)"
        case .request(let number, let request): "request \(number.number): \(request)"
        case .outcome(let app, let outcome): "\(core.id(of: app)): \(outcome)"
        case .message(let app, let message): "\(core.id(of: app)) says \(message)"
        default: "\(self)"
        }
    }
}

extension Announcement {
    var words: String {
        switch self {
        case .app(let step): "\(step.app): \(step.from) → \(step.to) (\(step.reason))"
        case .scene(let step): "\(step.app)/\(step.scene): \(step.from) → \(step.to) (\(step.reason))"
        case .decision(let decision, _): "decision(\(decision))"
        }
    }
}

extension Ready.Answer {
    var words: String { "reply \(request.number): \(reply.words)" }
}

extension Ready.Message {
    /// Returns the message in words, with the ids that the apps have in a core.
    func words(in core: Engine) -> String {
        switch self {
        case .deliver(let app, let delivery):
            "\(core.id(of: app)) ← \(delivery.callback.rawValue)\(delivery.scene?.words ?? "") \(delivery.sequence), by \(delivery.deadline.microseconds / 1000) ms"
        case .answerAssertion(let app, let number, let refusal):
            "answerAssertion(\(core.id(of: app)), \(number), \(refusal as Any))"
        case .tellTimeLeft(let app, let end): "tellTimeLeft(\(core.id(of: app)), until: \(end as Any))"
        case .expireTask(let app, let number, let deadline):
            "expireTask(\(core.id(of: app)), \(number), deadline: \(deadline))"
        }
    }
}

extension Ready.Operation {
    /// Returns the operation in words, with the ids that the apps have in a core.
    func words(in core: Engine) -> String {
        switch self {
        case .spawn(let app): "spawn(\(core.id(of: app)))"
        case .stop(let app): "stop(\(core.id(of: app)))"
        case .resume(let app): "resume(\(core.id(of: app)))"
        case .terminate(let app): "terminate(\(core.id(of: app)))"
        case .kill(let app): "kill(\(core.id(of: app)))"
        case .measureMemory(let app): "measureMemory(\(core.id(of: app)))"
        case .markMemory: "markMemory"
        case .readMemory: "readMemory"
        }
    }
}

extension SceneNews {
    fileprivate var words: String { " of \(scene)" + (reason.map { " (\($0))" } ?? "") }
}

extension Reply {
    fileprivate var words: String {
        switch self {
        case .done: "done"
        case .reclaimed(let ids): "reclaimed \(ids)"
        case .ended(let outcome, _): outcome.rawValue
        case .scene(let scene, _): "scene \(scene.id)"
        case .refused(let refusal): "refused, \(refusal)"
        }
    }
}

extension Policy {
    fileprivate var words: String {
        let base = Policy()
        var words: [String] = []
        if suspend != base.suspend { words.append("never suspended") }
        if callbacks != base.callbacks { words.append("callbacks \(callbacks.rawValue)") }
        if !backgroundModes.isEmpty { words.append("modes \(backgroundModes.sorted())") }
        if takesURLs { words.append("takes URLs") }
        if restart != base.restart { words.append("restart \(restart.rawValue)") }
        if onExit != base.onExit { words.append("then \(onExit.rawValue)") }
        if let launchAtStart { words.append("from the start in the \(launchAtStart.rawValue)") }
        if isTransient { words.append("ad hoc") }
        if isAdopted { words.append("adopted") }
        if scenes { words.append("scenes, \(sceneLimit) in the foreground") }
        return words.map { ", " + $0 }.joined()
    }
}

extension Settings {
    fileprivate var words: String {
        "\(foregroundLimit) in the foreground, home \(homeApp?.name ?? "none"), suspended limit \(suspendedLimit)"
    }
}
