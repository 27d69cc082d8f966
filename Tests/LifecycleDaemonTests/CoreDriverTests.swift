import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct CoreDriverTests {
    private final class Handler: EffectHandler {
        var onEffect: (Effect) -> Void = { _ in }

        var onAnnouncement: () -> Void = {}

        func perform(_ effects: [Effect]) { effects.forEach(onEffect) }

        func inputsHandled() { onAnnouncement() }
    }

    private static let clock = AppID("clock")

    /// What has happened, with the changes of the app's record between.
    private final class Story {
        var events: [String] = []
        private let store: StateLog
        private var record: SavedRecord?

        init(_ store: StateLog) {
            self.store = store
            record = store.state[.app, clock]
        }

        func tell(_ event: String? = nil) {
            if store.state[.app, clock] != record { events.append("saved") }
            record = store.state[.app, clock]
            if let event { events.append(event) }
        }
    }

    @Test func stateIsSavedBeforeTheEffectsArePerformed() throws {
        let store = try StateLog()
        let driver = try CoreDriver(loop: EventLoop(), store: store)
        let handler = Handler()
        driver.effectHandler = handler
        driver.handle(.define(Self.clock, Policy()))
        let story = Story(store)
        handler.onEffect = { if case .spawn = $0 { story.tell("spawn") } }
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        #expect(story.events == ["saved", "spawn"])
    }

    @Test func transitionsAreSavedBeforeTheReplyAndAnnouncedAfterIt() throws {
        let store = try StateLog()
        let loop = try EventLoop()
        let driver = try CoreDriver(loop: loop, store: store)
        let handler = Handler()
        driver.effectHandler = handler
        var events: [String] = []
        handler.onEffect = { effect in
            if case .spawn(let app) = effect { driver.handle(.outcome(app, .spawned)) }
            guard case .reply = effect else { return }
            events.append("reply")
            #expect(
                store.state.announcements.contains { if case .app(let step) = $0 { step.to == .active } else { false } }
            )
        }
        handler.onAnnouncement = { events.append("announcement") }
        driver.handle(.define(Self.clock, Policy()))
        try loop.dispatchReady()
        events = []
        let other = try loop.later { events.append("other") }
        other.setPriority(.important)
        other.schedule()
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        #expect(events == ["reply"])
        // A source that became ready before is dispatched after the announcement.
        try loop.dispatchReady()
        #expect(events == ["reply", "announcement", "other"])
    }

    @Test func messageToAppIsSentBeforeTheReplyOfTheSameInput() throws {
        let driver = try CoreDriver(loop: EventLoop(), store: try StateLog())
        let handler = Handler()
        driver.effectHandler = handler
        var events: [String] = []
        handler.onEffect = { [weak driver] effect in
            switch effect {
            case .spawn(let app):
                driver?.handle(.outcome(app, .spawned))
                driver?.handle(.message(app, .hello))
            case .deliver(let app, let delivery):
                events.append(delivery.callback.rawValue)
                driver?.handle(.message(app, .done(sequence: delivery.sequence)))
            case .reply: events.append("reply")
            default: break
            }
        }
        var policy = Policy()
        policy.callbacks = .required
        driver.handle(.define(Self.clock, policy))
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        #expect(
            events == ["will-finish-launching", "did-finish-launching", "did-become-active", "reply"])
    }

    /// A driver with an app that was launched and is suspended.
    private func driverWithSuspendedApp(_ store: StateLog, _ loop: EventLoop, _ handler: Handler) throws
        -> CoreDriver
    {
        let driver = try CoreDriver(loop: loop, store: store)
        driver.effectHandler = handler
        handler.onEffect = { [weak driver] effect in
            switch effect {
            case .spawn(let app): driver?.handle(.outcome(app, .spawned))
            case .stop(let app): driver?.handle(.outcome(app, .stopped))
            default: break
            }
        }
        handler.onAnnouncement = { [weak driver] in driver?.saveUnsaved() }
        driver.handle(.define(Self.clock, Policy()))
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        driver.handle(.request(RequestID(2), .suspend(Self.clock, now: true)))
        try loop.dispatchReady()
        #expect(driver.core.knownApps[Self.clock]?.state == .suspended)
        return driver
    }

    @Test func resumeIsSavedAfterTheReplyAndBeforeTheAnnouncement() throws {
        let (store, loop, handler) = (try StateLog(), try EventLoop(), Handler())
        let driver = try driverWithSuspendedApp(store, loop, handler)
        let story = Story(store)
        handler.onEffect = { [weak driver] effect in
            if case .resume(let app) = effect {
                story.tell("resume")
                driver?.handle(.outcome(app, .resumed))
            }
            if case .reply = effect { story.tell("reply") }
        }
        handler.onAnnouncement = { [weak driver] in
            driver?.saveUnsaved()
            story.tell("announcement")
            #expect(
                store.state.announcements.contains { if case .app(let step) = $0 { step.to == .active } else { false } }
            )
        }
        driver.handle(.request(RequestID(3), .focus(Self.clock)))
        story.tell()
        #expect(story.events == ["saved", "resume", "reply"])
        try loop.dispatchReady()
        story.tell()
        #expect(story.events == ["saved", "resume", "reply", "saved", "announcement"])
    }

    /// The next daemon that is asked at once has not looked at the processes.
    @Test func stopIsSavedBeforeTheReplyThatTellsOfIt() throws {
        let (store, loop, handler) = (try StateLog(), try EventLoop(), Handler())
        let driver = try driverWithSuspendedApp(store, loop, handler)
        driver.handle(.request(RequestID(3), .focus(Self.clock)))
        driver.handle(.resumed, of: Self.clock)
        let story = Story(store)
        handler.onEffect = { [weak driver] effect in
            if case .stop(let app) = effect {
                story.tell("stop")
                driver?.handle(.outcome(app, .stopped))
            }
            if case .reply = effect { story.tell("reply") }
        }
        driver.handle(.request(RequestID(4), .suspend(Self.clock, now: true)))
        story.tell()
        #expect(story.events == ["saved", "stop", "saved", "reply"])
    }

    @Test func stepThatWasNotSavedIsSavedWithTheNextThatHasEffects() throws {
        let (store, loop, handler) = (try StateLog(), try EventLoop(), Handler())
        let driver = try driverWithSuspendedApp(store, loop, handler)
        driver.handle(.request(RequestID(3), .focus(Self.clock)))
        try loop.dispatchReady()
        let story = Story(store)
        handler.onEffect = { effect in
            if case .reply = effect { story.tell("reply") }
            if case .stop = effect { story.tell("stop") }
        }
        driver.handle(.resumed, of: Self.clock)
        story.tell()
        #expect(story.events == ["reply"])
        driver.handle(.request(RequestID(4), .suspend(Self.clock, now: true)))
        story.tell()
        #expect(story.events == ["reply", "saved", "stop"])
        #expect(
            store.state.announcements.contains { if case .app(let step) = $0 { step.to == .active } else { false } })
    }

    @Test func exitIsSavedBeforeTheReply() throws {
        let (store, loop, handler) = (try StateLog(), try EventLoop(), Handler())
        let driver = try driverWithSuspendedApp(store, loop, handler)
        handler.onEffect = { _ in }
        driver.handle(.request(RequestID(3), .terminate(Self.clock)))
        let story = Story(store)
        handler.onEffect = { if case .reply = $0 { story.tell("reply") } }
        driver.handle(.exited(.code(0), othersLeft: false), of: Self.clock)
        story.tell()
        #expect(story.events == ["saved", "reply"])
    }

    @Test func exitThatPrecedesADeadlineIsHandledBeforeIt() throws {
        let driver = try CoreDriver(loop: EventLoop(), store: try StateLog())
        let handler = Handler()
        driver.effectHandler = handler
        var policy = Policy()
        policy.timeouts.termination = .zero
        driver.handle(.define(Self.clock, policy))
        var events: [String] = []
        handler.onEffect = { effect in
            switch effect {
            case .spawn(let app):
                events.append("spawn")
                driver.handle(.outcome(app, .spawned))
            case .kill: events.append("kill")
            default: break
            }
        }
        driver.handle(.request(RequestID(1), .launch(Self.clock, background: false)))
        driver.handle(.request(RequestID(2), .terminate(Self.clock)))
        let app = try #require(driver.index(of: Self.clock))
        driver.handleOverdue([.outcome(app, .exited(.code(0), othersLeft: false))])
        #expect(events == ["spawn"])
        #expect(driver.core.knownApps[Self.clock]?.state == .notRunning)
    }

    @Test func inputDuringAnEffectWaitsUntilAllEffectsArePerformed() throws {
        let driver = try CoreDriver(loop: EventLoop(), store: try StateLog())
        let handler = Handler()
        driver.effectHandler = handler
        driver.handle(.define(Self.clock, Policy()))
        var isHandling = false
        var replies = 0
        handler.onEffect = { effect in
            #expect(!isHandling, "the core is entered once at a time")
            switch effect {
            case .spawn(let app):
                isHandling = true
                driver.handle(.outcome(app, .spawnFailed(SystemFailure(StartFailure.manifestRemoved))))
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

extension CoreDriver {
    fileprivate func handle(_ outcome: Outcome, of id: AppID) {
        if let app = index(of: id) { handle(.outcome(app, outcome)) }
    }
}
