import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct PendingCallsTests {
    private static let app = AppID("mail")

    private static func key(_ serial: UInt64) -> PendingCalls.Key { PendingCalls.Key(caller: ":1.7", serial: serial) }
    private static func call(until end: UInt64) -> PendingCalls.Call {
        PendingCalls.Call(app: app, owner: ":1.3", end: end)
    }

    @Test func callIsPendingUntilItsOwnerAnswers() {
        var calls = PendingCalls()
        #expect(calls.insert(Self.key(1), Self.call(until: 10)))
        #expect(calls.apps == [Self.app] && calls.callers(of: Self.app) == [":1.7"])
        #expect(!calls.remove(Self.key(1), by: ":1.4"))
        #expect(!calls.remove(Self.key(2), by: ":1.3"))
        #expect(calls.remove(Self.key(1), by: ":1.3"))
        #expect(calls.apps.isEmpty && calls.nextEnd == nil)
    }

    @Test func callWithoutAnAnswerEndsWithItsTime() {
        var calls = PendingCalls()
        #expect(calls.insert(Self.key(1), Self.call(until: 10)))
        #expect(calls.insert(Self.key(2), Self.call(until: 20)))
        #expect(calls.nextEnd == 10)
        #expect(!calls.removeExpired(at: 9))
        #expect(calls.removeExpired(at: 10))
        #expect(calls.nextEnd == 20)
    }

    @Test func callIsCountedOnceAndCallsAreLimited() {
        var calls = PendingCalls()
        #expect(calls.insert(Self.key(1), Self.call(until: 10)))
        #expect(!calls.insert(Self.key(1), Self.call(until: 20)))
        for serial in 2...UInt64(256) { #expect(calls.insert(Self.key(serial), Self.call(until: 10))) }
        #expect(!calls.insert(Self.key(257), Self.call(until: 10)))
    }
}
