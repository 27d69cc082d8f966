import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct CoreDriverTests {
    private static let clock = AppID("clock")

    private let store: StateLog
    private let driver: CoreDriver

    init() throws {
        store = try StateLog()
        driver = try CoreDriver(events: Events(), store: store)
        driver.append(.define(Self.clock, Policy()))
        driver.handleInputs { _ in }
    }

    @Test func eachStepIsSavedBeforeItIsPerformed() {
        var events: [String] = []
        var record = store.state[.app, Self.clock]
        driver.append(.request(RequestID(1), .launch(Self.clock, background: false)))
        driver.handleInputs { ready in
            if store.state[.app, Self.clock] != record { events.append("saved") }
            record = store.state[.app, Self.clock]
            for case .app(let step) in ready.announcements { events.append(step.to.rawValue) }
            for _ in ready.replies {
                events.append("reply")
                #expect(
                    store.state.announcements.contains {
                        if case .app(let step) = $0 { step.to == .active } else { false }
                    })
            }
            for case .spawn(let app) in ready.operations {
                events.append("spawn")
                driver.append(.outcome(app, .spawned))
            }
        }
        #expect(events == ["saved", "spawn", "saved", "inactive", "active", "reply"])
    }

    @Test func outcomeIsHandledWhenTheWholeStepIsPerformed() throws {
        let app = try #require(driver.index(of: Self.clock))
        var isPerforming = false
        var replies: [RequestID] = []
        driver.append(.request(RequestID(1), .launch(Self.clock, background: false)))
        driver.append(.request(RequestID(2), .focus(Self.clock)))
        driver.handleInputs { ready in
            #expect(!isPerforming, "the core is entered once at a time")
            isPerforming = true
            replies += ready.replies.map(\.request)
            for case .spawn in ready.operations {
                driver.append(.outcome(app, .spawnFailed(SystemFailure(StartFailure.manifestRemoved))))
            }
            isPerforming = false
        }
        #expect(driver.inbox.isEmpty)
        #expect(replies.sorted { $0.number < $1.number } == [RequestID(1), RequestID(2)])
    }

    @Test func exitThatPrecedesADeadlineIsHandledBeforeIt() throws {
        let start = Instant(microseconds: 0)
        var core = Engine()
        _ = core.handle(.define(Self.clock, Policy()), at: start)
        let app = try #require(core.knownApps[Self.clock]).index
        _ = core.handle(.request(RequestID(1), .launch(Self.clock, background: false)), at: start)
        _ = core.handle(.outcome(app, .spawned), at: start)
        _ = core.handle(.request(RequestID(2), .terminate(Self.clock)), at: start)
        #expect(try #require(core.nextDeadline) < driver.now)
        driver.restore(core)
        driver.handleInputs(overdue: [.outcome(app, .exited(.code(0), othersLeft: false))]) { ready in
            #expect(!ready.operations.contains(.kill(app)))
        }
        #expect(driver.core.knownApps[Self.clock]?.state == .notRunning)
    }
}
