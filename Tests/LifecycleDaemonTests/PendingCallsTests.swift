import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct PendingCallsTests {
    private static let app = AppIndex(value: 3)

    private static func key(_ serial: UInt64) -> PendingCalls.Key { PendingCalls.Key(caller: ":1.7", serial: serial) }
    private static func call(of app: AppIndex = app, until end: UInt64) -> PendingCalls.Call {
        PendingCalls.Call(app: app, owner: ":1.3", end: end)
    }

    @Test func callIsPendingUntilItsOwnerAnswers() {
        var calls = PendingCalls()
        let isNew = calls.insert(Self.key(1), Self.call(until: 10))
        #expect(isNew && calls.apps == [Self.app] && calls.callers(of: Self.app) == [":1.7"])
        let answers = [
            calls.remove(Self.key(1), by: ":1.4"), calls.remove(Self.key(2), by: ":1.3"),
            calls.remove(Self.key(1), by: ":1.3"),
        ]
        #expect(answers == [false, false, true])
        #expect(calls.apps.isEmpty && calls.nextEnd == nil)
    }

    @Test func callWithoutAnAnswerEndsWithItsTime() {
        var calls = PendingCalls()
        _ = calls.insert(Self.key(1), Self.call(until: 10))
        _ = calls.insert(Self.key(2), Self.call(until: 20))
        #expect(calls.nextEnd == 10)
        let expired = [calls.removeExpired(at: 9), calls.removeExpired(at: 10)]
        #expect(expired == [false, true])
        #expect(calls.nextEnd == 20)
    }

    @Test func callIsCountedOnceAndCallsAreLimited() {
        var calls = PendingCalls()
        let twice = [calls.insert(Self.key(1), Self.call(until: 10)), calls.insert(Self.key(1), Self.call(until: 20))]
        #expect(twice == [true, false])
        let others = (2...16).map { calls.insert(Self.key($0), Self.call(until: 10)) }
        #expect(others.allSatisfy { $0 })
        let oneMore = calls.insert(Self.key(17), Self.call(until: 10))
        #expect(!oneMore)
    }

    @Test func callsOfOneAppLeaveRoomForThoseOfOthers() {
        var calls = PendingCalls()
        for number in 1...10_000 as ClosedRange<UInt64> { _ = calls.insert(Self.key(number), Self.call(until: 10)) }
        let ofOther = calls.insert(Self.key(10_001), Self.call(of: AppIndex(value: 4), until: 10))
        #expect(ofOther && calls.apps == [Self.app, AppIndex(value: 4)])
        // There is room again for each call that is answered.
        let isAnswered = calls.remove(Self.key(1), by: ":1.3")
        let next = calls.insert(Self.key(10_002), Self.call(until: 10))
        #expect(isAnswered && next)
    }

    @Test func callsOfAllAppsAreLimited() {
        var calls = PendingCalls()
        let isNew = (1...2000).map { number in
            calls.insert(Self.key(number), Self.call(of: AppIndex(value: Int(number)), until: 10))
        }
        #expect(isNew.count { $0 } == 1024)
        let hasExpired = calls.removeExpired(at: 10)
        #expect(hasExpired && calls.apps.isEmpty && calls.nextEnd == nil)
    }
}
