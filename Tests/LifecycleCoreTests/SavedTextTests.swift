import Testing

@testable import LifecycleCore

/// What apps and users call things goes into the saved state and comes out as it was, whatever it is.
@Suite struct SavedTextTests {
    /// Among them what makes one character with the separator before it, and separators and escapes themselves.
    static let texts = [
        "save", "", "a:b:c", ":", "\u{301}accent", "\u{20DD}", "\u{1F}", "\u{1E}", "a\u{1F}b\u{1E}f",
        "\u{1E}\u{1F}\u{1E}e",
        "\u{200D}", "line\nfeed\r\n", "\u{0}", "{\"a\": \"b=c\"}",
    ]

    @Test(arguments: texts)
    func `a hold keeps its name`(name: String) {
        let hold = Assertion(kind: .task, number: 7, name: name, since: Instant(microseconds: 5))
        #expect(Assertion(text: hold.text) == hold)
    }

    @Test(arguments: texts)
    func `an event keeps its texts`(text: String) {
        for other in Self.texts {
            let events: [AppEvent] = [
                .openURL(text, type: other.isEmpty ? nil : other, source: "a"),
                .continueActivity(type: other, info: text), .performTask(kind: other, payload: text),
            ]
            for event in events {
                let again = QueuedEvent(text: QueuedEvent(number: 3, event: event).text)
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
            #expect(Scene(text: scene.text) == scene)
        }
    }

    @Test func `restored app has no more scenes than the limit`() {
        let start = Instant(microseconds: 5)
        var record = SavedRecord()
        for number in 1...Scenes.limit + 8 {
            let scene = Scene(id: SceneID(ordinal: number), role: "window", info: nil, origin: .app, since: start)
            record.add("scene", scene.text)
        }
        #expect(Scenes(saved: record.scenes, in: .background).all.count == Scenes.limit)
    }

    @Test(arguments: Reason.allCases)
    func `an exit keeps its reason`(reason: Reason) {
        let exit = ExitRecord(state: .active, reason: reason, status: .signal(9), instant: Instant(microseconds: 8))
        #expect(ExitRecord(text: exit.text) == exit)
    }

    @Test(arguments: texts)
    func `an exit for a reason of another version is an exit for none`(word: String) {
        let exit = ExitRecord(text: "8:active:signal 9:\(word)")
        let instant = Instant(microseconds: 8)
        #expect(exit == ExitRecord(state: .active, reason: .none, status: .signal(9), instant: instant))
    }

    @Test func `an event of a version before is read`() {
        let event = QueuedEvent(text: "3\u{1F}open-url\u{1F}text/plain\u{1F}\u{1F}file:///a%20b")
        #expect(event?.event == .openURL("file:///a%20b", type: "text/plain"))
    }
}
