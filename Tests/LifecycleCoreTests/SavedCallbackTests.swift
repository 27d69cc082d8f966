import Simulation
import Testing

@testable import LifecycleCore

/// What a damaged state file says of callbacks is told to no app unless it says something.
@Suite struct SavedCallbackTests {
    private static let clock = AppID("clock")
    private static let now = Instant(microseconds: 1_000_000)

    /// An app in the foreground that has listened from the beginning, with what else its record says.
    private static func restored(_ rest: [(String, String)]) -> Engine {
        let known = [
            ("id", clock.name), ("state", "active"), ("wish", "run"), ("linked", "1"), ("launched", "1"),
            ("has-launched", "1"), ("sequence", "1"),
        ]
        let record = SavedRecord(fields: (known + rest).map { .init(name: $0.0, value: $0.1) })
        let machine = SavedRecord(fields: [.init(name: "front", value: clock.name)])
        return Engine(
            restoring: machine, apps: [record], settings: Settings(), policy: { _ in Policy() }, at: now)
    }

    /// What the app is told when it is back and has not had the last callback.
    private static func told(_ rest: [(String, String)]) -> [Delivery] {
        var core = restored(rest)
        let messages =
            core.handle(.reconnected(lastSequence: 0), from: clock, at: now).messages
            + core.handle(.resumeRestored, at: now).messages
        return messages.compactMap { if case .deliver(_, let delivery) = $0 { delivery } else { nil } }
    }

    private static func unanswered(_ callback: String, _ rest: [(String, String)] = []) -> [(String, String)] {
        [
            ("awaiting", "answer"), ("callback", callback), ("told-sequence", "1"), ("told-state", "active"),
            ("answer-by", "2000000"),
        ] + rest
    }

    @Test func `restored callback is delivered again`() {
        #expect(Self.told(Self.unanswered("did-become-active")).map(\.callback) == [.didBecomeActive])
        let scene = Self.unanswered("scene-did-become-active", [("told-scene", "main")])
        #expect(Self.told(scene).map(\.callback) == [.sceneDidBecomeActive])
        let event = Self.unanswered("open-url", [("told-event", "1:open-url:::a%3Ab")])
        #expect(Self.told(event).map(\.callback) == [.openURL])
    }

    private static let incomplete: [(String, [(String, String)])] = [
        ("scene-did-become-active", []), ("scene-did-become-active", [("told-scene", "a b")]),
        ("did-become-active", [("told-scene", "main")]), ("open-url", []),
        ("open-url", [("told-event", "1:perform-task:fetch:")]),
    ]

    @Test(arguments: incomplete)
    func `restored callback without its subject is dropped`(callback: String, about: [(String, String)]) {
        let told = Self.told(Self.unanswered(callback, about))
        #expect(!told.contains { $0.callback.rawValue == callback })
    }

    @Test(arguments: ["background", "suspended", "notRunning"])
    func `answer to a restored callback leads to no illegal state`(next: String) {
        var core = Self.restored(Self.unanswered("did-become-active", [("next", next)]))
        _ = core.handle(.reconnected(lastSequence: 1), from: Self.clock, at: Self.now)
        _ = core.handle(.done(sequence: 1), from: Self.clock, at: Self.now)
        #expect(core.knownApps[Self.clock]?.state == .active)
    }

    @Test(
        arguments: [
            "scene-will-connect", "scene-will-connect:", "scene-will-connect:a:b", "did-become-active:main", "open-url",
        ])
    func `restored pending callback without its subject is dropped`(text: String) {
        #expect(PendingCallback(text: text) == nil)
    }

    @Test func `an app works on a task and on nothing else`() {
        for (text, isTask) in [("perform-task:fetch:", true), ("open-url:::a%3Ab", false)] {
            let core = Self.restored([
                ("task", "1:\(text)"), ("task-sequence", "1"), ("task-until", "2000000"),
                ("task-state", "background"),
            ])
            #expect((core.knownApps[Self.clock]?.outbox.task != nil) == isTask)
        }
    }
}
