import Simulation
import Testing

@testable import LifecycleCore

/// All that is known of an app goes into its record, and comes out as it was.
@Suite struct SavedAppTests {
    static let clock = AppID("clock")
    static let main = SceneID(ordinal: 1)

    static func time(_ microseconds: UInt64) -> Instant { Instant(microseconds: microseconds) }

    /// An app in this phase of which every other value differs from its default.
    static func app(_ phase: Phase) -> AppMachine {
        var app = AppMachine(id: clock, index: AppIndex(value: 0), policy: Policy(), since: time(1))
        (app.phase, app.reason) = (phase, .wake)
        (app.desired, app.desiredReason) = (.end, .terminate)
        app.lastExit = ExitRecord(state: .active, reason: .crash, status: .signal(11), instant: time(2))
        app.lastExit?.restoreFailure = .setAside
        app.reclaimed = ReclaimRecord(cause: .pressure(.veryShort), order: [clock])
        app.restart = .limitReached(times: 7)
        app.scenes = scenes(in: app.state)
        guard app.isRunning else { return app }
        app.launch = LaunchState(
            instant: time(6), reason: .url, url: "lifed:1", event: 2, hasDeclined: true, isComplete: true,
            hasScenes: true)
        app.channel = .reconnecting(mayHaveReceivedNext: true)
        app.outbox.callbacks = [PendingCallback.launch[1], .connection(of: main)]
        app.outbox.events = [QueuedEvent(number: 4, event: .notice(.memoryWarning))]
        if app.state.isAlive { app.outbox.task = task }
        (app.outbox.lastSequence, app.outbox.lastEvent) = (8, 4)
        app.assertions.held = [Assertion(kind: .task, number: 1, name: "a:b", since: time(4))]
        app.assertions.userOverride = app.state == .suspended ? .suspend : .keepRunning
        app.assertions.isWoken = true
        (app.assertions.use, app.assertions.lastUse, app.assertions.expiration) = (.visible, time(15), time(16))
        (app.isStoppedByOther, app.lastInForeground, app.wasInForeground) = (true, time(3), true)
        return app
    }

    static var task: Delivery {
        var task = Delivery(sequence: 6, pending: .task, state: .background, deadline: time(5))
        task.subject = .event(QueuedEvent(number: 3, event: .performTask(kind: "fetch")))
        return task
    }

    static func scenes(in state: AppState) -> Scenes {
        var scene = Scene(id: main, role: "panel", info: "x", origin: .system, since: time(7))
        (scene.reason, scene.desiredReason) = (.scene, .displaced)
        (scene.lastInForeground, scene.wasConnected, scene.isWanted) = (time(8), true, true)
        switch state {
        case .notRunning, .terminating: scene.state = .unattached
        case .suspended: scene.state = .suspended
        case .inactive, .active, .background: scene.state = .background
        }
        var other = Scene(id: SceneID(ordinal: 2), role: "window", info: nil, origin: .app, since: time(9))
        (other.isClosing, other.isEndAwaitedByApp, other.isSetAside) = (true, true, true)
        var scenes = Scenes()
        scenes.all = [scene, other]
        scenes.foreground = [main]
        return scenes
    }

    static func sent(
        _ callback: Callback, of scene: SceneID? = nil, _ sequence: UInt64 = 7, _ subject: Delivery.Subject? = nil,
        next: NextState? = nil
    ) -> SentCallback {
        guard let pending = PendingCallback(callback, scene) else { preconditionFailure("\(callback) has no subject") }
        var delivery = Delivery(sequence: sequence, pending: pending, state: .inactive, deadline: time(10))
        delivery.subject = subject
        return SentCallback(delivery: delivery, sent: time(11), next: next)
    }

    static let termination = Termination(state: .background, reason: .taskTimeout, status: .code(3))

