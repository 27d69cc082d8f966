import LifecycleCore
import Simulation
import Testing

/// Transitions that were not announced before the daemon ended.
@Suite struct SavedTransitionTests {
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

    private static func read(_ slot: borrowing SlotWriter) -> (SavedTransition, isAtEnd: Bool) {
        var reader = SlotReader(slot.bytes[...])
        let saved = SavedTransition(from: &reader)
        return (saved, reader.isAtEnd)
    }

    @Test(arguments: [nil, .zero, .milliseconds(20), .microseconds(Int64.max)] as [Duration?])
    func transitionIsReadAsItWasWritten(answer: Duration?) {
        var slot = SlotWriter()
        SavedTransition.write(Self.transition(answer), to: &slot)
        var (saved, isAtEnd) = Self.read(slot)
        #expect(saved.transition == Self.transition(answer) && saved.sceneTransition == nil && isAtEnd)
        slot.reset()
        SavedTransition.write(Self.sceneTransition(answer), to: &slot)
        (saved, isAtEnd) = Self.read(slot)
        #expect(saved.sceneTransition == Self.sceneTransition(answer) && saved.transition == nil && isAtEnd)
    }

    @Test func transitionsOfOneStepFollowOneAnother() {
        var slot = SlotWriter()
        SavedTransition.write(Self.transition(), to: &slot)
        SavedTransition.write(Self.sceneTransition(), to: &slot)
        var reader = SlotReader(slot.bytes[...])
        #expect(SavedTransition(from: &reader).transition == Self.transition() && !reader.isAtEnd)
        #expect(SavedTransition(from: &reader).sceneTransition == Self.sceneTransition() && reader.isAtEnd)
    }

    // MARK: Text

    private static let fields = [
        ("id", "org.example.Clock"), ("from", "active"), ("to", "inactive"), ("reason", "displaced"), ("at", "7"),
        ("since", "3"), ("answer", "20000"),
    ]

    private static func saved(_ fields: [(String, String)]) -> SavedTransition {
        SavedTransition(SavedRecord(fields: fields.map { .init(name: $0.0, value: $0.1) }))
    }

    private static func saved(without name: String, _ others: (String, String)...) -> SavedTransition {
        saved(fields.filter { $0.0 != name } + others)
    }

    @Test func transitionOfARecordAsTextIsRead() {
        #expect(Self.saved(Self.fields).transition == Self.transition())
        let scene = [
            ("id", "org.example.Clock"), ("scene", "main"), ("from", "background"), ("to", "suspended"),
            ("reason", "idle"), ("at", "18446744073709551615"),
        ]
        #expect(Self.saved(scene).sceneTransition == Self.sceneTransition())
        #expect(Self.saved(scene).transition == nil && Self.saved(Self.fields).sceneTransition == nil)
    }

    @Test(arguments: ["id", "from", "to", "at"])
    func recordWithoutAValueThatItNeedsIsNoTransition(name: String) {
        for saved in [Self.saved(without: name), Self.saved(without: name, (name, ""))] {
            #expect(saved.transition == nil && saved.sceneTransition == nil)
        }
    }

    @Test func recordThatSaysLessHasDefaults() {
        #expect(Self.saved(without: "since").transition?.since == Self.time(7))
        #expect(Self.saved(without: "reason").transition?.reason == Reason.none)
        #expect(Self.saved(without: "reason", ("reason", "of another version")).transition?.reason == Reason.none)
        #expect(Self.saved(without: "answer").transition?.answerTime == nil)
        #expect(Self.saved(without: "answer", ("answer", "-1")).transition?.answerTime == nil)
    }

    @Test func slotThatIsCutOffIsNoTransitionOrOneThatSaysLess() {
        var slot = SlotWriter()
        SavedTransition.write(Self.transition(), to: &slot)
        let bytes = slot.bytes
        for count in bytes.indices {
            var reader = SlotReader(bytes[..<count])
            guard let transition = SavedTransition(from: &reader).transition else { continue }
            #expect(transition.app == Self.clock && transition.to == .inactive && transition.instant == Self.time(7))
            #expect(reader.isAtEnd)
        }
    }
}
