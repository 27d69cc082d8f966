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

    @Test(arguments: [nil, .zero, .milliseconds(20), .microseconds(Int64.max)] as [Duration?])
    func transitionIsReadAsItWasWritten(answer: Duration?) throws {
        for step in [.app(Self.transition(answer)), .scene(Self.sceneTransition(answer))] as [Announcement] {
            #expect(Announcement(of: Self.clock, try #require(step.record)) == step)
        }
    }

    @Test func decisionIsNotSaved() {
        #expect(Announcement.decision(.stopRenewed(Self.clock), of: nil).record == nil)
    }

    @Test func recordThatSaysLessIsNoTransitionOrOneWithDefaults() throws {
        let fields = try #require(Announcement.app(Self.transition()).record).fields
        for index in fields.indices {
            var rest = fields
            let missing = rest.remove(at: index).name
            let read = Announcement(of: Self.clock, SavedRecord(fields: rest))
            #expect((read == nil) == ["from", "to", "at"].contains(missing), "\(missing)")
        }
    }
}
