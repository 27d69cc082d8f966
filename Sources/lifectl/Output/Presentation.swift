import ControlAPI

/// The daemon's replies as people read them.
struct Presentation {
    let style: Style
    let now: Int64

    static var standardOutput: Presentation {
        Presentation(style: .standardOutput, now: Instants.now)
    }

    /// `org.example.Clock is active (pid 123)`
    func sentence(_ app: App) -> String {
        let pid = app.pid.map { " (pid \($0))" } ?? ""
        let state = app.state == .notRunning ? "not running" : app.state.rawValue
        let stopped = app.stoppedByOther ? ", but another program has stopped it" : ""
        return "\(Text.printable(app.id)) is \(style.state(app.state, state))\(pid)\(stopped)\n"
    }

    /// `background → suspended`, or `active, stopped` where another program has stopped it.
    static func state(_ app: App) -> String {
        let target = app.target == app.state ? "" : " → \(app.target.rawValue)"
        return app.state.rawValue + target + (app.stoppedByOther ? ", stopped" : "")
    }

    func list(_ apps: [App]) -> String {
        guard !apps.isEmpty else { return "no apps\n" }
        var table = Table(
            [("ID", .leading), ("STATE", .leading), ("PID", .trailing), ("SINCE", .trailing), ("REASON", .leading)],
            style: style)
        for app in apps {
            table.add([
                Table.Cell(app.id),
                Table.Cell(Self.state(app)) { style.state(app.state, $0) },
                Table.Cell(app.pid.map(String.init) ?? "-"),
                Table.Cell(Instants.age(now &- app.since)),
                Table.Cell(app.reason),
            ])
            for scene in app.scenes ?? [] {
                // Below its app, to which the process belongs.
                table.add([
                    Table.Cell("  \(scene.id)"), stateCell(of: scene), Table.Cell("-"),
                    Table.Cell(Instants.age(now &- scene.since)), Table.Cell(scene.reason),
                ])
            }
        }
        return table.text
    }

    func problem(_ problem: Problem) -> String {
        let line = problem.line.map { ":\($0)" } ?? ""
        return "\(Text.printable(problem.file))\(line): \(Text.printable(problem.message))"
    }

    func problems(_ problems: [Problem]) -> String {
        guard !problems.isEmpty else { return "configuration read, no problems\n" }
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return "configuration read, \(count)\n" + problems.map { "  \(problem($0))\n" }.joined()
    }

    /// Names and values below one another; lines whose value is nil are left out.
    func properties(_ properties: [(String, String?)]) -> String {
        let present = properties.compactMap { name, value in value.map { (name, $0) } }
        let width = present.map(\.0.count).max() ?? 0
        return present.map { name, value in
            "\(style.heading(Text.leading(name, width: width)))  \(value)\n"
        }.joined()
    }
}
