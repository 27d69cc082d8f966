import CommandLineTable
import ControlAPI
import Varlink

/// `lifectl list`
enum List {
    static func run(_ arguments: Arguments) throws(Failure) {
        guard arguments.has(.available) || !arguments.has(.all) else {
            throw Failure(arguments.usage("--all goes with --available"))
        }
        if arguments.has(.available) { return try listAvailable(arguments) }
        let reply = try arguments.options.call(.list, doing: "cannot list the apps")
        if arguments.has(.helpers) {
            return try arguments.options.show(HelperList(helpers: reply.helpers)) { $0.helpers(reply.helpers) }
        }
        try show(reply, arguments, ids: reply.apps.map { $0.id }) { $0.list(reply.apps) }
    }

    private static func listAvailable(_ arguments: Arguments) throws(Failure) {
        let parameters = ListAvailableParameters(all: arguments.trueOrNil(.all))
        let reply = try arguments.options.call(
            .listAvailable, parameters, doing: "cannot list the apps that can be launched")
        try show(reply, arguments, ids: reply.apps.map { $0.id }) {
            $0.launchable(reply.apps, all: arguments.has(.all))
        }
    }

    /// Prints a reply, or with `--ids` the ids of what it lists.
    private static func show(
        _ reply: some JSONWritable, _ arguments: Arguments, ids names: [String], whole: (Presentation) -> String
    ) throws(Failure) {
        try arguments.options.show(reply) { present in
            arguments.has(.ids) ? names.map { "\(Text.printable($0))\n" }.joined() : whole(present)
        }
    }
}

/// `lifectl status`
enum AppStatus {
    static func run(_ arguments: Arguments) throws(Failure) {
        let options = arguments.options
        if arguments.has(.follow) { return try StatusLine.run(arguments) }
        guard !arguments.has(.format) else { throw Failure(arguments.usage("--format goes with --follow")) }
        if let pid = arguments.number(.pid) {
            let app = try app(of: Int64(pid), options)
            return try show(app, options, doing: "cannot describe the app of process \(pid)")
        }
        guard let id = arguments[.app] else {
            return try options.show(.getStatus, doing: "cannot describe the daemon") { $0.status($1.status) }
        }
        try show(id, options, doing: "cannot describe \(id)")
    }

    private static func show(_ id: String, _ options: CallOptions, doing action: String) throws(Failure) {
        try options.show(.describe, AppParameters(id: id), doing: action) { $0.details($1.details) }
    }

    private static func app(of pid: Int64, _ options: CallOptions) throws(Failure) -> String {
        let action = "cannot find the app of process \(pid)"
        guard let app = try options.call(.findApp, FindAppParameters(pid: pid), doing: action).app else {
            throw Failure(.noSuchApp, action, "the process belongs to no app", remedy: "'lifectl list' shows the apps")
        }
        return app.id
    }
}
