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

extension Presentation {
    /// `org.example.Notes/main is foregroundActive`
    func sentence(_ scene: Scene, of app: String) -> String {
        "\(Text.printable("\(app)/\(scene.id)")) is \(style.state(scene.state))\n"
    }

    func scenes(_ scenes: [ListedScenes.Entry]) -> String {
        guard !scenes.isEmpty else { return "no scenes\n" }
        var table = sceneTable(of: "SCENE")
        for entry in scenes { table.add(cells(of: entry.scene, named: entry.name.text)) }
        return table.text
    }

    /// The scenes of one app, for its details.
    func scenes(of app: App) -> String {
        guard let scenes = app.scenes, !scenes.isEmpty else { return "" }
        var table = sceneTable(of: "SCENE")
        for scene in scenes { table.add(cells(of: scene, named: scene.id)) }
        return "\n" + table.text
    }

    /// The word for where a scene is, and where it is going.
    func stateCell(of scene: Scene) -> Table.Cell {
        let isMoving = scene.target != scene.state
        return Table.Cell(isMoving ? "\(scene.state.rawValue) → \(scene.target.rawValue)" : scene.state.rawValue) {
            style.state(scene.state, $0)
        }
    }

    private func sceneTable(of heading: String) -> Table {
        Table(
            [
                (heading, .leading), ("ROLE", .leading), ("STATE", .leading), ("SINCE", .trailing),
                ("REASON", .leading), ("INFO", .leading),
            ],
            style: style)
    }

    private func cells(of scene: Scene, named name: String) -> [Table.Cell] {
        [
            Table.Cell(name), Table.Cell(scene.role), stateCell(of: scene),
            Table.Cell(Instants.age(now &- scene.since)), Table.Cell(scene.reason),
            Table.Cell(scene.info.map(Self.shortened) ?? "-"),
        ]
    }

    /// The beginning of a text that may be long: the whole is in the JSON.
    private static func shortened(_ text: String) -> String {
        text.count > 40 ? text.prefix(39) + "…" : text
    }
}

extension Style {
    /// A scene's state in the colour of the app's state that is most like it.
    func state(_ state: SceneState, _ text: String? = nil) -> String {
        let like: State =
            switch state {
            case .foregroundActive: .active
            case .foregroundInactive: .inactive
            case .background: .background
            case .suspended: .suspended
            case .unattached: .notRunning
            }
        return self.state(like, text ?? state.rawValue)
    }
}

extension Presentation {
    /// One reply of a subscription as lines: a change, or every app as it is.
    func change(_ reply: MonitorReply) -> String {
        var lines = ""
        for app in reply.apps ?? [] {
            lines += line(app.since, app.id, style.state(app.state), app.reason)
            for scene in app.scenes ?? [] {
                lines += line(scene.since, "\(app.id)/\(scene.id)", style.state(scene.state), scene.reason)
            }
        }
        if let step = reply.transition {
            lines += line(step.time, step.id, "\(style.state(step.from)) → \(style.state(step.to))", step.reason)
        }
        if let step = reply.scene {
            let name = "\(step.app)/\(step.scene)"
            lines += line(step.time, name, "\(style.state(step.from)) → \(style.state(step.to))", step.reason)
        }
        return lines
    }

    private func line(_ time: Int64, _ id: String, _ change: String, _ reason: String) -> String {
        "\(Instants.timeOfDay(time))  \(Text.printable(id))  \(change)  \(Text.printable(reason))\n"
    }
}
