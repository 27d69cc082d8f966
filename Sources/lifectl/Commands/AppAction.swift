import CommandLineTable
import ControlAPI
import LifecycleTypes
import Varlink

/// An action of a verb on one or several apps.
enum AppAction: String {
    case launch, focus, background, suspend, resume, terminate, kill, restart

    /// Performs the action, and prints the state of each app afterwards. `focus` takes a scene as APP/SCENE, too.
    func perform(_ arguments: Arguments) throws(Failure) {
        switch self {
        case .launch:
            let (background, wait) = (arguments.trueOrNil(.background), arguments.word(.wait, of: APIWaitGoal.self))
            try arguments.change(.launch, doing: self, isOrdered: true) {
                LaunchParameters(id: $0, background: background, wait: wait)
            }
        case .focus:
            let id = arguments.app
            if id.contains("/") {
                guard arguments.word(.wait, of: APIWaitGoal.self) == nil else {
                    throw Failure(
                        .usage, action(on: id), "--wait is for apps, and this is a scene", remedy: "leave --wait out")
                }
                return try arguments.options.perform(.focusScene, on: id, verb: "bring", to: " to the foreground")
            }
            let wait = arguments.word(.wait, of: APIWaitGoal.self)
            try arguments.change(.focus, doing: self) { FocusParameters(id: $0, wait: wait) }
        case .background: try arguments.change(.background, doing: self) { AppParameters(id: $0) }
        case .suspend:
            let now = arguments.trueOrNil(.now)
            try arguments.change(.suspend, doing: self) { SuspendParameters(id: $0, now: now) }
        case .resume: try arguments.change(.resume, doing: self) { AppParameters(id: $0) }
        case .terminate: try arguments.change(.terminate, doing: self) { AppParameters(id: $0) }
        case .kill:
            let signal = arguments[.signal].flatMap(SignalName.parse)
            try arguments.change(.kill, doing: self) { KillParameters(id: $0, signal: signal) }
        case .restart: try arguments.change(.restart, doing: self) { AppParameters(id: $0) }
        }
    }

    /// Returns the start of an error message.
    fileprivate func action(on app: String) -> String {
        switch self {
        case .focus: "cannot bring \(app) to the foreground"
        case .background: "cannot send \(app) to the background"
        case .launch, .suspend, .resume, .terminate, .kill, .restart: "cannot \(rawValue) \(app)"
        }
    }
}

extension Arguments {
    /// Calls a method for each app of the command line: for several apps at the same time, unless the order counts.
    fileprivate func change<Parameters>(
        _ method: ControlMethod<Parameters, AppReply>, doing action: AppAction, isOrdered: Bool = false,
        _ parameters: (String) -> Parameters
    ) throws(Failure) {
        let (ids, options) = (all(.app), options)
        guard ids.count > 1, !isOrdered, options.waits else {
            return try perform(ids) { id throws(Failure) in
                try options.show(method, parameters(id), doing: action.action(on: id), waitingFor: id) {
                    $0.sentence($1)
                }
            }
        }
        let sessions = ids.map { id in
            Result { () throws(Failure) in
                let session = try DaemonConnection(options, doing: action.action(on: id))
                try session.begin(method, parameters(id))
                return session
            }
        }
        try perform(sessions) { session throws(Failure) in
            let reply = try session.get().finish(method)
            try options.show(reply) { $0.sentence(reply) }
        }
    }

    /// Performs an operation for each item. A failure is reported, and the rest is done nevertheless; the first failure
    /// decides the exit status.
    private func perform<Item>(_ items: [Item], _ operation: (Item) throws(Failure) -> Void) throws(Failure) {
        var first: Failure?
        for item in items {
            do throws(Failure) {
                try operation(item)
            } catch {
                guard items.count > 1, !error.isSilent else { throw error }
                error.show(isJSON: options.isJSON)
                first = first ?? error
            }
        }
        if let first { throw Failure.reported(first.status) }
    }
}
