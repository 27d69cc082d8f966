import Testing

@testable import LifecycleDaemon

/// How long to wait before all children are asked for.
@Suite struct ReapingPaceTests {
    @Test func allChildrenAreAskedForTheMoreSeldomTheMoreThereAre() {
        #expect(ReapingPace.pause(children: 0) == 0)
        #expect(ReapingPace.pause(children: 10) < 100)
        #expect(ReapingPace.pause(children: 10_000) > 10_000)
        #expect(ReapingPace.pause(children: 1_000_000) <= 100_000)
    }
}
