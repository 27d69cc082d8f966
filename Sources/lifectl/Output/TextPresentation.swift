import ControlAPI
import LifecycleTypes

/// The daemon's replies as text.
struct TextPresentation {
    let style: Style
    let now: Int64

    static var standardOutput: TextPresentation { TextPresentation(style: .standardOutput, now: Instants.now) }

    /// `org.example.Clock is active (pid 123)`
    func sentence(_ app: APIApp) -> String {
        let pid = app.pid.map { " (pid \($0))" } ?? ""
        let state = app.state == .notRunning ? "not running" : app.state.rawValue
        return "\(Text.printable(app.id)) is \(style.state(app.state, state))\(pid)\(stopped(app))\n"
    }

    func sentence(_ reply: AppReply) -> String { sentence(reply.app) }

    func sentence(_ reply: OptionalAppReply) -> String { reply.app.map(sentence) ?? "" }

    /// `org.example.Notes/main is foregroundActive`
    func sentence(_ scene: APIScene, of app: String) -> String {
        "\(Text.printable("\(app)/\(scene.id)")) is \(style.state(scene.state))\n"
    }

    func stopped(_ app: APIApp) -> String { app.stoppedByOther ? ", but another program has stopped it" : "" }

    /// `background → suspended`, or `active, stopped` if another program has stopped the app.
    func stateCell(of app: APIApp) -> Table.Cell {
        let target = app.target == app.state ? "" : " → \(app.target.rawValue)"
        return .text(app.state.rawValue + target + (app.stoppedByOther ? ", stopped" : "")) {
            style.state(app.state, $0)
        }
    }

    /// `background → foregroundActive`
    func stateCell(of scene: APIScene) -> Table.Cell {
        let target = scene.target == scene.state ? "" : " → \(scene.target.rawValue)"
        return .text(scene.state.rawValue + target) { style.state(scene.state, $0) }
    }

    func ageCell(since time: Int64) -> Table.Cell { .text(Instants.age(now &- time)) }

    // MARK: Lists

    func list(_ apps: [APIApp]) -> String {
        guard !apps.isEmpty else { return "no apps\n" }
        var table = Table(["ID", "STATE", .trailing("PID"), .trailing("SINCE"), "REASON"], style: style)
        for app in apps {
            table.add(
                .text(app.id), stateCell(of: app), .text(app.pid.map(String.init) ?? "-"),
                ageCell(since: app.sinceUSec),
                .text(app.reason.text))
            for scene in app.scenes ?? [] {
                table.add(
                    .text("  \(scene.id)"), stateCell(of: scene), .text("-"), ageCell(since: scene.sinceUSec),
                    .text(scene.reason.rawValue))
            }
        }
        return table.text
    }

    func availableApps(_ apps: [APIAvailableApp], all: Bool) -> String {
        guard !apps.isEmpty else { return "no app can be launched\n" }
        var table = Table(["ID", "NAME", "RUNS", "FROM"] + (all ? ["NOTE"] : []), style: style)
        for app in apps {
            let row = [app.id, app.name ?? "-", app.running ? "yes" : "-", app.file] + (all ? [note(app)] : [])
            table.add(row.map { .text($0) })
        }
        return table.text
    }

    private func note(_ app: APIAvailableApp) -> String {
        guard let problem = app.problem else { return app.shown ? "-" : "hidden from menus" }
        // The file has a column of its own.
        guard problem.utf8.starts(with: app.file.utf8) else { return problem }
        let rest = String(decoding: problem.utf8.dropFirst(app.file.utf8.count), as: UTF8.self)
        return "cannot be launched: " + rest.drop { $0 == ":" || $0 == " " }
    }

    func helpers(_ helpers: [APIHelper]) -> String {
        guard !helpers.isEmpty else { return "no helpers\n" }
        var table = Table([.trailing("PID"), "STARTED BY", "COMMAND"], style: style)
        for helper in helpers {
            table.add(.text(String(helper.process.pid)), .text(helper.app ?? "?"), .text(helper.process.command))
        }
        return table.text
    }

    func scenes(_ scenes: [ListedScene]) -> String {
        scenes.isEmpty ? "no scenes\n" : sceneTable(scenes.map { ($0.name.text, $0.scene) })
    }

    /// Returns the scenes of one app, for its details.
    func scenes(of app: APIApp) -> String {
        guard let scenes = app.scenes, !scenes.isEmpty else { return "" }
        return "\n" + sceneTable(scenes.map { ($0.id, $0) })
    }

    private func sceneTable(_ scenes: [(name: String, scene: APIScene)]) -> String {
        var table = Table(["SCENE", "ROLE", "STATE", .trailing("SINCE"), "REASON", "INFO"], style: style)
        for (name, scene) in scenes {
            table.add(
                .text(name), .text(scene.role), stateCell(of: scene), ageCell(since: scene.sinceUSec),
                // The JSON has all of a long text.
                .text(scene.reason.rawValue), .text(scene.info.map { $0.count > 40 ? $0.prefix(39) + "…" : $0 } ?? "-"))
        }
        return table.text
    }

    // MARK: Changes

    /// Returns the lines of a reply of Monitor: a change, or the state of every app.
    func change(_ reply: MonitorReply) -> String {
        var lines = ""
        for app in reply.apps ?? [] {
            lines += line(app.sinceUSec, app.id, style.state(app.state), app.reason)
            for scene in app.scenes ?? [] {
                lines += line(scene.sinceUSec, "\(app.id)/\(scene.id)", style.state(scene.state), scene.reason)
            }
        }
        if let step = reply.transition {
            lines += line(step.timeUSec, step.id, "\(style.state(step.from)) → \(style.state(step.to))", step.reason)
        }
        if let step = reply.scene {
            let name = "\(step.app)/\(step.scene)"
            lines += line(step.timeUSec, name, "\(style.state(step.from)) → \(style.state(step.to))", step.reason)
        }
        return lines
    }

    private func line(_ time: Int64, _ id: String, _ change: String, _ reason: Reason?) -> String {
        "\(Instants.timeOfDay(time))  \(Text.printable(id))  \(change)  \(reason.text)\n"
    }

    // MARK: Problems and properties

    func problem(_ problem: APIProblem) -> String {
        let line = problem.line.map { ":\($0)" } ?? ""
        return "\(Text.printable(problem.file))\(line): \(Text.printable(problem.message))"
    }

    func problems(_ problems: [APIProblem]) -> String {
        guard !problems.isEmpty else { return "configuration read, no problems\n" }
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return "configuration read, \(count)\n" + problems.map { "  \(problem($0))\n" }.joined()
    }

    /// Returns a line for each name with a value.
    func properties(_ properties: [(String, String?)]) -> String {
        let present = properties.compactMap { name, value in value.map { (name, $0) } }
        let width = present.map { $0.0.count }.max() ?? 0
        return present.map { "\(style.heading(Text.leading($0, width: width)))  \($1)\n" }.joined()
    }
}

extension Reason? {
    /// The word; an empty text for a reason that the caller may not see.
    var text: String { self?.rawValue ?? "" }
}
