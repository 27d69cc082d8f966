import ControlAPI

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
