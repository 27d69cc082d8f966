import ControlAPI

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
