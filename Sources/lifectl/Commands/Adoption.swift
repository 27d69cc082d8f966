import CommandLineTable
import ControlAPI

/// The commands about processes that run already.
enum Adoption {
    static func adopt(_ arguments: Arguments) throws(Failure) {
        let pid = arguments.number(.pid) ?? 0
        let action = "cannot adopt process \(pid)"
        let parameters = AdoptParameters(
            pid: Int64(pid), id: arguments[.id], name: arguments[.name], background: arguments.trueOrNil(.background),
            byRule: arguments.trueOrNil(.byRule))
        try arguments.options.show(
            .adopt, parameters, doing: action,
            check: { reply throws(Failure) in
                guard reply.app == nil else { return }
                throw Failure(
                    .noSuchApp, action, "no rule in lifed.toml fits the process",
                    remedy: "add a rule, or leave --by-rule out")
            }
        ) { $0.sentence($1) }
    }

    static func release(_ arguments: Arguments) throws(Failure) {
        let id = arguments.app
        try arguments.options.show(.release, AppParameters(id: id), doing: "cannot release \(id)", waitingFor: id) {
            _, _ in "\(Text.printable(id)) is released, and runs on\n"
        }
    }
}