    static let phases: [Phase] = [
        .spawning(to: .inactive, nil), .spawning(to: .background, termination), .stopping,
        .suspended(isConfirmed: true), .suspended(isConfirmed: false), .resuming(isSuspended: true),
        .resuming(isSuspended: false), .terminating(termination), .running(.inactive, sentCallback: nil),
        .running(.active, sentCallback: nil), .running(.background, sentCallback: nil),
        .running(.active, sentCallback: sent(.didBecomeActive)),
        .running(.background, sentCallback: sent(.willEnterForeground, next: .app(.inactive))),
        .running(
            .background,
            sentCallback: sent(.sceneWillConnect, of: main, 7, .scene(.user), next: .scene(.background))),
        .running(
            .inactive, sentCallback: sent(.openURL, 7, .event(QueuedEvent(number: 1, event: .openURL("a:b"))))),
    ]

    @Test(arguments: phases.indices)
    func runningAppIsRestoredAsItWas(index: Int) {
        let app = Self.app(Self.phases[index])
        var restored = AppMachine(
            id: Self.clock, index: AppIndex(value: 0), policy: Policy(), since: Self.time(99))
        restored.restore(from: app.record)
        #expect(restored == app)
    }

    /// A version with fewer values reads those that it knows. A version with more values has defaults for the rest.
    @Test(arguments: phases.indices)
    func recordThatEndsAnywhereIsRestoredAsFarAsItGoes(index: Int) {
        let app = Self.app(Self.phases[index])
        let fields = app.record.fields
        for count in 2...fields.count {
            var restored = AppMachine(
                id: Self.clock, index: AppIndex(value: 0), policy: Policy(), since: Self.time(99))
            restored.restore(from: SavedRecord(fields: Array(fields.prefix(count))))
            #expect(restored.state == app.state, "\(count)")
            if count == fields.count { #expect(restored == app) }
        }
        var restored = AppMachine(
            id: Self.clock, index: AppIndex(value: 0), policy: Policy(), since: Self.time(99))
        restored.restore(from: SavedRecord(fields: fields + [.init(name: "weather", value: "fine")]))
        #expect(restored == app)
    }

    @Test func resignationsBehindAnUnansweredCallbackAreRestored() {
        var app = Self.app(.running(.active, sentCallback: Self.sent(.memoryWarning, 6, next: nil)))
        app.outbox.resignations = [
            Self.sent(.willResignActive, 7, next: .app(.inactive)),
            Self.sent(.sceneWillResignActive, of: Self.main, 8),
        ]
        var restored = AppMachine(
            id: Self.clock, index: AppIndex(value: 0), policy: Policy(), since: Self.time(99))
        restored.restore(from: app.record)
        #expect(restored == app)
        // A resignation follows the callback, and precedes the next number.
        app.outbox.resignations = [Self.sent(.willResignActive, 6), Self.sent(.willResignActive, 9)]
        restored.restore(from: app.record)
        #expect(restored.outbox.resignations.isEmpty)
        // Without a callback that it was sent after, a resignation would be awaited for ever.
        app.phase = .running(.active, sentCallback: nil)
        app.outbox.resignations = [Self.sent(.willResignActive, 7, next: .app(.inactive))]
        restored.restore(from: app.record)
        #expect(restored.outbox.resignations.isEmpty)
    }

    @Test(arguments: AppState.allCases)
    func `record of a starting app is accepted if the app does not run and the next state is legal`(
        state: AppState
    ) throws {
        let fields = Self.app(.running(.background, sentCallback: nil)).record.fields
        for next in AppState.allCases {
            let said = [("state", state.rawValue), ("awaiting", "spawn"), ("next", next.rawValue)]
            let record = SavedRecord(
                fields: said.map { .init(name: $0.0, value: $0.1) } + fields.filter { $0.name != "state" })
            let restored = try #require(Self.restored(record))
            let makesSense = state == .notRunning && [.inactive, .background].contains(next)
            #expect(restored.isSpawning == makesSense)
            #expect(restored.isRunning == (makesSense || state != .notRunning))
            #expect((restored.outbox.task != nil) == restored.state.isAlive)
        }
    }

    @Test func startingAppWithoutAStateDoesNotRunYet() {
        let phase = { (next: String) in Self.restored(("id", "clock"), ("awaiting", "spawn"), ("next", next))?.phase }
        #expect(phase("inactive") == .spawning(to: .inactive, nil))
        #expect(phase("active") == .notRunning)
    }

    @Test func `record of an app that does not run has the facts for its next launch`() {
        let app = Self.app(.notRunning)
        let own = app.record
        let others = Self.app(.stopping).record.fields.filter { own[$0.name] == nil }
        let record = SavedRecord(fields: own.fields + others)
        var restored = AppMachine(
            id: Self.clock, index: AppIndex(value: 0), policy: Policy(), since: Self.time(99))
        restored.restore(from: record)
        #expect(restored.scenes.all.map(\.state) == [.unattached, .unattached])
        #expect(restored == app)
    }

    @Test func `every deadline is restored, and none that makes no sense`() {
        let deadlines = DeadlineKind.allCases.enumerated().map { "\($1.rawValue):\(1_000_000 + $0)" }
        for phase in [Phase.running(.background, sentCallback: nil), .notRunning] {
            var record = Self.app(phase).record
            for text in deadlines + ["answer", "answer:x", "answer:1:2", "nothing:1"] { record.add("deadline", text) }
            let core = Self.core(restoring: record)
            #expect(core.record(of: Self.clock)?.all("deadline") == deadlines)
        }
    }

    @Test func `restored work has a deadline even if the record has none`() {
        let now = Self.time(99)
        let core = Self.core(restoring: Self.app(.running(.background, sentCallback: nil)).record)
        for kind in [DeadlineKind.performTask, .woken, .tasks] {
            #expect(core.deadline(kind, of: Self.clock) == now + .seconds(30))
        }
    }

    @Test func `app without a request has no record`() {
        var world = World(apps: "clock", "maps")
        #expect(world.core.record(of: Self.clock) == nil && world.core.record(of: AppID("mail")) == nil)
        #expect(!world.core.hasRecord(of: Self.clock) && !world.core.hasRecord(of: AppID("mail")))
        world.ask(.launch(Self.clock, background: true))
        #expect(world.core.record(of: Self.clock) != nil && world.core.hasRecord(of: Self.clock))
        world.ask(.terminate(Self.clock))
        #expect(world.core.record(of: Self.clock) != nil)
        world.broken = [AppID("maps")]
        world.ask(.launch(AppID("maps"), background: true))
        #expect(world.core.record(of: AppID("maps")) != nil)
    }

    // MARK: Records that say less, or too much

    static func core(restoring record: SavedRecord) -> Engine {
        Engine(
            restoring: SavedRecord(), apps: [record], settings: Settings(), policy: { _ in Policy() }, at: time(99))
    }

    static func restored(_ record: SavedRecord) -> AppMachine? {
        let apps = core(restoring: record).knownApps
        return apps.keys.first.flatMap { apps[$0] }
    }

    static func restored(_ fields: (String, String)...) -> AppMachine? {
        restored(SavedRecord(fields: fields.map { .init(name: $0.0, value: $0.1) }))
    }

    @Test func `a record that says nothing is that of an app that does not run`() throws {
        #expect(Self.restored() == nil && Self.restored(("id", "")) == nil)
        let app = AppMachine(id: Self.clock, index: AppIndex(value: 0), policy: Policy(), since: Self.time(99))
        #expect(try #require(Self.restored(("id", "clock"))) == app)
        #expect(Self.restored(("id", "clock"), ("state", "active"))?.desired == .run)
        #expect(Self.restored(("id", "clock"), ("state", "terminating"))?.desired == .rest)
        #expect(Self.restored(("id", "clock"), ("failures", "5000"))?.restart.failures == 1000)
    }

    static let last: UInt64 = 0x3FFF_FFFF_FFFF_FFFF
    static let sequences: [(UInt64, UInt64)] = [(last, last), (last + 1, 0), (.max, 0)]

    @Test(arguments: sequences)
    func `there are always numbers left to count on`(saved: UInt64, restored: UInt64) {
        let app = Self.restored(("id", "clock"), ("state", "background"), ("sequence", String(saved)))
        #expect(app?.outbox.lastSequence == restored)
    }

    @Test func `restored operation fits the state`() {
        #expect(Self.restored(("id", "clock"), ("state", "notRunning"), ("awaiting", "stop"))?.phase == .notRunning)
        let terminating = Self.restored(("id", "clock"), ("state", "terminating"), ("awaiting", "stop"))
        #expect(terminating?.phase == .terminating(Termination(state: .terminating, reason: .crash)))
        let answer = [
            ("id", "clock"), ("state", "active"), ("awaiting", "answer"), ("callback", "did-become-active"),
            ("answer-by", "1"), ("told-state", "active"),
        ]
        for (rest, isAwaited) in [([], false), ([("linked", "1")], true)] as [([(String, String)], Bool)] {
            let record = SavedRecord(fields: (answer + rest).map { .init(name: $0.0, value: $0.1) })
            #expect((Self.restored(record)?.sentCallback != nil) == isAwaited)
        }
    }

    @Test func `restored end of tasks ends no app without tasks`() throws {
        // A request keeps it running: its time in the background would end the deadline.
        let fields = [("id", "clock"), ("state", "background"), ("awake", "1")]
        var record = SavedRecord(fields: fields.map { .init(name: $0.0, value: $0.1) })
        record.add("deadline", "task-expiration:1")
        var core = Self.core(restoring: record)
        let ready = core.handle(.tick, at: Self.time(99) + .seconds(1))
        #expect(!ready.operations.contains(.kill(try #require(core.index(of: Self.clock)))))
        #expect(core.knownApps[Self.clock]?.state.isAlive == true)
    }

    static let possible: [(AppState, SceneState, SceneState)] = [
        (.notRunning, .background, .unattached), (.terminating, .foregroundActive, .unattached),
        (.suspended, .foregroundActive, .suspended), (.suspended, .unattached, .unattached),
        (.background, .suspended, .background), (.background, .foregroundInactive, .background),
        (.inactive, .foregroundActive, .foregroundInactive), (.inactive, .background, .background),
        (.active, .suspended, .background), (.active, .foregroundActive, .foregroundActive),
    ]

    @Test(arguments: possible)
    func `restored scene fits the state of its app`(app: AppState, saved: SceneState, restored: SceneState) {
        var scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        scene.state = saved
        var record = SavedRecord()
        record.add("scene", scene.text)
        #expect(Scenes(saved: record.scenes, in: app).all.map(\.state) == [restored])
    }

    @Test func sceneOfARecordFitsTheStateOfItsApp() {
        var scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        scene.state = .foregroundActive
        let app = Self.restored(("id", "clock"), ("state", "background"), ("scenes", "1"), ("scene", scene.text))
        #expect(app?.scenes.all.map(\.state) == [.background])
    }

    @Test func sceneWithoutAValidTimeIsAsOldAsTheClock() {
        for time in ["", "x", "-1"] {
            let parts = ["main", "panel", "app", "background", "launch", time, "2", "0", "~", "~"]
            let scene = Scene(text: parts.joined(separator: ":"))
            #expect(scene?.since == Self.time(0) && scene?.isWanted == true)
        }
    }

    @Test(arguments: [SceneText.infoLimit - 1, SceneText.infoLimit, SceneText.infoLimit + 1])
    func informationOfASavedSceneHasALimit(size: Int) {
        let info = String(repeating: "i", count: size)
        let scene = Scene(id: Self.main, role: "panel", info: info, origin: .app, since: Self.time(1))
        let kept = size > SceneText.infoLimit ? nil : info
        let read = Scene(text: scene.text)
        #expect(read?.info == kept && read?.role == "panel")
    }

    @Test func `a scene that is gone and has not been forgotten keeps no app awake`() {
        var scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        scene.isClosing = true
        let known = [
            ("id", "clock"), ("state", "background"), ("wish", "run"), ("launched", "1"), ("scenes", "1"),
            ("scene", scene.text),
        ]
        var world = World()
        world.core = Engine(
            restoring: SavedRecord(), apps: [SavedRecord(fields: known.map { .init(name: $0.0, value: $0.1) })],
            settings: Settings(), policy: { _ in Policy() }, at: Self.time(1))
        world.give(.resumeRestored)
        #expect(world.state("clock") == .suspended)
        #expect(world.scenes("clock").isEmpty)
    }

    @Test(arguments: [(0, "a b"), (1, "a b"), (2, "nobody"), (3, "nowhere")])
    func `a scene of which a part makes no sense is none`(part: Int, value: String) {
        let scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        var parts = scene.text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        #expect(Scene(text: parts.joined(separator: ":")) == scene)
        parts[part] = value
        #expect(Scene(text: parts.joined(separator: ":")) == nil)
    }

    @Test(arguments: [(SceneText.infoLimit, true), (SceneText.infoLimit + 1, false)])
    func `information of a scene is restored up to its limit`(count: Int, isKept: Bool) {
        let info = String(repeating: "x", count: count)
        let scene = Scene(id: Self.main, role: "panel", info: info, origin: .app, since: Self.time(1))
        #expect(Scene(text: scene.text)?.info == (isKept ? info : nil))
    }

    @Test(arguments: ["", "7", "x", "7:", "7:nothing", "x:memory-warning"])
    func `an event of which nothing is said is none`(text: String) {
        #expect(QueuedEvent(text: text) == nil)
    }

    // MARK: Which records have changed

    @Test func `each change of an app is noted once`() {
        var world = World(apps: "clock", "maps")
        _ = world.core.takeChangedApps()
        #expect(world.core.takeChangedApps() == [])
        world.ask(.launch(Self.clock, background: true))
        #expect(world.core.takeChangedApps() == [Self.clock])
        #expect(world.core.takeChangedApps() == [])
        // Its time is over, and that is all that changes first.
        world.pass(.seconds(5))
        #expect(world.core.takeChangedApps() == [Self.clock])
    }

    /// A deadline is a part of the record, so that an app of which only a deadline changed has changed.
    @Test func appOfWhichOnlyADeadlineChangesIsNoted() throws {
        var world = World(apps: "clock", "maps", linked: true)
        world.silent[Self.clock] = [.didEnterBackground, .performTask]
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        let clock = try #require(world.core.index(of: Self.clock))
        let crash = Input.outcome(clock, .exited(.signal(11), othersLeft: false))
        let inputs: [Input] = [
            .request(RequestID(1), .launch(Self.clock, background: false)),
            .message(clock, .beginTask(1, name: "save")), .request(RequestID(2), .home),
            .message(clock, .endAssertion(1)), .message(clock, .closed),
            .request(RequestID(3), .launch(AppID("maps"), background: false)), crash,
            .request(RequestID(4), .launch(Self.clock, background: false)), crash, crash,
            .define(Self.clock, Policy()),
        ]
        var changedDeadlines = 0
        for input in inputs {
            let before = world.core
            _ = world.core.takeChangedApps()
            world.give(input)
            let changed = world.core.takeChangedApps()
            for id in [Self.clock, AppID("maps")] {
                let (old, new) = (before.record(of: id), world.core.record(of: id))
                #expect(old == new || changed.contains(id), "\(input): \(id)")
                if old?.all("deadline") != new?.all("deadline") { changedDeadlines += 1 }
            }
        }
        #expect(changedDeadlines > 5)
    }
}

extension AppMachine {
    /// The record as text, without deadlines.
    var record: SavedRecord {
        var (writer, copy, deadlines) = (SavedCoder(), self, [SavedDeadline]())
        copy.code(&deadlines, with: &writer)
        return writer.record.named(id)
    }

    /// Applies the values of a record to an app that has none yet.
    mutating func restore(from record: SavedRecord) {
        var (reader, deadlines) = (SavedCoder(reading: record), [SavedDeadline]())
        code(&deadlines, with: &reader)
    }
}

extension SavedRecord {
    /// The scenes of the record, whatever the state of their app.
    var scenes: Scenes {
        var scenes = Scenes()
        scenes.all = all("scene").compactMap { Scene(text: $0) }
        scenes.foreground = all("scene-front").compactMap { SceneID($0) }
        return scenes
    }
}
