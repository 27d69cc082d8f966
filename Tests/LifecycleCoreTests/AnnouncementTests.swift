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
