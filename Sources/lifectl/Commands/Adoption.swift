import CommandLineTable
import ControlAPI
import Varlink

/// The commands about processes that run already.
enum Adoption {
    static func adopt(_ arguments: Arguments) throws {
        let pid = arguments.process
        let parameters = AdoptParameters(
            pid: pid, id: arguments[.id], name: arguments[.name], background: arguments.trueOrNil(.background),
            byRule: arguments.trueOrNil(.byRule))
        let reply = try arguments.options.call(.adopt, parameters, doing: "cannot adopt process \(pid)")
        try arguments.options.show(reply, app: reply.app, orFail: "no rule in lifed.toml fits process \(pid)")
    }

    static func release(_ arguments: Arguments) throws {
        let id = arguments.app
        try arguments.options.show(.release, AppParameters(id: id), doing: "cannot release \(id)", waitingFor: id) {
            _, _ in "\(Text.printable(id)) runs on without lifed\n"
        }
    }

    static func find(_ arguments: Arguments) throws {
        let pid = arguments.process
        let reply = try arguments.options.call(
            .findApp, FindAppParameters(pid: pid), doing: "cannot find the app of process \(pid)")
        try arguments.options.show(reply, app: reply.app, orFail: "process \(pid) belongs to no app")
    }
}

extension Arguments {
    fileprivate var process: Int64 { Int64(number(.pid) ?? 0) }
}

extension CallOptions {
    /// Shows the app of a reply, or fails if the reply has none.
    fileprivate func show(_ reply: some JSONWritable, app: App?, orFail message: String) throws {
        if let app { return try show(reply) { $0.sentence(app) } }
        if isJSON { try show(reply) { _ in "" } }
        throw Failure(status: .noSuchApp, message: message)
    }
}
