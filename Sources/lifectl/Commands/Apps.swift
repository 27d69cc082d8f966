import ArgumentParser
import ControlAPI

struct Apps: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List what can be launched.",
        discussion: """
            What manifests describe and, with the user's own daemon, the desktop entries of installed programs.

            Example: lifectl apps
            """)

    @Flag(help: "List those too that menus do not show, or that cannot be launched, and why.")
    var all = false

    @OptionGroup var options: ListOptions

    func run() throws {
        var session = try Session(options.every, doing: "cannot list what can be launched")
        let reply = try session.call(.apps, AppsParameters(all: all ? true : nil))
        try options.show(reply, ids: reply.apps.map(\.id)) { $0.launchable(reply.apps, all: all) }
    }
}

extension Presentation {
    func launchable(_ apps: [Launchable], all: Bool) -> String {
        guard !apps.isEmpty else { return "nothing can be launched\n" }
        var columns: [(String, Table.Alignment)] = [("ID", .leading), ("NAME", .leading), ("RUNS", .leading)]
        columns += all ? [("FROM", .leading), ("NOTE", .leading)] : [("FROM", .leading)]
        var table = Table(columns, style: style)
        for app in apps {
            var row = [
                Table.Cell(app.id), Table.Cell(app.name ?? "-"), Table.Cell(app.running ? "yes" : "-"),
                Table.Cell(app.file),
            ]
            if all { row.append(Table.Cell(note(app))) }
            table.add(row)
        }
        return table.text
    }

    private func note(_ app: Launchable) -> String {
        guard let problem = app.problem else { return app.shown ? "-" : "menus leave it out" }
        // The file has a column of its own.
        guard problem.utf8.starts(with: app.file.utf8) else { return problem }
        let rest = String(decoding: problem.utf8.dropFirst(app.file.utf8.count), as: UTF8.self)
        return "cannot be launched: " + rest.drop { $0 == ":" || $0 == " " }
    }
}
