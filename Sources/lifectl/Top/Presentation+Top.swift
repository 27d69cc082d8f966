import ControlAPI

extension Presentation {
    /// The rows as a table: states, what the trees use, what holds each, and how long that lasts at most.
    ///
    /// - Parameters:
    ///   - rows: Which of the rows.
    ///   - selected: The row that keys act upon; nil where there are no keys.
    func top(_ sample: TopSample, rows: Range<Int>, selected: Int?) -> String {
        var table = Table(
            [
                (" ", .leading), ("ID", .leading), ("STATE", .leading), ("SINCE", .trailing), ("CPU", .trailing),
                ("MEMORY", .trailing), ("LEFT", .trailing), ("HELD BY, AND WHAT COMES NEXT", .leading),
            ], style: style)
        for index in rows.clamped(to: sample.rows.indices) {
            let row = sample.rows[index]
            let app = row.app
            let deadline = (row.obstacles.compactMap(\.until) + row.prospects.map(\.time)).min()
            table.add([
                Table.Cell(index == selected ? ">" : " "), Table.Cell(app.id),
                Table.Cell(Self.state(app)) { style.state(app.state, $0) }, Table.Cell(Instants.age(now &- app.since)),
                Table.Cell(row.load.map(Self.percent) ?? "-"), Table.Cell(row.memory.map(Text.size) ?? "-"),
                Table.Cell(deadline.map { Instants.age($0 &- now) } ?? "-"), Table.Cell(notes(row)),
            ])
        }
        return table.text
    }

    private func notes(_ row: TopSample.Row) -> String {
        let held = row.obstacles.map { Self.short($0) }.joined(separator: ", ")
        let next = row.prospects.first.map { Self.short($0) }
        return [held.isEmpty ? nil : held, next].compactMap(\.self).joined(separator: "; then ")
    }

    private static func short(_ obstacle: Obstacle) -> String {
        let names = obstacle.names.joined(separator: " ")
        switch obstacle.kind {
        case .answer, .task, .activity, .interruption, .work: return "\(obstacle.kind.rawValue) \(names)"
        case .place: return "waits for \(names)"
        case .backgroundTime: return "time in the background"
        case .manifest: return "suspend = \"never\""
        case .request: return "resumed by somebody"
        case .visible: return "on the screen"
        case .playing: return "plays"
        case .stoppedByOther: return "stopped by somebody else"
        case .givenUp: return "given up"
        case .concealment: return names
        case .start, .stop, .resume, .end, .launch, .channel, .scenes, .restart: return obstacle.kind.rawValue
        }
    }

    private static func short(_ prospect: Prospect) -> String {
        switch prospect.kind {
        case .transition: prospect.to?.rawValue ?? "?"
        case .callback: "told \(prospect.reason ?? "")"
        case .callbackOverdue: "no answer to \(prospect.reason ?? "")"
        case .tasksExpire: "tasks expire"
        case .terminate: "SIGTERM"
        case .kill: "SIGKILL"
        }
    }

    /// Hundredths of a percent as a percentage: `12.3 %`.
    static func percent(_ hundredths: Int64) -> String { "\(hundredths / 100).\(hundredths % 100 / 10) %" }

    /// A line cut off at a width, with escape sequences, which take no room, left whole.
    static func cut(_ line: Substring, to width: Int) -> String {
        var result = ""
        var used = 0
        var isEscaped = false
        for character in line {
            if character == "\u{1b}" { isEscaped = true }
            if isEscaped {
                result.append(character)
                if character == "m" { isEscaped = false }
            } else if used < width {
                result.append(character)
                used += 1
            }
        }
        return result
    }
}
