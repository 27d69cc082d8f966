import LifecycleCore
import Simulation
import Testing

/// Transitions that were not announced before the daemon ended.
@Suite struct AnnouncementTests {
    static let clock = AppID("org.example.Clock")
    static let main = SceneID(ordinal: 1)

    static func time(_ microseconds: UInt64) -> Instant { Instant(microseconds: microseconds) }

    static func transition(_ answer: Duration? = .milliseconds(20)) -> Transition {
        Transition(
            app: clock, from: .active, to: .inactive, reason: .displaced, instant: time(7), since: time(3),
            answerTime: answer)
    }

    /// The words of its states are those of an app's, too.
    static func sceneTransition(_ answer: Duration? = nil) -> SceneTransition {
        SceneTransition(
            app: clock, scene: main, from: .background, to: .suspended, reason: .idle, instant: time(.max),
            answerTime: answer)
    }

    private static func read(_ write: (inout SlotWriter) -> Void) -> [Announcement] {
        var slot = SlotWriter()
        write(&slot)
        return Announcement.read(slot.bytes[...])
    }

    @Test(arguments: [nil, .zero, .milliseconds(20), .microseconds(Int64.max)] as [Duration?])
    func transitionIsReadAsItWasWritten(answer: Duration?) {
        let (app, scene) = (Self.transition(answer), Self.sceneTransition(answer))
        #expect(Self.read { Announcement.write(app, to: &$0) } == [.app(app)])
        #expect(Self.read { Announcement.write(scene, to: &$0) } == [.scene(scene)])
        #expect(Self.read { Announcement.scene(scene).write(to: &$0) } == [.scene(scene)])
    }

    @Test func transitionsOfOneStepFollowOneAnother() {
        let steps: [Announcement] = [.app(Self.transition()), .scene(Self.sceneTransition()), .app(Self.transition())]
        #expect(Self.read { slot in for step in steps { step.write(to: &slot) } } == steps)
        #expect(steps.allSatisfy { $0.app == Self.clock } && steps.map(\.state) == [.inactive, nil, .inactive])
    }

    // MARK: Text

    private static let fields = [
        ("id", "org.example.Clock"), ("from", "active"), ("to", "inactive"), ("reason", "displaced"), ("at", "7"),
        ("since", "3"), ("answer", "20000"),
    ]

    private static func saved(_ fields: [(String, String)]) -> Announcement? {
        Announcement(saved: SavedRecord(fields: fields.map { .init(name: $0.0, value: $0.1) }))
    }

    private static func step(without name: String, _ others: (String, String)...) -> Transition? {
        guard case .app(let step) = saved(fields.filter { $0.0 != name } + others) else { return nil }
        return step
    }

    @Test func transitionOfARecordAsTextIsRead() {
        #expect(Self.saved(Self.fields) == .app(Self.transition()))
        let scene = [
            ("id", "org.example.Clock"), ("scene", "main"), ("from", "background"), ("to", "suspended"),
            ("reason", "idle"), ("at", "18446744073709551615"),
        ]
        #expect(Self.saved(scene) == .scene(Self.sceneTransition()))
    }

    @Test(arguments: ["id", "from", "to", "at"])
    func recordWithoutAValueThatItNeedsIsNoTransition(name: String) {
        let rest = Self.fields.filter { $0.0 != name }
        #expect(Self.saved(rest) == nil && Self.saved(rest + [(name, "")]) == nil)
        #expect(Self.saved(rest + [("scene", "main")]) == nil)
    }

    @Test func recordThatSaysLessHasDefaults() {
        #expect(Self.step(without: "since")?.since == Self.time(7))
        #expect(Self.step(without: "reason")?.reason == Reason.none)
        #expect(Self.step(without: "reason", ("reason", "of another version"))?.reason == Reason.none)
        #expect(Self.step(without: "answer").map { $0.answerTime == nil } == true)
        #expect(Self.step(without: "answer", ("answer", "-1")).map { $0.answerTime == nil } == true)
    }

    @Test func slotThatIsCutOffIsNoTransitionOrOneThatSaysLess() {
        var slot = SlotWriter()
        Announcement.write(Self.transition(), to: &slot)
        let bytes = slot.bytes
        for count in bytes.indices {
            let read = Announcement.read(bytes[..<count])
            guard case .app(let step)? = read.first else { continue }
            #expect(step.app == Self.clock && step.to == .inactive && step.instant == Self.time(7) && read.count == 1)
        }
    }
}
