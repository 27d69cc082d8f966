import ControlAPI

extension Presentation {
    func statistics(_ figures: Statistics) -> String {
        var text = "from \(Instants.date(figures.start)) to \(Instants.date(figures.end))"
        text += " (\(Instants.age(figures.end - figures.start)))\n\n"
        text += times(figures)
        text += "\n" + spreads(figures)
        let ends = figures.ends.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        text +=
            "\n"
            + properties([
                ("ended", ends.isEmpty ? "no app" : ends.map { "\($1) \(Text.printable($0))" }.joined(separator: ", ")),
                ("callbacks not answered", "\(figures.unanswered)"),
                ("killed after their grace", "\(figures.killedAfterGrace)"),
            ])
        return text
    }

    private func times(_ figures: Statistics) -> String {
        guard !figures.apps.isEmpty else { return "no app ran\n" }
        let states: [State] = [.active, .inactive, .background, .suspended]
        var table = Table(
            [("APP", .leading)] + states.map { ($0.rawValue.uppercased(), .trailing) }
                + [("LAUNCHES", .trailing), ("IN USE", .trailing), ("ENDS", .trailing)], style: style)
        for app in figures.apps {
            table.add(
                [Table.Cell(app.app)]
                    + states.map { state in
                        Table.Cell(app.times[state.rawValue].map(Instants.age) ?? "-") { style.state(state, $0) }
                    }
                    + [app.launches, app.activations, app.ends].map { Table.Cell(String($0)) })
        }
        return table.text
    }

    private func spreads(_ figures: Statistics) -> String {
        var table = Table(
            [
                ("LATENCY", .leading), ("COUNT", .trailing), ("MEDIAN", .trailing), ("90 %", .trailing),
                ("99 %", .trailing), ("LONGEST", .trailing),
            ], style: style)
        let rows: [(String, Statistics.Spread?)] = [
            ("switch to an app that runs", figures.switches), ("launch to the front", figures.launches),
            ("answer to a callback", figures.callbacks),
        ]
        for (name, spread) in rows {
            let values = spread.map { [$0.median, $0.percentile90, $0.percentile99, $0.longest] }
            table.add(
                [Table.Cell(name), Table.Cell(String(spread?.count ?? 0))]
                    + (values?.map { Table.Cell(Text.milliseconds($0)) } ?? Array(repeating: Table.Cell("-"), count: 4))
            )
        }
        return table.text
    }
}
