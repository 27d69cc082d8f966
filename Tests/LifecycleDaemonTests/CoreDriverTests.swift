import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct CoreDriverTests {
    private final class Handler: EffectHandler {
        var onEffect: (Effect) -> Void = { _ in }

        var onAnnouncement: () -> Void = {}

        func perform(_ effect: Effect) { onEffect(effect) }

        func announceTransitions() { onAnnouncement() }
    }

    private static let clock = AppID("clock")

    @Test func stateIsSavedBeforeTheEffectsArePerformed() throws {
        let store = MemoryStateStore()
        let driver = try CoreDriver(loop: EventLoop(), store: store)
        let handler = Handler()
        driver.effectHandler = handler
        var events: [String] = []
        store.saved = { if $0.contains(Self.clock) { events.append("saved") } }
        handler.onEffect = { if case .spawn = $0 { events.append("spawn") } }
        driver.handle(.define(Self.clock, Policy()))
        events = []
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        #expect(events == ["saved", "spawn"])
    }

    @Test func transitionsAreSavedBeforeTheReplyAndAnnouncedAfterIt() throws {
        let store = MemoryStateStore()
        let loop = try EventLoop()
        let driver = try CoreDriver(loop: loop, store: store)
        let handler = Handler()
        driver.effectHandler = handler
        var events: [String] = []
        handler.onEffect = { effect in
            if case .spawn(let id) = effect { driver.handle(.outcome(id, .spawned)) }
            guard case .reply = effect else { return }
            events.append("reply")
            #expect(
                store.unannounced.contains { if case .app(let step) = $0 { step.to == .active } else { false } })
        }
        handler.onAnnouncement = { events.append("announcement") }
        driver.handle(.define(Self.clock, Policy()))
        try loop.dispatchReady()
        events = []
        let other = try loop.deferred { events.append("other") }
        other.setPriority(.important)
        other.schedule()
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        #expect(events == ["reply"])
        // A source that became ready before is dispatched after the announcement.
        try loop.dispatchReady()
        #expect(events == ["reply", "announcement", "other"])
    }

    @Test func inputDuringAnEffectWaitsUntilAllEffectsArePerformed() throws {
        let driver = try CoreDriver(loop: EventLoop(), store: MemoryStateStore())
        let handler = Handler()
        driver.effectHandler = handler
        driver.handle(.define(Self.clock, Policy()))
        var isHandling = false
        var replies = 0
        handler.onEffect = { effect in
            #expect(!isHandling, "the core is entered once at a time")
            switch effect {
            case .spawn(let id):
                isHandling = true
                driver.handle(.outcome(id, .spawnFailed(.command("no such file"))))
                #expect(replies == 0)
                isHandling = false
            case .reply(_, .refused(.launchFailed)): replies += 1
            default: break
            }
        }
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        #expect(replies == 1)
    }
}
