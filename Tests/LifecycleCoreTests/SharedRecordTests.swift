import Simulation
import Testing

@testable import LifecycleCore

/// The record of what concerns several apps differs when one of its values has changed, and not before: an equal record is not
/// written again.
@Suite struct SharedRecordTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    /// The world after this change, whose record differs from that before in this field alone.
    private func expectChange(
        _ world: inout World, _ name: String, _ isChanged: Bool = true, _ change: (inout World) -> Void
    ) {
        let before = world.core.record
        change(&world)
        let after = world.core.record
        let fields: (SavedRecord, String) -> [SavedRecord.Field] = { record, name in
            record.fields.filter { $0.name == name }
        }
        let names = Set((before.fields + after.fields).map(\.name)).filter { fields(before, $0) != fields(after, $0) }
        #expect(names == (isChanged ? [name] : []))
        #expect((after != before) == isChanged, "\(name)")
    }

    @Test func launchInTheBackgroundChangesNothing() {
        var world = World(apps: "clock")
        expectChange(&world, "none", false) { $0.ask(.launch(Self.clock, background: true)) }
    }

    @Test func changeOfTheForegroundAloneIsWritten() {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        expectChange(&world, "front") { $0.ask(.launch(Self.clock, background: false)) }
        expectChange(&world, "place") { $0.give(.spawned, of: Self.clock) }
    }

    @Test func changeOfAnInterruptionABlockerOrAWarningAloneIsWritten() {
        var world = World(apps: "clock")
        expectChange(&world, "interruption") { $0.ask(.beginInterruption("call")) }
        expectChange(&world, "interruption") { $0.ask(.endInterruption("call", answer: nil)) }
        expectChange(&world, "concealed") { $0.ask(.machine(.lock)) }
        expectChange(&world, "concealed") { $0.ask(.machine(.unlock)) }
        world.pass(.seconds(1))
        expectChange(&world, "memory-warned") { $0.give(.memory(.short)) }
    }

    @Test func changeOfARoundAloneIsWritten() {
        var world = ReclaimTests().world()
        world.withholding = [.killed, .looks]
        world.give(.memory(.veryShort))
        expectChange(&world, "reclaim-ending") {
            $0.give(.exited(.signal(9), othersLeft: false), of: AppID("one"))
        }
    }

    @Test func changeOfTheAppsThatComeBackAloneIsWritten() {
        var world = World()
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.clock) }
        #expect(world.core.record["returning"] == "clock" && world.state("clock") == .notRunning)
        world.withholding = [.spawned]
        expectChange(&world, "returning") { $0.ask(.launch(Self.clock, background: true)) }
    }
}
