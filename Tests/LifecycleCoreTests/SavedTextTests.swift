import Testing

@testable import LifecycleCore

/// What apps and users call things goes into the saved state and comes out as it was, whatever it is.
@Suite struct SavedTextTests {
    /// The value that a record returns.
    private func again<Item: SavedItem>(_ item: Item) -> Item? {
        var writer = SavedCoder()
        _ = writer.item("item", item)
        var reader = SavedCoder(reading: SavedRecord(encoded: writer.record.bytes))
        return reader.item("item", nil)
    }

    static let texts = [
        "save", "", "a:b:c", ":", "\u{301}accent", "\u{20DD}", "\u{1F}", "\u{1E}", "a\u{1F}b\u{1E}f",
        "\u{1E}\u{1F}\u{1E}e",
        "~", "~a", "\\", "\\:", "a\\~", "\u{200D}", "line\nfeed\r\n", "\u{0}", "{\"a\": \"b=c\"}",
    ]

    @Test(arguments: texts)
    func `a hold keeps its name`(name: String) {
        let hold = Assertion(kind: .task, number: 7, name: name, since: Instant(microseconds: 5))
        #expect(again(hold) == hold)
    }

    @Test(arguments: texts)
    func `an event keeps its texts`(text: String) {
        for other in Self.texts {
            let events: [AppEvent] = [
                .openURL(text, type: other.isEmpty ? nil : other, source: "a"),
                .continueActivity(type: other, info: text), .performTask(kind: other, payload: text),
            ]
            for event in events {
                let again = again(QueuedEvent(number: 3, event: event))
                #expect(again?.number == 3)
                #expect(again?.event == event)
            }
        }
    }

    @Test(arguments: texts)
    func `information of a scene is saved`(info: String) throws {
        let start = Instant(microseconds: 5)
        for origin in [Scene.Origin.user, .app] {
            var scene = Scene(
                id: try #require(SceneID("main")), role: "window", info: info, origin: origin, since: start)
            scene.isWanted = true
            #expect(again(scene) == scene)
        }
    }

    @Test func `restored app has no more scenes than the limit`() {
        let start = Instant(microseconds: 5)
        var saved = Scenes()
        for number in 1...Scenes.limit + 8 {
            let scene = Scene(id: SceneID(ordinal: number), role: "window", info: nil, origin: .app, since: start)
            saved.all.append(scene)
        }
        #expect(Scenes(saved: saved, in: .background).all.count == Scenes.limit)
    }
}
