import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct AppMapTests {
    static let first = AppIndex(value: 3)
    static let later = AppIndex(value: 3, generation: 1)

    @Test func valueIsThatOfItsAppAlone() {
        var map = AppMap<String>()
        #expect(map.isEmpty && map[Self.first] == nil)
        map[Self.first] = "clock"
        map[AppIndex(value: 1)] = "mail"
        #expect(map[Self.first] == "clock" && map[AppIndex(value: 1)] == "mail" && map[AppIndex(value: 2)] == nil)
        #expect(
            map.count == 2 && map.values == ["mail", "clock"] && map.keys.last == Self.first
                && map.map(\.value) == map.values)
        #expect(map.removeValue(of: Self.first) == "clock")
        #expect(map.removeValue(of: Self.first) == nil && map.count == 1 && map[nil] == nil)
    }

    @Test func entryOfAForgottenAppIsNotReadForALaterOne() {
        var map = AppMap<String>()
        map[Self.first] = "clock"
        #expect(map[Self.later] == nil && map.removeValue(of: Self.later) == nil)
        map[Self.first] = "clock"
        map[Self.later] = "maps"
        #expect(map[Self.later] == "maps" && map[Self.first] == nil && map.count == 1)
    }

    @Test func staleIndexChangesNothingOfALaterApp() {
        var map = AppMap<String>()
        map[Self.later] = "maps"
        map[Self.first] = "clock"
        #expect(map.removeValue(of: Self.first) == nil)
        #expect(map[Self.later] == "maps" && map.count == 1)
    }

    @Test func setDoesNotTakeALaterAppForAnEarlierOne() {
        var set = AppSet()
        #expect(set.insert(Self.first) && !set.insert(Self.first) && set.contains(Self.first))
        #expect(!set.contains(Self.later) && set.insert(Self.later))
        #expect(!set.contains(Self.first) && !set.remove(Self.first) && set.apps == [Self.later])
        #expect(set.remove(Self.later) && set.isEmpty)
    }

    @Test func generationsBeginAgainAfterTheLast() {
        var map = AppMap<Int>()
        map[AppIndex(value: 0, generation: .max)] = 1
        map[AppIndex(value: 0, generation: 0)] = 2
        #expect(map[AppIndex(value: 0, generation: 0)] == 2 && map.count == 1)
    }

    @Test func entryOfAReferenceTakesAtMost16Bytes() {
        #expect(MemoryLayout<AppMap<AppMapTests.Object>>.size <= 16)
        #expect(AppMap<Object>.entrySize <= 16 && AppMap<Void>.entrySize <= 8)
    }

    final class Object {}
}
