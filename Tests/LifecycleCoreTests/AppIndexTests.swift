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
        var core = Lifecycle()
        _ = core.handle(.define(Self.clock, policy(isTransient: false)), at: Self.now)
        let index = try #require(core.index(of: Self.clock))
        let effects = core.handle(.forget(Self.clock), at: Self.now)
        #expect(effects == [.forgotten(Self.clock, exit: nil, reclaimed: nil)])
        // Its effects are still to be performed.
        #expect(core.index(of: Self.clock) == index && core.knownApps[known: index] == nil)
        _ = core.handle(.define(Self.maps, policy(isTransient: false)), at: Self.now)
        let later = try #require(core.index(of: Self.maps))
        #expect(core.index(of: Self.clock) == nil)
        #expect(later.value == index.value && later != index && later.generation == index.generation + 1)
        #expect(core.knownApps[known: index] == nil && core.knownApps[known: later]?.id == Self.maps)
        #expect(core.id(of: later) == Self.maps)
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
        var core = Lifecycle()
        #expect(Lifecycle.app(AppIndex(value: 0), in: &core) == nil)
        _ = core.handle(.define(Self.clock, policy()), at: Self.now)
        #expect(Lifecycle.app(AppIndex(value: 0), in: &core)?.id == Self.clock)
        #expect(Lifecycle.app(AppIndex(value: 1), in: &core) == nil)
    }

    @Test func forgottenAppIsChangedOnce() {
        var core = Lifecycle()
        _ = core.handle(.define(Self.clock, policy(isTransient: false)), at: Self.now)
        _ = core.handle(.forget(Self.clock), at: Self.now)
        #expect(core.takeChangedApps() == [Self.clock])
        _ = core.handle(.define(Self.maps, policy(isTransient: false)), at: Self.now)
        #expect(core.takeChangedApps() == [Self.maps])
    }
}
