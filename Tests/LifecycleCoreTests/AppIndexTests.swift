import LifecycleTypes
import Simulation
import Testing

@testable import LifecycleCore

@Suite struct AppIndexTests {
    private static let clock = AppID("clock")
    private static let maps = AppID("maps")
    private static let now = Instant(microseconds: 1)

    private func policy(isTransient: Bool = true) -> Policy { Policy(isTransient: isTransient) }

    @Test func indexOfAForgottenAppIsNotThatOfTheNextAppAtItsPosition() throws {
        var core = Engine()
        _ = core.handle(.define(Self.clock, policy(isTransient: false)), at: Self.now)
        let index = try #require(core.index(of: Self.clock))
        let ready = core.handle(.forget(Self.clock), at: Self.now)
        #expect(ready.forgotten == [Ready.Forgotten(app: index, exit: nil, reclaimed: nil)])
        // What the input leads to is still to be performed.
        #expect(core.index(of: Self.clock) == index && core.knownApps[known: index] == nil)
        _ = core.handle(.define(Self.maps, policy(isTransient: false)), at: Self.now)
        let later = try #require(core.index(of: Self.maps))
        #expect(core.index(of: Self.clock) == nil)
        #expect(later.value == index.value && later != index && later.generation == index.generation + 1)
        #expect(core.knownApps[known: index] == nil && core.knownApps[known: later]?.id == Self.maps)
        #expect(core.id(of: later) == Self.maps)
    }

    /// Not even a later app of the same id gets what was said of the app before it.
    @Test(arguments: ["maps", "clock"])
    func whatIsSaidOfAForgottenAppDoesNotReachTheNextAppAtItsPosition(next: String) throws {
        var core = Engine()
        _ = core.handle(.define(Self.clock, policy(isTransient: false)), at: Self.now)
        let former = try #require(core.index(of: Self.clock))
        _ = core.handle(.forget(Self.clock), at: Self.now)
        let id = AppID(next)
        _ = core.handle(.define(id, policy(isTransient: false)), at: Self.now)
        let later = try #require(core.index(of: id))
        #expect(later.value == former.value)
        _ = core.handle(.request(RequestID(1), .launch(id, background: false)), at: Self.now)
        _ = core.handle(.outcome(later, .spawned), at: Self.now)
        _ = core.handle(.message(later, .hello), at: Self.now)
        let before = core.record(of: id)
        let late: [Input] = [
            .outcome(former, .spawned), .outcome(former, .stopped), .outcome(former, .stoppedByOther),
            .outcome(former, .exited(.code(0), othersLeft: false)), .outcome(former, .gone),
            .outcome(former, .spawnFailed(.noSuchProgram)), .message(former, .hello),
            .message(former, .beginTask(1, name: "save")), .message(former, .closed),
        ]
        for input in late { #expect(core.handle(input, at: Self.now) == Ready(), "\(input)") }
        #expect(core.record(of: id) == before)
        #expect(core.handle(.outcome(later, .exited(.code(0), othersLeft: false)), at: Self.now) != Ready())
    }

    @Test func outcomeOfAnIndexThatNoAppHasHadChangesNothing() {
        var core = Engine()
        #expect(core.handle(.outcome(AppIndex(value: 7), .gone), at: Self.now) == Ready())
        #expect(core.handle(.message(AppIndex(value: 7), .hello), at: Self.now) == Ready())
    }

    @Test func numberStandsForOneIndex() {
        for index in [
            AppIndex(value: 0), AppIndex(value: 7, generation: 9), AppIndex(value: 1 << 31, generation: .max),
        ] {
            #expect(AppIndex(number: index.number) == index)
        }
        #expect(MemoryLayout<AppIndex>.size == 8)
    }

    @Test func indexThatNoAppHasHadIsThatOfNone() {
        var core = Engine()
        #expect(core.machine(of: AppIndex(value: 0)) == nil)
        _ = core.handle(.define(Self.clock, policy()), at: Self.now)
        #expect(core.machine(of: AppIndex(value: 0))?.id == Self.clock)
        #expect(core.machine(of: AppIndex(value: 1)) == nil)
    }

    @Test func forgottenAppIsChangedOnce() {
        var core = Engine()
        _ = core.handle(.define(Self.clock, policy(isTransient: false)), at: Self.now)
        _ = core.handle(.forget(Self.clock), at: Self.now)
        #expect(core.takeChangedApps() == [Self.clock])
        _ = core.handle(.define(Self.maps, policy(isTransient: false)), at: Self.now)
        #expect(core.takeChangedApps() == [Self.maps])
    }
}
